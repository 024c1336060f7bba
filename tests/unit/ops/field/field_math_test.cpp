// SPDX-License-Identifier: Apache-2.0
// The arithmetic that the shaders share with C++, in both limb widths, compared with the byte-wise oracle.
#include <doctest/doctest.h>

#include <bit>

#include "shaders/field/field_table.h"
#include "support/any_field.hpp"

namespace {

using namespace weft_test;
using weft::FieldOp;
using weft::shared::Limbs12x32;
using weft::shared::Limbs6x64;

// The oracle's bytes and the limbs are the same 48 bytes on a little-endian host.
static_assert(std::endian::native == std::endian::little);

template <class Limbs>
Number run(FieldOp op, const Number& a, const Number& b, const Number& p) {
    const auto x = std::bit_cast<Limbs>(a), y = std::bit_cast<Limbs>(b), m = std::bit_cast<Limbs>(p);
    if (op == FieldOp::add) return std::bit_cast<Number>(add_mod(x, y, m));
    if (op == FieldOp::sub) return std::bit_cast<Number>(sub_mod(x, y, m));
    return std::bit_cast<Number>(neg_mod(x, m));
}

void check_both(FieldOp op, const Number& a, const Number& b, const Number& p) {
    const Number want = apply(op, a, b, p);
    if (run<Limbs12x32>(op, a, b, p) == want && run<Limbs6x64>(op, a, b, p) == want) return;
    CAPTURE(weft::to_string(op));
    CAPTURE(hex(a));
    CAPTURE(hex(b));
    CHECK(hex(run<Limbs12x32>(op, a, b, p)) == hex(want));
    CHECK(hex(run<Limbs6x64>(op, a, b, p)) == hex(want));
}

}  // namespace

TEST_CASE("field math: known answers") {
    for (const FieldVector& v : known_vectors()) {
        CAPTURE(v.id);
        const Number a = number(v.a), b = number(v.b);
        CHECK(hex(run<Limbs12x32>(v.op, a, b, fp())) == v.expected);
        CHECK(hex(run<Limbs6x64>(v.op, a, b, fp())) == v.expected);
        CHECK(hex(apply(v.op, a, b)) == v.expected);
    }
}

TEST_CASE("field math: a carry and a borrow at every limb") {
    // The second modulus leaves no spare bit, so sums carry out of the top limb.
    const Number full = minus(Number{}, number("13d"));
    for (const Number& p : {fp(), full})
        for (const std::size_t width : {32u, 64u}) {
            const auto pairs = directed_pairs(width, p);
            CHECK(pairs.size() > 1000);
            for (const auto& [a, b] : pairs)
                for (const FieldOp op : {FieldOp::add, FieldOp::sub, FieldOp::neg}) check_both(op, a, b, p);
        }
}

TEST_CASE("field math: random values") {
    const auto a = random_elements(20000, 1), b = random_elements(20000, 2);
    for (std::size_t i = 0; i < 20000; ++i)
        for (const FieldOp op : {FieldOp::add, FieldOp::sub, FieldOp::neg})
            check_both(op, read(a, i), read(b, i), fp());
}

TEST_CASE("field math: p is subtracted only once from values that are not below p") {
    const Number p = fp(), two_p = plus(p, p).first, two_p_one = plus(two_p, number("1")).first;
    const Number top = minus(Number{}, number("1"));
    const struct {
        Number a, b, sum;
    } rows[] = {
        {p, Number{}, Number{}},
        {p, p, p},
        {two_p_one, Number{}, plus(p, number("1")).first},
        {top, number("1"), minus(Number{}, p)},  // 2^384 - p: congruent, not canonical
    };
    for (const auto& row : rows) {
        CHECK(hex(run<Limbs12x32>(FieldOp::add, row.a, row.b, p)) == hex(row.sum));
        CHECK(hex(run<Limbs6x64>(FieldOp::add, row.a, row.b, p)) == hex(row.sum));
    }
}

TEST_CASE("field math: is_canonical is a < p, to the last bit of every limb") {
    std::vector<Number> values = {Number{}, fp(), minus(Number{}, number("1")), plus(fp(), fp()).first};
    for (std::size_t bit = 0; bit < 384; bit += 8) {
        values.push_back(power(bit));
        values.push_back(minus(fp(), power(bit)));
        values.push_back(plus(fp(), power(bit)).first);
    }
    for (const Number& v : values) {
        CAPTURE(hex(v));
        CHECK(is_canonical(std::bit_cast<Limbs12x32>(v), std::bit_cast<Limbs12x32>(fp())) == less(v, fp()));
        CHECK(is_canonical(std::bit_cast<Limbs6x64>(v), std::bit_cast<Limbs6x64>(fp())) == less(v, fp()));
    }
}

TEST_CASE("field math: conversions to 16-byte parts and 64-bit limbs and back change nothing") {
    const auto elements = random_elements(50, 3);
    for (std::size_t i = 0; i < 50; ++i) {
        const auto a32 = std::bit_cast<Limbs12x32>(read(elements, i));
        const auto b32 = limbs12x32(part_of(a32, 0), part_of(a32, 1), part_of(a32, 2));
        CHECK(std::bit_cast<Number>(b32) == read(elements, i));
        CHECK(std::bit_cast<Number>(limbs6x64(a32)) == read(elements, i));
        CHECK(std::bit_cast<Number>(limbs12x32(limbs6x64(a32))) == read(elements, i));
    }
}
