// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo p on FIELD_COUNT limbs of type FIELD_LIMB (uint or uint64_t), least significant limb
// first. No include guard: included once for each combination, with
//   FIELD_LIMBS   name of the struct to define
//   FIELD_LIMB    type of a limb
//   FIELD_COUNT   number of limbs
// defined before; field_end.h undefines them. Operands are values below p unless said otherwise; p may use
// every bit of its limbs. Branch-free up to the final select.
WEFT_SHARED_BEGIN

struct FIELD_LIMBS {
    FIELD_LIMB limb[FIELD_COUNT];
};

// a + b mod p. Subtracts p at most once, so for operands that are not below p the result is merely congruent
// (a + b < 2^bits) or wrong.
//
// A limb's carry-out has two sources, the limbs' own sum and the carry-in; "sum < a" alone misses the second
// when b's limb is all ones. Both cannot happen at once, hence the OR. The borrows mirror that.
WEFT_FN FIELD_LIMBS add_mod(FIELD_LIMBS a, FIELD_LIMBS b, FIELD_LIMBS p) {
    FIELD_LIMBS sum, reduced;
    FIELD_LIMB carry = FIELD_LIMB(0), borrow = FIELD_LIMB(0);
    WEFT_UNROLL for (int i = 0; i < FIELD_COUNT; ++i) {
        FIELD_LIMB partial = a.limb[i] + b.limb[i];
        FIELD_LIMB total = partial + carry;
        carry = FIELD_LIMB(partial < a.limb[i]) | FIELD_LIMB(total < partial);
        sum.limb[i] = total;
        FIELD_LIMB difference = total - p.limb[i];
        reduced.limb[i] = difference - borrow;
        borrow = FIELD_LIMB(total < p.limb[i]) | FIELD_LIMB(difference < borrow);
    }
    // The sum is below p exactly when taking p away borrows from a carry that is not there.
    FIELD_LIMB keep = FIELD_LIMB(0) - (borrow & (carry ^ FIELD_LIMB(1)));
    WEFT_UNROLL for (int i = 0; i < FIELD_COUNT; ++i) {
        sum.limb[i] = (sum.limb[i] & keep) | (reduced.limb[i] & ~keep);
    }
    return sum;
}

// a - b mod p.
WEFT_FN FIELD_LIMBS sub_mod(FIELD_LIMBS a, FIELD_LIMBS b, FIELD_LIMBS p) {
    FIELD_LIMBS result;
    FIELD_LIMB borrow = FIELD_LIMB(0);
    WEFT_UNROLL for (int i = 0; i < FIELD_COUNT; ++i) {
        FIELD_LIMB difference = a.limb[i] - b.limb[i];
        result.limb[i] = difference - borrow;
        borrow = FIELD_LIMB(a.limb[i] < b.limb[i]) | FIELD_LIMB(difference < borrow);
    }
    FIELD_LIMB wrapped = FIELD_LIMB(0) - borrow, carry = FIELD_LIMB(0);
    WEFT_UNROLL for (int i = 0; i < FIELD_COUNT; ++i) {
        FIELD_LIMB partial = result.limb[i] + (p.limb[i] & wrapped);
        FIELD_LIMB total = partial + carry;
        carry = FIELD_LIMB(partial < result.limb[i]) | FIELD_LIMB(total < partial);
        result.limb[i] = total;
    }
    return result;
}

// -a mod p; 0 stays 0, it must not become p.
WEFT_FN FIELD_LIMBS neg_mod(FIELD_LIMBS a, FIELD_LIMBS p) {
    FIELD_LIMBS result;
    FIELD_LIMB borrow = FIELD_LIMB(0), any = FIELD_LIMB(0);
    WEFT_UNROLL for (int i = 0; i < FIELD_COUNT; ++i) {
        FIELD_LIMB difference = p.limb[i] - a.limb[i];
        result.limb[i] = difference - borrow;
        borrow = FIELD_LIMB(p.limb[i] < a.limb[i]) | FIELD_LIMB(difference < borrow);
        any |= a.limb[i];
    }
    FIELD_LIMB nonzero = FIELD_LIMB(0) - FIELD_LIMB(any != FIELD_LIMB(0));
    WEFT_UNROLL for (int i = 0; i < FIELD_COUNT; ++i) {
        result.limb[i] &= nonzero;
    }
    return result;
}

// Whether a < p, for any a: the values every function here wants.
WEFT_FN bool is_canonical(FIELD_LIMBS a, FIELD_LIMBS p) {
    FIELD_LIMB borrow = FIELD_LIMB(0);
    WEFT_UNROLL for (int i = 0; i < FIELD_COUNT; ++i) {
        FIELD_LIMB difference = a.limb[i] - p.limb[i];
        borrow = FIELD_LIMB(a.limb[i] < p.limb[i]) | FIELD_LIMB(difference < borrow);
    }
    return borrow != FIELD_LIMB(0);
}

WEFT_SHARED_END
