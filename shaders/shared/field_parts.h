// SPDX-License-Identifier: Apache-2.0
// Elements cut into FIELD_PART_COUNT parts of FIELD_PART_BITS < 32 bits each, the form in which they are
// multiplied. No include guard: included once for each FIELD_LIMBS, after field_limbs.h with FIELD_LIMB uint.
// The parts hold at least one bit more than the limbs.
#define FIELD_MASK ((1u << FIELD_PART_BITS) - 1u)
#define FIELD_SPARE (FIELD_PART_COUNT * FIELD_PART_BITS - 32 * FIELD_COUNT)

WEFT_SHARED_BEGIN

struct FIELD_PARTS {
    uint part[FIELD_PART_COUNT];
};

// a * 2^shift in parts; shift is 0 or FIELD_SPARE.
WEFT_FN FIELD_PARTS parts_of(FIELD_LIMBS a, int shift) {
    FIELD_PARTS r;
    WEFT_UNROLL for (int k = 0; k < FIELD_PART_COUNT; ++k) {
        int at = k * FIELD_PART_BITS - shift;
        int word = at < 0 ? 0 : at / 32;
        int offset = at < 0 ? 0 : at % 32;
        uint bits = 0u;
        if (word < FIELD_COUNT) bits = at < 0 ? a.limb[word] << -at : a.limb[word] >> offset;
        if (offset + FIELD_PART_BITS > 32 && word + 1 < FIELD_COUNT)
            bits |= a.limb[word + 1] << (32 - offset);
        r.part[k] = bits & FIELD_MASK;
    }
    return r;
}

// The element behind parts below 2p, each of at most FIELD_PART_BITS bits.
WEFT_FN FIELD_LIMBS reduced_limbs(FIELD_PARTS a, FIELD_PARTS p) {
    FIELD_PARTS less_p;
    int borrow = 0;  // or -1
    WEFT_UNROLL for (int k = 0; k < FIELD_PART_COUNT; ++k) {
        int difference = int(a.part[k]) - int(p.part[k]) + borrow;
        less_p.part[k] = uint(difference) & FIELD_MASK;
        borrow = difference >> 31;
    }
    uint keep = uint(borrow);
    WEFT_UNROLL for (int k = 0; k < FIELD_PART_COUNT; ++k) {
        a.part[k] = (a.part[k] & keep) | (less_p.part[k] & ~keep);
    }
    FIELD_LIMBS r;
    WEFT_UNROLL for (int word = 0; word < FIELD_COUNT; ++word) {
        int k = 32 * word / FIELD_PART_BITS;
        int offset = 32 * word % FIELD_PART_BITS;
        uint bits = a.part[k] >> offset;
        if (k + 1 < FIELD_PART_COUNT) bits |= a.part[k + 1] << (FIELD_PART_BITS - offset);
        if (2 * FIELD_PART_BITS - offset < 32 && k + 2 < FIELD_PART_COUNT)
            bits |= a.part[k + 2] << (2 * FIELD_PART_BITS - offset);
        r.limb[word] = bits;
    }
    return r;
}

WEFT_SHARED_END
