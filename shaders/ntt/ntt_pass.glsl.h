// SPDX-License-Identifier: Apache-2.0
// One pass of a transform; see ntt_parameters.h. An invocation holds kOwn elements and transforms up to
// kRadixBits bits at a time in registers; in between, elements are redistributed through shared memory.
//
// The interface has, in addition to that of fields: kPassBits, kTileBits, kZeroBits, kFlags; the parameters
// `p` and `count`, the number of tiles; load_in(i), store_out(i, z), table_at(i), scale_at(i); and sum_of,
// difference_of and product_of for elements.
#include "shaders/ntt/ntt_index.h"

WEFT_CONST uint kOwn = 1u << kRadixBits;
WEFT_CONST uint kColumnBits = kTileBits - kPassBits;
WEFT_CONST uint kSteps = (kPassBits + kRadixBits - 1u) / kRadixBits;
// Words of the elements of a tile are apart, and there is a gap after every 16 of them, so that neighbouring
// invocations use different banks of shared memory.
WEFT_CONST uint kPlane = (1u << kTileBits) + ((1u << kTileBits) >> 4);
WEFT_GROUP(uint, tile_words, WEFT_FIELD_WORDS* kPlane);

struct Held {
    Element at[kOwn];
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
    const uint index = other * (1u << (kTileBits - kRadixBits)) + gl_LocalInvocationIndex;
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
WEFT_GPU void put_shared(uint at, Element z) {
    WEFT_UNROLL for (int w = 0; w < WEFT_FIELD_WORDS; ++w) tile_words[uint(w) * kPlane + at] = z.limb[w];
}
WEFT_GPU Element get_shared(uint at) {
    Element z;
    WEFT_UNROLL for (int w = 0; w < WEFT_FIELD_WORDS; ++w) z.limb[w] = tile_words[uint(w) * kPlane + at];
    return z;
}

// The position of an element, with the number of its transform above it.
WEFT_GPU uint position_of(uint tile, Place at) {
    uint position;
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
    return product_of(product_of(x, scale_at(p.scale_high + (index >> p.scale_split))), low);
}

WEFT_GPU Element load_at(uint position) {
    const uint index = index_of(position);
    Element x = zero_element();
    if ((flag(kNttInLimited) && index >= p.in_elements) || !in_batch(position)) return x;
    const uint at = flag(kNttLoadReversed) ? reversed_bits(index, p.log_size) : index;
    x = load_in(at * p.in_stride + (position >> p.log_size) * p.in_next);
    if (flag(kNttScaleFirst)) x = scaled(x, index);
    return x;
}

WEFT_GPU void store_at(uint position, Element x) {
    const uint index = index_of(position);
    const uint at = flag(kNttStoreReversed) ? reversed_bits(index, p.log_size) : index;
    if ((flag(kNttOutLimited) && at >= p.out_elements) || !in_batch(position)) return;
    store_out(at * p.out_stride + (position >> p.log_size) * p.out_next, x);
}

// What the pass multiplies a result by.
WEFT_GPU Element finished(Element x, uint position, uint row) {
    const uint index = index_of(position);
    if (flag(kNttFactors)) {
        const uint rest = index & low_mask(p.low);
        x = product_of(x, table_at(p.factors + (row << p.split) + (rest & low_mask(p.split))));
        if (flag(kNttFactorsHigh))
            x = product_of(x, table_at(p.factors_high + (row << (p.low - p.split)) + (rest >> p.split)));
    }
    if (flag(kNttScaleLast)) x = scaled(x, reversed_bits(index, p.log_size));
    if (flag(kNttScaleOne)) x = product_of(x, scale_at(p.scale_high));
    return x;
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
                    const Element a = x.at[i], b = x.at[j];
                    Element difference = a;
                    if (!upper_zero) {
                        x.at[i] = sum_of(a, b);
                        difference = difference_of(a, b);
                    }
                    if (power != 0)
                        difference =
                            product_of(difference,
                                       table_at(p.roots + (uint(power) << (p.root_bits - 1u - uint(level)))));
                    x.at[j] = difference;
                }
            }
        }
    }
}

// After the bits above `low` were transformed down to it: factors of the rows that remain.
WEFT_GPU void twiddle(WEFT_INOUT(Held) x, uint low, uint bits, bool by_columns) {
    WEFT_UNROLL for (int u = 0; u < (1 << kRadixBits); ++u) {
        const uint j = uint(u) & low_mask(bits);
        if (j != 0u) {
            const uint rest = place_of(uint(u) >> bits, low, bits, by_columns).row & low_mask(low);
            const uint power = (rest * reversed_bits(j, bits)) << (p.root_bits - low - bits);
            x.at[u] = product_of(x.at[u], table_at(p.roots + power));
        }
    }
}

// Element `l` of the tile in the order of memory, of rows that are contiguous there.
WEFT_GPU Place staged_place(uint l, bool reversed) {
    Place at;
    at.column = l >> kPassBits;
    at.row = l & low_mask(kPassBits);
    if (reversed) at.row = reversed_bits(at.row, kPassBits);
    return at;
}

WEFT_GPU void load_staged(uint tile) {
    WEFT_UNROLL for (int u = 0; u < (1 << kRadixBits); ++u) {
        const uint l = uint(u) * (1u << (kTileBits - kRadixBits)) + gl_LocalInvocationIndex;
        const Place at = staged_place(l, flag(kNttLoadReversed));
        put_shared(shared_index(at.row, at.column), load_at(position_of(tile, at)));
    }
    barrier();
}
WEFT_GPU void store_staged(uint tile) {
    barrier();
    WEFT_UNROLL for (int u = 0; u < (1 << kRadixBits); ++u) {
        const uint l = uint(u) * (1u << (kTileBits - kRadixBits)) + gl_LocalInvocationIndex;
        const Place at = staged_place(l, flag(kNttStoreReversed));
        store_at(position_of(tile, at), get_shared(shared_index(at.row, at.column)));
    }
}

WEFT_GPU void transform_tile(uint tile) {
    Held x;
    if (flag(kNttLoadStaged)) load_staged(tile);
    WEFT_NTT_STEPS for (uint step = 0u; step < kSteps; ++step) {
        const uint done = step * kRadixBits, bits = min(kRadixBits, kPassBits - done);
        const uint low = kPassBits - done - bits;
        const bool by_columns = flag(low == 0u && kSteps > 1u ? kNttStoreColumns : kNttLoadColumns);
        WEFT_UNROLL for (int u = 0; u < (1 << kRadixBits); ++u) {
            Place at = place_of(uint(u) >> bits, low, bits, by_columns);
            at.row |= (uint(u) & low_mask(bits)) << low;
            if (step == 0u && !flag(kNttLoadStaged))
                x.at[u] = load_at(position_of(tile, at));
            else
                x.at[u] = get_shared(shared_index(at.row, at.column));
        }
        butterflies(x, bits, step == 0u ? kZeroBits : 0u);
        if (low != 0u) twiddle(x, low, bits, by_columns);
        if (low != 0u || flag(kNttStoreStaged)) barrier();
        WEFT_UNROLL for (int u = 0; u < (1 << kRadixBits); ++u) {
            Place at = place_of(uint(u) >> bits, low, bits, by_columns);
            at.row |= (uint(u) & low_mask(bits)) << low;
            if (low == 0u) x.at[u] = finished(x.at[u], position_of(tile, at), at.row);
            if (low == 0u && !flag(kNttStoreStaged))
                store_at(position_of(tile, at), x.at[u]);
            else
                put_shared(shared_index(at.row, at.column), x.at[u]);
        }
        if (low != 0u) barrier();
    }
    if (flag(kNttStoreStaged)) store_staged(tile);
}

WEFT_MAIN() {
    for (uint tile = gl_WorkGroupID.x; tile < count; tile += gl_NumWorkGroups.x) {
        transform_tile(tile);
        barrier();  // shared memory was read
    }
}
