// SPDX-License-Identifier: Apache-2.0
#include "support/any_field.hpp"

#include <bit>
#include <random>

namespace weft_test {

const std::vector<AnyField>& any_fields() {
    using enum weft::Field;
    static const std::vector<AnyField> all = {
        {bls12_381_fp, "bls12-381-fp", fp(), 48},
        {bls12_381_fr, "bls12-381-fr",
         number("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001"), 32},
        {bn254_fp, "bn254-fp", number("30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47"),
         32},
        {bn254_fr, "bn254-fr", number("30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001"),
         32},
        {bls12_377_fp, "bls12-377-fp",
         number("01ae3a4617c510eac63b05c06ca1493b1a22d9f300f5138f1ef3622fba094800170b5d44300000008508c0000000"
                "0001"),
         48},
        {bls12_377_fr, "bls12-377-fr",
         number("12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001"), 32},
        {stark252, "stark252", number("0800000000000011000000000000000000000000000000000000000000000001"),
         32},
        {goldilocks, "goldilocks", number("ffffffff00000001"), 8},
        {babybear, "babybear", number("78000001"), 4},
        {koalabear, "koalabear", number("7f000001"), 4},
        {mersenne31, "mersenne31", number("7fffffff"), 4},
    };
    return all;
}

Number sum_mod(const Number& a, const Number& b, const Number& p) {
    return apply(weft::FieldOp::add, a, b, p);
}

Number product_mod(const Number& a, const Number& b, const Number& p) {
    Number r;
    bool begun = false;
    for (std::size_t bit = 384; bit-- > 0;) {
        const bool set = (b.byte[bit / 8] >> bit % 8 & 1) != 0;
        begun = begun || set;
        if (begun) r = sum_mod(r, r, p);
        if (set) r = sum_mod(r, a, p);
    }
    return r;
}

Number r_of(const AnyField& f) {
    Number r = power(0);
    for (std::size_t i = 0; i < 8 * f.bytes; ++i) r = sum_mod(r, r, f.p);
    return r;
}

Number inverse_r_of(const AnyField& f) {
    Number r = power(0);
    for (std::size_t i = 0; i < 8 * f.bytes; ++i) {
        auto [even, over] = (r.byte[0] & 1) != 0 ? plus(r, f.p) : std::pair(r, false);
        for (std::size_t b = 0; b < 48; ++b) {
            const int above = b + 1 < 48 ? even.byte[b + 1] : over;
            r.byte[b] = static_cast<std::uint8_t>((even.byte[b] >> 1 | above << 7) & 255);
        }
    }
    return r;
}

Number want_of(const AnyField& f, weft::FieldOp op, const Number& a, const Number& b, const Number& scalar,
               const Number& inverse_r) {
    const auto product = [&](const Number& x, const Number& y) {
        return product_mod(product_mod(x, y, f.p), inverse_r, f.p);
    };
    switch (op) {
        case weft::FieldOp::mul:
            return product(a, b);
        case weft::FieldOp::square:
            return product(a, a);
        case weft::FieldOp::to_montgomery:
            return product_mod(a, r_of(f), f.p);
        case weft::FieldOp::from_montgomery:
            return product_mod(a, inverse_r_of(f), f.p);
        case weft::FieldOp::axpy:
            return sum_mod(product(scalar, a), b, f.p);
        default:
            return apply(op, a, b, f.p);
    }
}

std::vector<Number> random_numbers(const AnyField& f, std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    // The bits of p's highest byte, so that at most one p is too much.
    const auto top = static_cast<std::uint8_t>(std::bit_ceil(f.p.byte[f.bytes - 1] + 1u) - 1);
    std::vector<Number> numbers;
    numbers.reserve(count);
    while (numbers.size() < count) {
        Number n;
        for (std::size_t i = 0; i < f.bytes; ++i) n.byte[i] = static_cast<std::uint8_t>(random() >> 56);
        n.byte[f.bytes - 1] &= top;
        if (!less(n, f.p)) n = minus(n, f.p);
        numbers.push_back(n);
    }
    return numbers;
}

Pairs judged_pairs(const AnyField& f, std::size_t random_count) {
    Pairs pairs;
    const auto push = [&](const Number& a, const Number& b) {
        pairs.a.push_back(a);
        pairs.b.push_back(b);
    };
    const Number one = power(0), r = r_of(f);
    std::vector<Number> edges = {Number{}, one,          power(1), minus(f.p, one), minus(f.p, power(1)),
                                 r,        minus(f.p, r)};
    for (const Number& a : edges)
        for (const Number& b : edges) push(a, b);
    for (const std::size_t width : {32u, 64u, 28u, 29u})
        for (std::size_t bit = width; bit < 8 * f.bytes; bit += width)
            for (const Number& v : {power(bit), minus(power(bit), one), minus(f.p, power(bit))}) {
                if (!less(v, f.p)) continue;
                push(v, v);
                push(v, minus(f.p, one));
                push(minus(f.p, v), one);
                push(v, minus(f.p, v));
            }
    const auto a = random_numbers(f, random_count, 1), b = random_numbers(f, random_count, 2);
    for (std::size_t i = 0; i < random_count; ++i) push(a[i], b[i]);
    return pairs;
}

}  // namespace weft_test
