// SPDX-License-Identifier: Apache-2.0
// The transform over the kUpperBits bits above a slab, in place, in tiles of 2^kSlabBits units of 16 bytes. A
// tile has neighbouring units, each at all 2^kUpperBits places that differ in these bits only. A unit is one
// amplitude of complex128 or two of complex64.
#ifndef WEFT_SHARED_ENCODE_IQP_UPPER_H
#define WEFT_SHARED_ENCODE_IQP_UPPER_H

WEFT_CONST uint kRunBits = kSlabBits - kUpperBits;               // neighbouring units of a tile
WEFT_CONST uint kUnitBits = kSlabBits - (kStoreWide ? 0u : 1u);  // units of a slab
// The number of bits that are transformed in the second of two steps.
WEFT_CONST uint kLateBits = kUpperBits > 4u ? kUpperBits - 4u : 0u;

uvec4 units[16];

WEFT_GPU uvec4 sum_of(uvec4 a, uvec4 b) {
#if defined(WEFT_REAL64)
    if (kStoreWide)
        return uvec4(unpackDouble2x32(packDouble2x32(a.xy) + packDouble2x32(b.xy)),
                     unpackDouble2x32(packDouble2x32(a.zw) + packDouble2x32(b.zw)));
#endif
    return floatBitsToUint(uintBitsToFloat(a) + uintBitsToFloat(b));
}

WEFT_GPU uvec4 difference_of(uvec4 a, uvec4 b) {
#if defined(WEFT_REAL64)
    if (kStoreWide)
        return uvec4(unpackDouble2x32(packDouble2x32(a.xy) - packDouble2x32(b.xy)),
                     unpackDouble2x32(packDouble2x32(a.zw) - packDouble2x32(b.zw)));
#endif
    return floatBitsToUint(uintBitsToFloat(a) - uintBitsToFloat(b));
}

WEFT_GPU void transform_units(uint bits) {
    WEFT_UNROLL for (uint bit = 0u; bit < 4u; ++bit) {
        if (bit < bits) {
            WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) {
                const uint other = k | (1u << bit);
                if (other != k) {
                    const uvec4 a = units[k], b = units[other];
                    units[k] = sum_of(a, b);
                    units[other] = difference_of(a, b);
                }
            }
        }
    }
}

// The position in the tile of unit k of this invocation. Its high bits are the place among the 2^kUpperBits,
// its low bits the neighbour.
WEFT_GPU uint early_place(uint k) {
    const uint lane = gl_LocalInvocationIndex;
    if (kUpperBits >= 4u) return (k << (kSlabBits - 4u)) | lane;
    return ((k & ((1u << kUpperBits) - 1u)) << kRunBits) | ((k >> kUpperBits) << (kSlabBits - 4u)) | lane;
}
WEFT_GPU uint late_place(uint k) {
    const uint lane = gl_LocalInvocationIndex, low = k & ((1u << kLateBits) - 1u);
    const uint place = low | ((lane >> kRunBits) << kLateBits) | ((k >> kLateBits) << (2u * kLateBits));
    return (place << kRunBits) | (lane & ((1u << kRunBits) - 1u));
}

#if defined(WEFT_REAL64)
WEFT_CONST uint kDeals = 2u;
WEFT_GPU Cell part_of(uvec4 unit, uint deal_number) {
    return deal_number == 0u ? unit.xy : unit.zw;
}
WEFT_GPU void set_part(uint k, uint deal_number, Cell cell) {
    if (deal_number == 0u)
        units[k].xy = cell;
    else
        units[k].zw = cell;
}
#else
WEFT_CONST uint kDeals = 4u;
WEFT_GPU Cell part_of(uvec4 unit, uint deal_number) {
    return unit[deal_number];
}
WEFT_GPU void set_part(uint k, uint deal_number, Cell cell) {
    units[k][deal_number] = cell;
}
#endif

WEFT_GPU void deal_units() {
    WEFT_UNROLL for (uint part = 0u; part < kDeals; ++part) {
        barrier();
        WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) cells[gap(early_place(k))] = part_of(units[k], part);
        barrier();
        WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) set_part(k, part, cells[gap(late_place(k))]);
    }
}

WEFT_GPU uint unit_at(uint tile, uint in_tile) {
    return (tile << kRunBits) | (in_tile & ((1u << kRunBits) - 1u)) | ((in_tile >> kRunBits) << kUnitBits);
}

WEFT_GPU void transform_upper(uint row_begin, uint tile) {
    WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) units[k] = states[row_begin + unit_at(tile, early_place(k))];
    transform_units(min(kUpperBits, 4u));
    if (kLateBits != 0u) {
        deal_units();
        transform_units(kLateBits);
    }
    WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) {
        const uint in_tile = kLateBits != 0u ? late_place(k) : early_place(k);
        states[row_begin + unit_at(tile, in_tile)] = units[k];
    }
}

#endif
