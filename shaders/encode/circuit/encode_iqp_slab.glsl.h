// SPDX-License-Identifier: Apache-2.0
// The phases of a slab and its transform, in registers. Needs encode_iqp.glsl.h and kSlabBits from the
// shader. A Real or a Phase in shared memory.
#if defined(WEFT_REAL64)
#define Cell uvec2
WEFT_GPU Cell cell_of(Real value) {
    return unpackDouble2x32(value);
}
WEFT_GPU Real real_of_cell(Cell cell) {
    return packDouble2x32(cell);
}
WEFT_GPU Cell cell_of_phase(Phase phase) {
    return uvec2(phase.low, phase.high);
}
WEFT_GPU Phase phase_of_cell(Cell cell) {
    Phase phase;
    phase.low = cell.x;
    phase.high = cell.y;
    return phase;
}
#else
#define Cell uint
WEFT_GPU Cell cell_of(Real value) {
    return floatBitsToUint(value);
}
WEFT_GPU Real real_of_cell(Cell cell) {
    return uintBitsToFloat(cell);
}
WEFT_GPU Cell cell_of_phase(Phase phase) {
    return phase;
}
WEFT_GPU Phase phase_of_cell(Cell cell) {
    return cell;
}
#endif

// Holds the tables of phases first, then values to be redistributed: one part, real or imaginary, at a time,
// so that slabs of twice the size fit. A gap after every 32 values puts strided accesses on different banks.
WEFT_GROUP(Cell, cells, (1u << kSlabBits) + (1u << (kSlabBits - 5u)));
WEFT_GROUP(Phase, linear, kMostRows * 9u);   // qubit i of row r: [r * qubits + i], see prepare()
WEFT_GROUP(Complex, held, kMostRows * 16u);  // phases of the 4 held bits and the bits above the slab alone

Complex v[16];

WEFT_GPU uint gap(uint at) {
    return at + (at >> 5);
}

// The place in the slab of value k of this invocation, if its values differ in bits low .. low + 3.
WEFT_GPU uint place(uint low, uint k) {
    const uint lane = gl_LocalInvocationIndex;
    return (lane & ((1u << low) - 1u)) | (k << low) | ((lane >> low) << (low + 4u));
}

// The same for the stores: neighbouring invocations store neighbouring 16 bytes.
WEFT_GPU uint store_place(uint k) {
    const uint lane = gl_LocalInvocationIndex;
    return kStoreWide ? lane | (k << (kSlabBits - 4u))
                      : (k & 1u) | (lane << 1) | ((k >> 1) << (kSlabBits - 3u));
}

WEFT_GPU Complex unit_of(Phase phase) {
    const SinCos a = sincos_of_phase(phase);
    return complex(a.cosine, a.sine);
}

// Tables of a row for each of the two lowest sets of 4 lane bits: the phases of such a set alone, and the
// phases that it adds to each higher bit of the slab.
struct Tables {
    uint rows, lane_bits, first_bit, groups, per_row;
};

WEFT_GPU Tables tables_of(uint rows, uint bits) {
    Tables t;
    t.rows = rows;
    t.lane_bits = bits - 4u;
    t.first_bit = min(t.lane_bits, 4u);
    t.groups = t.lane_bits > 4u ? 2u : 1u;
    t.per_row = (bits - t.first_bit) * t.groups * 16u;
    return t;
}

WEFT_GPU uint alone_at(uint row, uint group, uint value) {
    return row * 32u + group * 16u + value;
}
WEFT_GPU uint with_at(Tables t, uint row, uint bit, uint group, uint value) {
    return t.rows * 32u + row * t.per_row + ((bit - t.first_bit) * t.groups + group) * 16u + value;
}

// The terms of the bits that are set in `x`, and of pairs of them. Bits above the slab are fixed, so their
// pairs with a bit count as terms of that bit.
WEFT_GPU Phase terms(uint row, uint x) {
    Phase sum = no_phase();
    while (x != 0u) {
        const uint i = findLSB(x);
        x &= x - 1u;
        sum = add_phases(sum, linear[row * qubits() + i]);
        sum = add_phases(sum, coupling(row, i, x));
    }
    return sum;
}

WEFT_GPU void prepare_linear(uint rows, uint bits, uint block) {
    for (uint at = gl_LocalInvocationIndex; at < rows * qubits(); at += gl_WorkGroupSize.x) {
        const uint row = at / qubits(), i = at - row * qubits();
        const uint others = (block << bits) & ~((2u << i) - 1u);
        linear[at] = add_phases(angles[row * features() + i], coupling(row, i, others));
    }
}

WEFT_GPU void prepare_tables(Tables t) {
    for (uint at = gl_LocalInvocationIndex; at < t.rows * 32u; at += gl_WorkGroupSize.x) {
        const uint x = (at & 15u) << (at & 16u) / 4u;
        if (x < 1u << t.lane_bits) cells[at] = cell_of_phase(terms(at / 32u, x));
    }
    for (uint at = gl_LocalInvocationIndex; at < t.rows * t.per_row; at += gl_WorkGroupSize.x) {
        const uint row = at / t.per_row, entry = (at - row * t.per_row) / 16u;
        const uint bit = t.first_bit + entry / t.groups, group = entry % t.groups;
        const uint x = (at & 15u) << (4u * group);
        if (x < 1u << min(bit, t.lane_bits)) cells[t.rows * 32u + at] = cell_of_phase(coupling(row, bit, x));
    }
}

// theta is the sum of the terms of held bits, of lane bits and of bits above the slab, and of the pairs
// between lane and held bits.
WEFT_GPU void prepare(uint rows, uint bits, uint block) {
    const uint lane_bits = bits - 4u;
    const Real scale = two_to_minus(qubits());
    prepare_linear(rows, bits, block);
    barrier();
    prepare_tables(tables_of(rows, bits));
    for (uint at = gl_LocalInvocationIndex; at < rows * 16u; at += gl_WorkGroupSize.x) {
        Phase phase = terms(at / 16u, (at % 16u) << lane_bits);
        for (uint rest = block; rest != 0u; rest &= rest - 1u)
            phase = add_phases(phase, linear[at / 16u * qubits() + bits + findLSB(rest)]);
        const Complex unit = unit_of(phase);
        held[at] = complex(scale * unit.re, scale * unit.im);
    }
    barrier();
}

// The pairs of `bit` with the lane bits below it, 4 bits at a time from the tables.
WEFT_GPU Phase with_lane(Tables t, uint row, uint bit, uint lane_index) {
    Phase sum = phase_of_cell(cells[with_at(t, row, bit, 0u, lane_index & 15u)]);
    if (t.groups > 1u)
        sum = add_phases(sum, phase_of_cell(cells[with_at(t, row, bit, 1u, (lane_index >> 4) & 15u)]));
    if (bit > 8u && (lane_index >> 8) != 0u)
        sum = add_phases(sum, angles[row * features() + pair_position(8u, bit)]);
    return sum;
}

WEFT_GPU Phase lane_phase(Tables t, uint row, uint lane_index) {
    Phase sum = phase_of_cell(cells[alone_at(row, 0u, lane_index & 15u)]);
    if (t.groups > 1u)
        sum = add_phases(sum, phase_of_cell(cells[alone_at(row, 1u, (lane_index >> 4) & 15u)]));
    WEFT_UNROLL for (uint bit = 4u; bit < 8u; ++bit) if (((lane_index >> bit) & 1u) != 0u) sum =
        add_phases(sum, phase_of_cell(cells[with_at(t, row, bit, 0u, lane_index & 15u)]));
    if ((lane_index >> 8) != 0u) {
        sum = add_phases(sum, linear[row * qubits() + 8u]);
        sum = add_phases(sum, with_lane(t, row, 8u, lane_index & 255u));
    }
    return sum;
}

WEFT_GPU void make_phases(uint row, uint rows, uint lane_index, uint lane_bits) {
    const Tables t = tables_of(rows, lane_bits + 4u);
    v[0] = unit_of(lane_phase(t, row, lane_index));
    WEFT_UNROLL for (uint bit = 0u; bit < 4u; ++bit) {
        const Complex unit = unit_of(with_lane(t, row, lane_bits + bit, lane_index));
        WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) if (k < (1u << bit)) v[k + (1u << bit)] =
            multiply(v[k], unit);
    }
    WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) v[k] = multiply(v[k], held[row * 16u + k]);
}

WEFT_GPU void transform(uint bits) {
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

WEFT_GPU void deal(uint from_low, uint to_low, bool to_store) {
    barrier();
    WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) cells[gap(place(from_low, k))] = cell_of(v[k].re);
    barrier();
    WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) v[k].re =
        real_of_cell(cells[gap(to_store ? store_place(k) : place(to_low, k))]);
    barrier();
    WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) cells[gap(place(from_low, k))] = cell_of(v[k].im);
    barrier();
    WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) v[k].im =
        real_of_cell(cells[gap(to_store ? store_place(k) : place(to_low, k))]);
}

// Makes slab `block` of `rows` rows from `row` on, and stores it in units of 16 bytes from `to` on. `rows` is
// more than 1 if a slab holds several whole rows.
WEFT_GPU void make_slab(uint row, uint rows, uint bits, uint block, uint to) {
    const uint lane_bits = bits - 4u, lane = gl_LocalInvocationIndex;
    prepare(rows, bits, block);
    const uint mine = lane >> lane_bits, lane_index = lane & ((1u << lane_bits) - 1u);
    if (mine < rows && bad_fault[min(mine, rows - 1u)] == kEncodeGood) {
        make_phases(mine, rows, lane_index, lane_bits);
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
    const uint stored = (rows << bits) / (kStoreWide ? 1u : 2u);
    WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) {
        const uint at = store_place(k) / (kStoreWide ? 1u : 2u);
        if (at < stored && (kStoreWide || (k & 1u) == 0u)) states[to + at] = packed(v[k], v[(k + 1u) & 15u]);
    }
}
