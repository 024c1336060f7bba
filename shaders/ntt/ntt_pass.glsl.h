// SPDX-License-Identifier: Apache-2.0
// One pass of a transform; see ntt_parameters.h. An invocation holds kOwn elements and transforms up to
// kRadixBits bits at a time in registers; in between, elements are redistributed through shared memory.
//
// The interface has, in addition to that of fields: kPassBits, kTileBits, kMostTileBits (for which there is
// shared memory), kZeroBits, kFlags; the parameters `p` and `count`, the number of tiles; load_in(i),
// store_out(i, z), table_at(i), scale_at(i); and sum_of, difference_of and product_of for elements. The
// shader that is not compact has kFactorRows: rows for whose factors there is shared memory, all if flags may
// have kNttRowFactors.
//
// Values may have another type within a step, Kept: kept_of(x), kept_sum(a, b), kept_difference(a, b),
// kept_product(a, x) with an entry of a table, kept_settled(a) for the Element. Then Elements may be p or
// more, but for entries of tables: pass_product(x, y) takes such an x, and canonical_of(x) reduces it.
// kept_turn(a, level, power) is the product with the power of the root of order 2^(level + 1).
//
// Factors that many elements share may have a form that makes their products faster: kept_quick(a, q) with an
// entry of quick[i]. Then factors of rows have it, too.
#include "shaders/ntt/ntt_index.h"

#if !defined(Kept)
#define Kept Element
#define kept_of(x) (x)
#define kept_sum sum_of
#define kept_difference difference_of
#define kept_product product_of
#define kept_settled(x) (x)
#define canonical_of(x) (x)
#define pass_product product_of
#endif
#if !defined(kept_turn)
#define kept_turn(x, level, power) \
    product_of(x, table_at(p.roots + (uint(power) << (p.root_bits - 1u - uint(level)))))
#endif

WEFT_CONST uint kOwn = 1u << kRadixBits;
#define kInvocations (1u << (kTileBits - kRadixBits))
#define kColumnBits (kTileBits - kPassBits)
#define kSteps ((kPassBits + kRadixBits - 1u) / kRadixBits)
WEFT_CONST uint kMostSteps = 3u;  // of the shader that is not compact; more code takes drivers longer
// Words of the elements of a tile are apart, and there is a gap after every 16 of them, so that neighbouring
// invocations use different banks of shared memory.
WEFT_CONST uint kPlane = (1u << kMostTileBits) + ((1u << kMostTileBits) >> 4);
#if WEFT_FIELD_WORDS == 2
WEFT_GROUP(uvec2, tile_words, kPlane);
#else
WEFT_GROUP(uint, tile_words, WEFT_FIELD_WORDS* kPlane);
#endif

struct Held {
    Kept at[kOwn];
};

// Where an element of the tile is.
struct Place {
    uint row, column;
};

WEFT_GPU bool flag(uint bits) {
    return (kFlags & bits) != 0u;
}

// The element of an invocation, of those that are no neighbours in the step that transforms `bits` bits from
// `low` on.
WEFT_GPU Place place_of(uint other, uint low, uint bits, bool by_columns) {
    const uint index = other * kInvocations + gl_LocalInvocationIndex;
    const uint row_bits = kPassBits - bits;
    Place at;
    if (by_columns) {
        at.column = index & low_mask(kColumnBits);
        at.row = index >> kColumnBits;
    } else {
        at.column = index >> row_bits;
        at.row = index & low_mask(row_bits);
    }
    at.row = with_gap(at.row, low, bits);
    return at;
}

WEFT_GPU uint shared_index(uint row, uint column) {
    const uint at = flag(kNttLoadColumns | kNttStoreColumns) ? (row << kColumnBits) | column
                                                             : (column << kPassBits) | row;
    return at + (at >> 4);
}
#if WEFT_FIELD_WORDS == 2
WEFT_GPU void put_shared(uint at, Element z) {
    tile_words[at] = part_of(z, 0);
}
WEFT_GPU Element get_shared(uint at) {
    return limbs2x32(tile_words[at]);
}
#else
WEFT_GPU void put_shared(uint at, Element z) {
    WEFT_UNROLL for (int w = 0; w < WEFT_FIELD_WORDS; ++w) tile_words[uint(w) * kPlane + at] = z.limb[w];
}
WEFT_GPU Element get_shared(uint at) {
    Element z;
    WEFT_UNROLL for (int w = 0; w < WEFT_FIELD_WORDS; ++w) z.limb[w] = tile_words[uint(w) * kPlane + at];
    return z;
}
#endif

// The position of an element, with the number of its transform above it.
WEFT_GPU uint position_of(uint number, Place at) {
    uint tile = number, position;
    if (flag(kNttTilesReversed)) {
        const uint bits = p.log_size - (p.column_low < p.log_size ? kTileBits : kPassBits);
        const uint below = tile & low_mask(bits);
        tile = (tile - below) | reversed_bits(below, bits);
    }
    if (p.low < p.column_low)
        position = with_gap(with_gap(tile, p.low, kPassBits), p.column_low, kColumnBits);
    else
        position = with_gap(with_gap(tile, p.column_low, kColumnBits), p.low, kPassBits);
    return position | (at.row << p.low) | (at.column << p.column_low);
}
WEFT_GPU uint index_of(uint position) {
    return position & low_mask(p.log_size);
}
WEFT_GPU bool in_batch(uint position) {
    return !flag(kNttBatchLimited) || (position >> p.log_size) < p.batch;
}

WEFT_GPU Element scaled(Element x, uint index) {
    const Element low = scale_at(index & low_mask(p.scale_split));
    return pass_product(pass_product(x, scale_at(p.scale_high + (index >> p.scale_split))), low);
}

// Where the element of a position lies in memory.
WEFT_GPU uint in_address(uint position) {
    const uint index = index_of(position);
    return (flag(kNttLoadReversed) ? reversed_bits(index, p.log_size) : index) * p.in_stride +
           (position >> p.log_size) * p.in_next;
}
WEFT_GPU uint out_index(uint position) {
    const uint index = index_of(position);
    return flag(kNttStoreReversed) ? reversed_bits(index, p.log_size) : index;
}
WEFT_GPU uint out_address(uint position) {
    return out_index(position) * p.out_stride + (position >> p.log_size) * p.out_next;
}

WEFT_GPU Element load_from(uint address, uint position) {
    const uint index = index_of(position);
    Element x = zero_element();
    if ((flag(kNttInLimited) && index >= p.in_elements) || !in_batch(position)) return x;
    x = load_in(address);
    if (flag(kNttScaleFirst)) x = scaled(x, index);
    return x;
}
WEFT_GPU void store_to(uint address, uint position, Element x) {
    if ((flag(kNttOutLimited) && out_index(position) >= p.out_elements) || !in_batch(position)) return;
    store_out(address, x);
}

// The twiddle factor of a row for the upper part of the index below the pass, which all columns of a tile of
// a shader that is not compact have in common.
WEFT_GPU Element row_factor(uint row, uint upper) {
    if (!flag(kNttFactorsTop)) return table_at(p.factors_high + (upper << kPassBits) + row);
    const uint top = p.factors_top + ((upper >> p.split_top) << kPassBits) + row;
    return product_of(table_at(p.factors_high + ((upper & low_mask(p.split_top)) << kPassBits) + row),
                      table_at(top));
}
WEFT_GPU uint upper_index(uint position) {
    return (index_of(position) & low_mask(p.low)) >> p.split;
}

#if defined(WEFT_NTT_COMPACT)
WEFT_GPU Element high_factor(uint first, uint row) {
    return row_factor(row, upper_index(first));
}
#else
// Those of the tile, made once.
#if defined(kept_quick)
WEFT_GROUP(uvec2, row_factors, kFactorRows);
WEFT_GPU void put_row_factor(uint row, Element z) {
    row_factors[row] = quick_of_montgomery(z, modulus(), kN0);
}
#else
#if WEFT_FIELD_WORDS == 2
WEFT_GROUP(uvec2, row_factors, kFactorRows);
WEFT_GPU Element row_factor_at(uint row) {
    return limbs2x32(row_factors[row]);
}
#else
WEFT_GROUP(uint, row_factors, kFactorRows);
WEFT_GPU Element row_factor_at(uint row) {
    return limbs1x32(row_factors[row]);
}
#endif
WEFT_GPU void put_row_factor(uint row, Element z) {
    row_factors[row] = part_of(z, 0);
}
WEFT_GPU Element high_factor(uint first, uint row) {
    if (flag(kNttRowFactors)) return row_factor_at(row);
    return row_factor(row, upper_index(first));
}
#endif
#endif

// The products with the twiddle factor of a row, of an element and of a value within a step.
#if defined(kept_quick)
WEFT_GPU Element high_product(Element x, uint first, uint row) {
    if (flag(kNttRowFactors)) return kept_quick(x, row_factors[row]);
    return product_of(x, row_factor(row, upper_index(first)));
}
WEFT_GPU Element kept_high_product(Kept x, uint first, uint row) {
    return high_product(x, first, row);
}
#else
WEFT_GPU Element high_product(Element x, uint first, uint row) {
    return pass_product(x, high_factor(first, row));
}
WEFT_GPU Element kept_high_product(Kept x, uint first, uint row) {
    return kept_product(x, high_factor(first, row));
}
#endif

// What the pass multiplies the result in row `first_row` + j by. `first` is the position of `first_row`, and
// `position` that of the element.
WEFT_GPU Element finished(Kept x, uint first, uint first_row, uint j, uint position) {
    Element y;
    if (flag(kNttFactors)) {
        const uint rest = index_of(first) & low_mask(p.split);
        y = kept_product(x, table_at(p.factors + (first_row << p.split) + rest + (j << p.split)));
        if (flag(kNttFactorsHigh)) y = high_product(y, first, first_row + j);
    } else if (flag(kNttFactorsHigh)) {
        y = kept_high_product(x, first, first_row + j);
    } else {
        y = kept_settled(x);
    }
    if (flag(kNttScaleLast)) y = scaled(y, reversed_bits(index_of(position), p.log_size));
    if (flag(kNttScaleOne)) y = pass_product(y, scale_at(p.scale_high));
    return flag(kNttFactors | kNttFactorsHigh) ? y : canonical_of(y);
}

// Transforms of 2^bits elements each, natural to bit-reversed. `zeros` of the levels have nothing in their
// upper half.
WEFT_GPU void butterflies(WEFT_INOUT(Held) x, uint bits, uint zeros) {
    WEFT_UNROLL for (int level = kRadixBits - 1; level >= 0; --level) {
        if (uint(level) < bits) {
            const bool upper_zero = uint(level) + zeros >= bits;
            WEFT_UNROLL for (int i = 0; i < (1 << kRadixBits); ++i) {
                if ((i & (1 << level)) == 0) {
                    const int j = i + (1 << level), power = i & ((1 << level) - 1);
                    const Kept a = x.at[i], b = x.at[j];
                    Kept difference = a;
                    if (!upper_zero) {
                        x.at[i] = kept_sum(a, b);
                        difference = kept_difference(a, b);
                    }
                    if (power != 0) difference = kept_turn(difference, level, power);
                    x.at[j] = difference;
                }
            }
        }
    }
}

// Element `l` of the tile in an order in which neighbours are neighbours in memory.
WEFT_GPU Place memory_place(uint l, bool reversed, bool by_columns) {
    Place at;
    if (by_columns) {
        at.column = l & low_mask(kColumnBits);
        at.row = l >> kColumnBits;
    } else {
        at.column = l >> kPassBits;
        at.row = l & low_mask(kPassBits);
        if (reversed) at.row = reversed_bits(at.row, kPassBits);
    }
    return at;
}
WEFT_GPU Place load_place(uint u) {
    return memory_place(u * kInvocations + gl_LocalInvocationIndex, flag(kNttLoadReversed),
                        flag(kNttLoadColumns));
}
WEFT_GPU Place store_place(uint u) {
    return memory_place(u * kInvocations + gl_LocalInvocationIndex, flag(kNttStoreReversed),
                        flag(kNttStoreColumns));
}
WEFT_GPU uint shared_at(Place at) {
    return shared_index(at.row, at.column);
}

// Element u of an invocation in the step that transforms `bits` bits from `low` on.
WEFT_GPU Place step_place(uint u, uint low, uint bits, bool by_columns) {
    Place at = place_of(u >> bits, low, bits, by_columns);
    at.row |= (u & low_mask(bits)) << low;
    return at;
}

// What element u is multiplied by after the step: a power that depends on the rows that remain. 0: nothing.
WEFT_GPU uint twiddle_power(uint u, uint low, uint bits, bool by_columns) {
    const uint rest = place_of(u >> bits, low, bits, by_columns).row & low_mask(low);
    return (rest * reversed_bits(u & low_mask(bits), bits)) << (p.root_bits - low - bits);
}

#if defined(WEFT_NTT_COMPACT)

// Few products in the code, because each takes many instructions: tiles are in shared memory between all
// parts, and an invocation multiplies its own elements in loops.
WEFT_GPU void transform_tile(uint tile) {
    WEFT_ROLL for (uint u = 0u; u < kOwn; ++u) {
        const Place at = load_place(u);
        const uint position = position_of(tile, at);
        put_shared(shared_at(at), load_from(in_address(position), position));
    }
    barrier();
    WEFT_ROLL for (uint step = 0u; step < kSteps; ++step) {
        const uint done = step * uint(kRadixBits), bits = min(uint(kRadixBits), kPassBits - done);
        const uint low = kPassBits - done - bits;
        const bool by_columns = flag(low == 0u ? kNttStoreColumns : kNttLoadColumns);
        Held x;
        WEFT_UNROLL for (int u = 0; u < (1 << kRadixBits); ++u) x.at[u] =
            get_shared(shared_at(step_place(uint(u), low, bits, by_columns)));
        butterflies(x, bits, step == 0u ? kZeroBits : 0u);
        WEFT_UNROLL for (int u = 0; u < (1 << kRadixBits); ++u)
            put_shared(shared_at(step_place(uint(u), low, bits, by_columns)), x.at[u]);
        if (low != 0u) {
            WEFT_ROLL for (uint u = 1u; u < kOwn; ++u) {
                const uint at = shared_at(step_place(u, low, bits, by_columns));
                const uint power = twiddle_power(u, low, bits, by_columns);
                if ((u & low_mask(bits)) != 0u)
                    put_shared(at, product_of(get_shared(at), table_at(p.roots + power)));
            }
        }
        barrier();
    }
    WEFT_ROLL for (uint u = 0u; u < kOwn; ++u) {
        const Place at = store_place(u);
        const uint position = position_of(tile, at);
        const Element x = finished(get_shared(shared_at(at)), position, at.row, 0u, position);
        store_to(out_address(position), position, x);
    }
}

#else

WEFT_GPU void load_staged(uint tile) {
    WEFT_UNROLL for (int u = 0; u < (1 << kRadixBits); ++u) {
        const Place at = load_place(uint(u));
        const uint position = position_of(tile, at);
        put_shared(shared_at(at), load_from(in_address(position), position));
    }
    barrier();
}
WEFT_GPU void store_staged(uint tile) {
    barrier();
    WEFT_UNROLL for (int u = 0; u < (1 << kRadixBits); ++u) {
        const Place at = store_place(uint(u));
        const uint position = position_of(tile, at);
        store_to(out_address(position), position, get_shared(shared_at(at)));
    }
}

// The distance of neighbours of a step in memory where the bits of positions are those of addresses, and
// where they are reversed. Neighbour j is j distances further, or the number with the reversed bits of j.
WEFT_GPU uint distance_of(uint low, uint bits, bool reversed) {
    return 1u << (reversed ? p.log_size - p.low - low - bits : p.low + low);
}
WEFT_GPU uint neighbour(uint j, uint bits, bool reversed) {
    return reversed ? reversed_bits(j, bits) : j;
}
// The place in shared memory of neighbour j of an element at `first` (row and column). Steps that the gaps do
// not disturb are constants.
WEFT_GPU uint shared_neighbour(Place first, uint j, uint low) {
    const uint unit = low + (flag(kNttLoadColumns | kNttStoreColumns) ? kColumnBits : 0u);
    if (unit >= 4u) return shared_at(first) + j * ((1u << unit) + ((1u << unit) >> 4));
    if (unit == 0u && kRadixBits == 4 && kPassBits >= 4u) return shared_at(first) + j;
    return shared_index(first.row | (j << low), first.column);
}

// What element u is after the step, times its power of the root.
WEFT_GPU Element root_product(Kept x, uint u, uint low, uint bits, bool by_columns, uint roots) {
#if defined(kept_quick)
    const uint rest = place_of(u >> bits, low, bits, by_columns).row & low_mask(low);
    return kept_quick(x, quick[roots + ((u & low_mask(bits)) << low) + rest]);
#else
    return kept_product(x, table_at(p.roots + twiddle_power(u, low, bits, by_columns)));
#endif
}

WEFT_GPU void make_row_factors(uint tile) {
    Place origin;
    origin.row = 0u;
    origin.column = 0u;
    const uint upper = upper_index(position_of(tile, origin));
    WEFT_ROLL for (uint row = gl_LocalInvocationIndex; row < 1u << kPassBits; row += kInvocations)
        put_row_factor(row, row_factor(row, upper));
}

// All in registers, and only what has to be in shared memory.
WEFT_GPU void transform_tile(uint tile) {
    Held x;
    uint roots = p.quick_roots;  // the table of the step
    if (flag(kNttLoadStaged)) load_staged(tile);
    WEFT_UNROLL for (uint step = 0u; step < kMostSteps; ++step) {
        if (step < kSteps) {
            const uint done = step * uint(kRadixBits), bits = min(uint(kRadixBits), kPassBits - done);
            const uint low = kPassBits - done - bits;
            const bool by_columns = flag(low == 0u && kSteps > 1u ? kNttStoreColumns : kNttLoadColumns);
            WEFT_UNROLL for (int u = 0; u < (1 << kRadixBits); ++u) {
                const uint j = uint(u) & low_mask(bits);
                const Place first = place_of(uint(u) >> bits, low, bits, by_columns);
                if (step == 0u && !flag(kNttLoadStaged)) {
                    const uint position = position_of(tile, first);
                    const uint distance = p.in_stride * distance_of(low, bits, flag(kNttLoadReversed));
                    x.at[u] = kept_of(load_from(
                        in_address(position) + neighbour(j, bits, flag(kNttLoadReversed)) * distance,
                        position + (j << (p.low + low))));
                } else {
                    x.at[u] = kept_of(get_shared(shared_neighbour(first, j, low)));
                }
            }
            if (step == 0u && flag(kNttRowFactors)) make_row_factors(tile);
            butterflies(x, bits, step == 0u ? kZeroBits : 0u);
            // What an invocation puts here replaces what it got.
            WEFT_UNROLL for (int u = 0; u < (1 << kRadixBits); ++u) {
                const uint j = uint(u) & low_mask(bits);
                const Place first = place_of(uint(u) >> bits, low, bits, by_columns);
                const uint first_position = position_of(tile, first),
                           position = first_position + (j << p.low);
                Element y;
                if (low == 0u)
                    y = finished(x.at[u], first_position, first.row, j, position);
                else if (j == 0u)
                    y = kept_settled(x.at[u]);
                else
                    y = root_product(x.at[u], uint(u), low, bits, by_columns, roots);
                if (low == 0u && !flag(kNttStoreStaged)) {
                    const uint distance = p.out_stride * distance_of(low, bits, flag(kNttStoreReversed));
                    store_to(
                        out_address(first_position) + neighbour(j, bits, flag(kNttStoreReversed)) * distance,
                        position, y);
                } else {
                    put_shared(shared_neighbour(first, j, low), y);
                }
            }
            if (low != 0u) barrier();
            roots += 1u << (low + bits);
        }
    }
    if (flag(kNttStoreStaged)) store_staged(tile);
}

#endif

WEFT_MAIN() {
    for (uint tile = gl_WorkGroupID.x; tile < count; tile += gl_NumWorkGroups.x) {
        transform_tile(tile);
        barrier();  // shared memory was read
    }
}
