// SPDX-License-Identifier: Apache-2.0
// One pass of building circuit states. Amplitudes come from a product state or from memory, and pass the ring
// of CNOTs where a layer begins. Then the gates of some wires are applied; RX, RZ and RY of a wire form one 2
// x 2 matrix. A block has 2^window amplitudes, which differ in the lowest `carried` bits of the index, so
// that neighbouring invocations load neighbouring amplitudes, and in the bits from `from` on. An invocation
// holds 16 of them and applies 4 gates to them; then the amplitudes of a block are redistributed through
// shared memory. Small states share a workgroup. The last pass may pack the states (WEFT_PACKED), see
// kernel_packed.glsl.h. Needs the push constants and buffers of kernel_states.comp from the shader. No
// include guard: read once for each kernel.

WEFT_CONST uint kHeld = 16, kHeldBits = 4, kMostGates = 128, kMostFactors = 128;

struct Gate {
    Real2 m00, m01, m10, m11;
};

WEFT_GROUP(Real, dealt, kLanes*(kHeld + 1u));
WEFT_GROUP(Gate, gates, kMostGates);            // bit b of block i: [i * window + b]
WEFT_GROUP(Real2, factors, 2u * kMostFactors);  // value v of wire q of block i: [2 * (i * qubits + q) + v]

Real re[kHeld];
Real im[kHeld];

WEFT_GPU Real2 times(Real2 a, Real2 b) {
    WEFT_PRECISE const Real x = a.x * b.x - a.y * b.y;
    WEFT_PRECISE const Real y = a.x * b.y + a.y * b.x;
    return Real2(x, y);
}

// The order of blocks. Normally the blocks of a sample follow each other. If rows of packed planes are side
// by side, the same block of all samples comes first.
struct BlockPlace {
    uint row, rest;
};

WEFT_GPU BlockPlace place_of(uint block) {
    BlockPlace at;
#if defined(WEFT_PACKED) && !defined(WEFT_MATRIX)
    at.rest = block / p.padded;
    at.row = block - at.rest * p.padded;
#else
    const uint rest_bits = max(p.qubits, kHeldBits) - p.window;
    at.rest = block & ((1u << rest_bits) - 1u);
    at.row = block >> rest_bits;
#endif
    return at;
}

// Rows that only fill up packed blocks use the gates of the last sample.
WEFT_GPU uint sample_of(uint block) {
    return min(place_of(block).row, p.rows - 1u);
}

// RX(weight) RZ(t) RY(t) of a wire, without RZ if the map has none, and without RX if there is no layer.
WEFT_GPU Gate gate_of(uint row, uint wire, uint layer) {
    const uint at = 2u * wire * p.stride + p.column_base + row;
    const Real c = planes[at], s = planes[at + p.stride];
    const Real2 turn = p.rz != 0u ? Real2(c, s) : Real2(kOne, kZero);  // its phase is half of the angle
    const Real2 back = Real2(turn.x, -turn.y);
    const Gate e = Gate(c * back, -s * back, s * turn, c * turn);
    if (layer == kKernelNoLayer) return e;
    const Real2 w = weights[layer * p.qubits + wire];
    const Real2 off = Real2(kZero, -w.y);
    return Gate(w.x * e.m00 + times(off, e.m10), w.x * e.m01 + times(off, e.m11),
                times(off, e.m00) + w.x * e.m10, times(off, e.m01) + w.x * e.m11);
}

// The bit of the index that corresponds to bit `bit` of a block.
WEFT_GPU uint index_bit(uint bit) {
    return bit < p.carried ? bit : bit - p.carried + p.from;
}

WEFT_GPU bool has_gate(uint bit) {
    return bit >= p.carried && index_bit(bit) >= p.gates_from && index_bit(bit) < p.qubits;
}

WEFT_GPU uint index_of(uint rest, uint inside) {
    const uint between = p.from - p.carried, upper = p.from + p.window - p.carried;
    uint index = (inside & ((1u << p.carried) - 1u)) | ((inside >> p.carried) << p.from);
    index |= (rest & ((1u << between) - 1u)) << p.carried;
    return index | ((rest >> between) << upper);
}

WEFT_GPU void make_tables(uint first_block, uint blocks) {
    for (uint i = gl_LocalInvocationIndex; i < blocks * p.window; i += kLanes) {
        const uint bit = i % p.window;
        if (has_gate(bit))
            gates[i] =
                gate_of(sample_of(first_block + i / p.window), p.qubits - 1u - index_bit(bit), p.layer);
    }
    if (!kGenerate) return;
    for (uint i = gl_LocalInvocationIndex; i < blocks * p.qubits; i += kLanes) {
        const Gate g = gate_of(sample_of(first_block + i / p.qubits), i % p.qubits, 0u);
        factors[2u * i] = g.m00;
        factors[2u * i + 1u] = g.m10;
    }
}

WEFT_GPU Real2 generated(uint block, uint index) {
    Real2 product = Real2(kOne, kZero);
    for (uint q = 0; q < p.qubits; ++q)
        product =
            times(product, factors[2u * (block * p.qubits + q) + ((index >> (p.qubits - 1u - q)) & 1u)]);
    return product;
}

WEFT_GPU Real2 factor_at(uint block, uint bit, uint value) {
    return factors[2u * (block * p.qubits + p.qubits - 1u - bit) + (value & 1u)];
}

// The same for the 16 amplitudes from `first` on, a multiple of 16, after the ring. Their indices before the
// ring differ in the lowest four bits and, depending on the lowest bit, in the two highest ones. The factors
// of all other wires are multiplied once.
WEFT_GPU void generate_held(uint block, uint first) {
    const uint from = before_ring(first, p.qubits), highest = p.qubits - 1u;
    Real2 others = Real2(kOne, kZero);
    for (uint bit = 4u; bit < highest - 1u; ++bit) others = times(others, factor_at(block, bit, from >> bit));
    Real2 low[4], high[4], top[2];
    WEFT_UNROLL for (uint v = 0u; v < 4u; ++v) {
        low[v] = times(factor_at(block, 0u, v), factor_at(block, 1u, v >> 1));
        high[v] = times(factor_at(block, 2u, v), factor_at(block, 3u, (v >> 1) ^ (from >> 3)));
    }
    WEFT_UNROLL for (uint v = 0u; v < 2u; ++v) top[v] =
        times(times(others, factor_at(block, highest - 1u, (from >> (highest - 1u)) ^ v)),
              factor_at(block, highest, (from >> highest) ^ v));
    WEFT_UNROLL for (uint j = 0; j < kHeld; ++j) {
        const uint before = j ^ (j >> 1);
        const Real2 value = times(times(low[before & 3u], high[before >> 2]), top[j & 1u]);
        re[j] = value.x;
        im[j] = value.y;
    }
}

// The place of amplitude j of invocation `lane`. The 16 places of an invocation differ in bits [shift, shift
// + 4).
WEFT_GPU uint place(uint lane, uint shift, uint j) {
    return (lane & ((1u << shift) - 1u)) | (j << shift) | ((lane >> shift) << (shift + kHeldBits));
}

WEFT_GPU void load(uint block_in_workgroup, uint base, uint rest, uint lane, uint shift, bool there) {
    if (kGenerate && there && p.qubits > 5u) {
        generate_held(block_in_workgroup, index_of(rest, place(lane, 0u, 0u)));
        return;
    }
    WEFT_UNROLL for (uint j = 0; j < kHeld; ++j) {
        const uint target = index_of(rest, place(lane, shift, j));
        Real2 value = Real2(kZero, kZero);
        if (there && target < (1u << p.qubits)) {
            const uint from = kRing ? before_ring(target, p.qubits) : target;
            value = kGenerate ? generated(block_in_workgroup, from) : source[base + from];
        }
        re[j] = value.x;
        im[j] = value.y;
    }
}

WEFT_GPU void apply(Gate g, uint bit) {
    WEFT_UNROLL for (uint j = 0; j < kHeld; ++j) {
        if ((j & bit) != 0u) continue;
        const uint k = j | bit;
        const Real ar = re[j], ai = im[j], br = re[k], bi = im[k];
        re[j] = g.m00.x * ar - g.m00.y * ai + (g.m01.x * br - g.m01.y * bi);
        im[j] = g.m00.x * ai + g.m00.y * ar + (g.m01.x * bi + g.m01.y * br);
        re[k] = g.m10.x * ar - g.m10.y * ai + (g.m11.x * br - g.m11.y * bi);
        im[k] = g.m10.x * ai + g.m10.y * ar + (g.m11.x * bi + g.m11.y * br);
    }
}

WEFT_GPU void apply_round(uint block_in_workgroup, uint first_bit, uint shift) {
    WEFT_UNROLL for (uint b = 0; b < kHeldBits; ++b) {
        const uint bit = shift + b;
        if (bit >= first_bit && has_gate(bit)) apply(gates[block_in_workgroup * p.window + bit], 1u << b);
    }
}

WEFT_GPU uint slot(uint block_in_workgroup, uint inside) {
    const uint at = (block_in_workgroup << p.window) + inside;
    return at + at / kHeld;  // a gap after every 16, so that no two lanes use the same bank
}

WEFT_GPU void deal(uint block_in_workgroup, uint lane, uint from, uint to) {
    barrier();
    WEFT_UNROLL for (uint j = 0; j < kHeld; ++j) dealt[slot(block_in_workgroup, place(lane, from, j))] =
        re[j];
    barrier();
    WEFT_UNROLL for (uint j = 0; j < kHeld; ++j) re[j] = dealt[slot(block_in_workgroup, place(lane, to, j))];
    barrier();
    WEFT_UNROLL for (uint j = 0; j < kHeld; ++j) dealt[slot(block_in_workgroup, place(lane, from, j))] =
        im[j];
    barrier();
    WEFT_UNROLL for (uint j = 0; j < kHeld; ++j) im[j] = dealt[slot(block_in_workgroup, place(lane, to, j))];
}

#if defined(WEFT_PACKED)
#include "kernel_packed.glsl.h"
#else
WEFT_GPU void store_states(uint base, uint rest, uint lane, uint shift, bool there) {
    barrier();  // states are written in place, so all loads must be done
    WEFT_UNROLL for (uint j = 0; j < kHeld; ++j) {
        const uint index = index_of(rest, place(lane, shift, j));
        if (there && index < (1u << p.qubits)) states[base + index] = Real2(re[j], im[j]);
    }
}
#endif

WEFT_MAIN() {
    const uint lane_bits = p.window - kHeldBits, blocks = kLanes >> lane_bits;
    const uint block_in_workgroup = gl_LocalInvocationIndex >> lane_bits;
    const uint lane = gl_LocalInvocationIndex & ((1u << lane_bits) - 1u);
    for (uint workgroup = gl_WorkGroupID.x; workgroup * blocks < count; workgroup += gl_NumWorkGroups.x) {
        const uint block = workgroup * blocks + block_in_workgroup;
        const BlockPlace at = place_of(block);
        const uint rest = at.rest, base = at.row << p.qubits;
        const bool there = block < count && at.row < p.rows;
        barrier();
        make_tables(workgroup * blocks, blocks);
        barrier();
        uint shift = p.carried;
        load(block_in_workgroup, base, rest, lane, shift, there);
        for (uint bit = p.carried;;) {
            apply_round(block_in_workgroup, bit, shift);
            bit += kHeldBits;
            if (bit >= p.window) break;
            const uint next = min(bit, p.window - kHeldBits);
            deal(block_in_workgroup, lane, shift, next);
            shift = next;
        }
#if defined(WEFT_PACKED)
        if (kSquares) add_squares(at, lane, 1u << lane_bits, there);
        store_packed(workgroup * blocks, block_in_workgroup, lane, shift);
#else
        store_states(base, rest, lane, shift, there);
#endif
    }
}
