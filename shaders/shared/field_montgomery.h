// SPDX-License-Identifier: Apache-2.0
// Montgomery products modulo p, R = 2^(32 * FIELD_COUNT). No include guard: included after field_parts.h,
// once for each
//   FIELD_WIDE        WidePair or uint64_t: where sums of products are kept
//   FIELD_MONTGOMERY  name of the product's function
//   FIELD_COLUMNS     name of the struct for sums of many products
//   FIELD_COLUMN_TOTAL  name of the function that ends such a sum
// which it undefines at the end.
//
// Factors come in parts of fewer than 32 bits, so that 64 bits hold a column of the product with all that is
// added to it, and no carry is looked at before the columns are complete. That takes more multiplications
// than 32-bit limbs do and far fewer additions; GPUs multiply and add in one step.
//
// As the parts hold FIELD_SPARE bits more than the limbs, the reduction divides by R * 2^FIELD_SPARE. Cutting
// a * 2^FIELD_SPARE instead of a makes up for it at no cost.
WEFT_SHARED_BEGIN

// a * b / R mod p, below p whenever a * b < p * R: one operand below p is enough. Otherwise something else.
// `n0` is -1 / p mod 2^32.
WEFT_FN FIELD_LIMBS FIELD_MONTGOMERY(FIELD_LIMBS a, FIELD_LIMBS b, FIELD_LIMBS p, uint n0) {
    FIELD_PARTS x = parts_of(a, FIELD_SPARE), y = parts_of(b, 0), m = parts_of(p, 0);
    FIELD_WIDE t[FIELD_PART_COUNT];
    WEFT_UNROLL for (int j = 0; j < FIELD_PART_COUNT; ++j) wide_set(t[j], 0u);
    FIELD_STEPS for (int i = 0; i < FIELD_PART_COUNT; ++i) {
        WEFT_UNROLL for (int j = 0; j < FIELD_PART_COUNT; ++j) t[j] = wide_mad(t[j], x.part[0], y.part[j]);
        uint q = (wide_low(t[0]) * n0) & FIELD_MASK;
        FIELD_WIDE carry = wide_shift(wide_mad(t[0], q, m.part[0]), FIELD_PART_BITS);
        WEFT_UNROLL for (int j = 1; j < FIELD_PART_COUNT; ++j) t[j - 1] = wide_mad(t[j], q, m.part[j]);
        t[0] = wide_add(t[0], carry);
        wide_set(t[FIELD_PART_COUNT - 1], 0u);
        // Moved along rather than indexed by i: rolled up, an index would put the parts into memory.
        WEFT_UNROLL for (int j = 1; j < FIELD_PART_COUNT; ++j) x.part[j - 1] = x.part[j];
    }
    FIELD_PARTS r;
    WEFT_UNROLL for (int j = 0; j < FIELD_PART_COUNT; ++j) {
        r.part[j] = wide_low(t[j]) & FIELD_MASK;
        if (j + 1 < FIELD_PART_COUNT) t[j + 1] = wide_add(t[j + 1], wide_shift(t[j], FIELD_PART_BITS));
    }
    return reduced_limbs(r, m);
}

// The columns of a sum of products, unreduced: half the multiplications of reduced ones.
struct FIELD_COLUMNS {
    FIELD_WIDE column[2 * FIELD_PART_COUNT];
};

WEFT_FN void clear_columns(WEFT_OUT(FIELD_COLUMNS) sum) {
    WEFT_UNROLL for (int k = 0; k < 2 * FIELD_PART_COUNT; ++k) wide_set(sum.column[k], 0u);
}

// Adds a * b. At most kProducts... of them fit before settle_columns.
WEFT_FN void add_product(WEFT_INOUT(FIELD_COLUMNS) sum, FIELD_LIMBS a, FIELD_LIMBS b, FIELD_LIMBS, uint) {
    FIELD_PARTS x = parts_of(a, 0), y = parts_of(b, 0);
    WEFT_UNROLL for (int i = 0; i < FIELD_PART_COUNT; ++i) {
        WEFT_UNROLL for (int j = 0; j < FIELD_PART_COUNT; ++j) sum.column[i + j] =
            wide_mad(sum.column[i + j], x.part[i], y.part[j]);
    }
}

// Resolves the carries between columns.
WEFT_FN void settle_columns(WEFT_INOUT(FIELD_COLUMNS) sum) {
    WEFT_UNROLL for (int k = 0; k + 1 < 2 * FIELD_PART_COUNT; ++k) {
        sum.column[k + 1] = wide_add(sum.column[k + 1], wide_shift(sum.column[k], FIELD_PART_BITS));
        wide_set(sum.column[k], wide_low(sum.column[k]) & FIELD_MASK);
    }
}

// The sum divided by R * 2^FIELD_SPARE mod p, below p if the columns are settled and at most
// kProductsTotal... products of numbers below p are in them.
WEFT_FN FIELD_LIMBS FIELD_COLUMN_TOTAL(FIELD_COLUMNS sum, FIELD_LIMBS p, uint n0) {
    FIELD_PARTS m = parts_of(p, 0), r;
    FIELD_STEPS for (int i = 0; i < FIELD_PART_COUNT; ++i) {
        uint q = (wide_low(sum.column[0]) * n0) & FIELD_MASK;
        FIELD_WIDE carry = wide_shift(wide_mad(sum.column[0], q, m.part[0]), FIELD_PART_BITS);
        WEFT_UNROLL for (int j = 1; j < FIELD_PART_COUNT; ++j) sum.column[j - 1] =
            wide_mad(sum.column[j], q, m.part[j]);
        sum.column[0] = wide_add(sum.column[0], carry);
        WEFT_UNROLL for (int j = FIELD_PART_COUNT; j < 2 * FIELD_PART_COUNT; ++j) sum.column[j - 1] =
            sum.column[j];
    }
    WEFT_UNROLL for (int j = 0; j < FIELD_PART_COUNT; ++j) {
        r.part[j] = wide_low(sum.column[j]) & FIELD_MASK;
        if (j + 1 < FIELD_PART_COUNT)
            sum.column[j + 1] = wide_add(sum.column[j + 1], wide_shift(sum.column[j], FIELD_PART_BITS));
    }
    return reduced_limbs(r, m);
}

WEFT_SHARED_END

#undef FIELD_WIDE
#undef FIELD_MONTGOMERY
#undef FIELD_COLUMNS
#undef FIELD_COLUMN_TOTAL
