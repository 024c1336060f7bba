// SPDX-License-Identifier: Apache-2.0
// iqp from 7 qubits on: phases, then a Walsh-Hadamard transform over the lowest kSlabBits bits of the index. Each
// invocation holds 16 amplitudes and transforms 4 bits at a time; in between they are dealt out anew through shared
// memory. What lies above kSlabBits is encode_wht.comp's.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared/encode_form.h"

layout(local_size_x_id = 0) in;                  // 2^(kSlabBits - 4)
layout(constant_id = 2) const uint kSlabBits = 10;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    EncodeParameters p;
};
layout(set = 0, binding = 0) readonly buffer Values { Raw values[]; };
layout(set = 0, binding = 1) writeonly buffer States { uvec4 states[]; };
layout(set = 0, binding = 2) writeonly buffer Status { uvec2 status[]; };

const uint kMostAngles = 465, kMostRows = 8, kMostLaneBits = 9;
#include "shared/encode_iqp.h"

// Dealing: one part, real or imaginary, at a time, so that twice as large slabs fit; a gap after every 32 values keeps
// strided accesses on different banks.
shared Real dealt[(1u << kSlabBits) + (1u << (kSlabBits - 5u))];
shared Phase block_couplings[kMostRows * kMostLaneBits];  // of a lane bit with the bits above the slab
shared Complex held[kMostRows * 16u];  // phases of the 4 held bits, and of those above the slab, alone

uint gap(uint at) { return at + (at >> 5); }

// Where value k of this invocation lies in the slab when its values differ in bits low .. low + 3.
uint place(uint low, uint k) {
    const uint lane = gl_LocalInvocationIndex;
    return (lane & ((1u << low) - 1u)) | (k << low) | ((lane >> low) << (low + 4u));
}

// The same when they are to be stored: neighbours of 16 bytes by neighbouring invocations.
uint store_place(uint k) {
    const uint lane = gl_LocalInvocationIndex;
    return kStoreWide ? lane | (k << (kSlabBits - 4u)) : (k & 1u) | (lane << 1) | ((k >> 1) << (kSlabBits - 3u));
}

Complex unit_of(Phase phase) {
    const SinCos a = sincos_of_phase(phase);
    return complex(a.cosine, a.sine);
}

// theta of held bits k, lane bits and bits above the slab is the sum of theta of each of the three, of the couplings
// between lane bits and bits above, which are all one invocation needs once, and of those between lane and held bits.
void prepare(uint rows, uint bits, uint block) {
    const uint lane_bits = bits - 4u;
    const Real scale = two_to_minus(p.qubits);
    for (uint at = gl_LocalInvocationIndex; at < rows * 16u; at += gl_WorkGroupSize.x) {
        const Complex unit = unit_of(theta(at / 16u, ((at % 16u) << lane_bits) | (block << bits)));
        held[at] = complex(scale * unit.re, scale * unit.im);
    }
    for (uint at = gl_LocalInvocationIndex; at < rows * lane_bits; at += gl_WorkGroupSize.x)
        block_couplings[at] = coupling(at / lane_bits, at % lane_bits, block << bits);
    barrier();
}

Complex v[16];

void make_phases(uint row, uint lane_index, uint lane_bits) {
    Phase mine = theta(row, lane_index);
    for (uint rest = lane_index; rest != 0u; rest &= rest - 1u)
        mine = add_phases(mine, block_couplings[row * lane_bits + findLSB(rest)]);
    v[0] = unit_of(mine);
    WEFT_UNROLL for (uint bit = 0u; bit < 4u; ++bit) {
        const Complex unit = unit_of(coupling(row, lane_bits + bit, lane_index));
        WEFT_UNROLL for (uint k = 0u; k < 16u; ++k)
            if (k < (1u << bit)) v[k + (1u << bit)] = multiply(v[k], unit);
    }
    WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) v[k] = multiply(v[k], held[row * 16u + k]);
}

void transform(uint bits) {
    WEFT_UNROLL for (uint bit = 0u; bit < 4u; ++bit) {
        if (bit < bits) {
            WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) {
                const uint other = k | (1u << bit);
                if (other != k) {
                    const Complex a = v[k], b = v[other];
                    v[k] = complex(a.re + b.re, a.im + b.im);
                    v[other] = complex(a.re - b.re, a.im - b.im);
                }
            }
        }
    }
}

void deal(uint from_low, uint to_low, bool to_store) {
    barrier();
    WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) dealt[gap(place(from_low, k))] = v[k].re;
    barrier();
    WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) v[k].re = dealt[gap(to_store ? store_place(k) : place(to_low, k))];
    barrier();
    WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) dealt[gap(place(from_low, k))] = v[k].im;
    barrier();
    WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) v[k].im = dealt[gap(to_store ? store_place(k) : place(to_low, k))];
}

void main() {
    const uint bits = min(p.qubits, kSlabBits), lane_bits = bits - 4u, block_bits = p.qubits - bits;
    const uint per_group = 1u << (kSlabBits - bits), lane = gl_LocalInvocationIndex;
    for (uint group = gl_WorkGroupID.x; group * per_group < count; group += gl_NumWorkGroups.x) {
        const uint from = group * per_group, rows = min(per_group, count - from), element = p.base + first + from;
        const uint row = element >> block_bits, block = element & ((1u << block_bits) - 1u);
        load_angles(row, rows);
        write_status(row, from, rows, block);
        if ((p.flags & kEncodeCheckOnly) != 0u) {
            barrier();
            continue;
        }
        prepare(rows, bits, block);
        const uint mine = lane >> lane_bits, lane_index = lane & ((1u << lane_bits) - 1u);
        const bool good = mine < rows && bad_fault[min(mine, rows - 1u)] == kEncodeGood;
        if (good) {
            make_phases(mine, lane_index, lane_bits);
        } else {
            WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) v[k] = complex(kZero, kZero);
        }
        transform(4u);
        uint low = lane_bits;
        while (low > 0u) {
            const uint next = low > 4u ? low - 4u : 0u, fresh = low - next;
            deal(low, next, false);
            transform(fresh);
            low = next;
        }
        deal(0u, 0u, true);
        const uint stored = (rows << bits) / (kStoreWide ? 1u : 2u), to = (from << bits) / (kStoreWide ? 1u : 2u);
        WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) {
            const uint at = store_place(k) / (kStoreWide ? 1u : 2u);
            if (at < stored && (kStoreWide || (k & 1u) == 0u)) states[to + at] = packed(v[k], v[(k + 1u) & 15u]);
        }
        barrier();
    }
}
