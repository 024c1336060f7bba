// SPDX-License-Identifier: Apache-2.0
// The constants that follow from each modulus, and the products of every size of element with both kinds of
// sums, compared with the schoolbook oracle.
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include <weft/error.hpp>

#include "shaders/field/field_table.h"
#include "support/any_field.hpp"

namespace {

using namespace weft_test;
namespace shared = weft::shared;
using shared::FieldConstants;
using shared::FieldWords;

Number number_of(const FieldWords& words) {
    Number n;
    std::memcpy(n.byte.data(), words.word, 48);
    return n;
}

FieldWords words_of(const Number& n) {
    FieldWords words;
    std::memcpy(words.word, n.byte.data(), 48);
    return words;
}

template <class Limbs>
Limbs limbs(const Number& n) {
    return shared::limbs_from<Limbs>(words_of(n));
}
template <class Limbs>
Number number_from(const Limbs& limbs) {
    Number n;
    std::memcpy(n.byte.data(), limbs.limb, sizeof(limbs.limb));
    return n;
}

// Calls body with a value of the limb type of the field.
template <class Body>
void with_limbs(const AnyField& f, Body&& body) {
    if (f.bytes == 48) body(shared::Limbs12x32{});
    if (f.bytes == 32) body(shared::Limbs8x32{});
    if (f.bytes == 8) body(shared::Limbs2x32{});
    if (f.bytes == 4) body(shared::Limbs1x32{});
}

template <class Limbs>
Limbs montgomery_64(const Limbs& a, const Limbs& b, const Limbs& p, std::uint32_t n0) {
    return montgomery_in_64(a, b, p, n0);
}
shared::Limbs1x32 montgomery_64(const shared::Limbs1x32& a, const shared::Limbs1x32& b,
                                const shared::Limbs1x32& p, std::uint32_t n0) {
    return montgomery_in_pairs(a, b, p, n0);  // one word has only this function
}

// kProducts..., kProductsTotal... and the columns of a limb type.
template <class Limbs>
struct Sums;
template <>
struct Sums<shared::Limbs12x32> {
    using Columns = shared::Columns14x28;
    using Pairs = shared::PairColumns14x28;
    static constexpr std::uint32_t kProducts = shared::kProducts12x32, kTotal = shared::kProductsTotal12x32;
};
template <>
struct Sums<shared::Limbs8x32> {
    using Columns = shared::Columns9x29;
    using Pairs = shared::PairColumns9x29;
    static constexpr std::uint32_t kProducts = shared::kProducts8x32, kTotal = shared::kProductsTotal8x32;
};
template <>
struct Sums<shared::Limbs2x32> {
    using Columns = shared::Columns3x28;
    using Pairs = shared::PairColumns3x28;
    static constexpr std::uint32_t kProducts = shared::kProducts2x32, kTotal = shared::kProductsTotal2x32;
};

// Adds the largest product as often as columns must hold it.
template <class Columns, class Limbs>
Columns fullest_columns(const Limbs& a, const Limbs& p, std::uint32_t n0) {
    Columns sum;
    clear_columns(sum);
    for (std::uint32_t i = 0; i < Sums<Limbs>::kTotal; i += Sums<Limbs>::kProducts) {
        for (std::uint32_t k = 0; k < Sums<Limbs>::kProducts; ++k) add_product(sum, a, a, p, n0);
        settle_columns(sum);
    }
    return sum;
}

}  // namespace

TEST_CASE("field table: every modulus, and the constants that follow from it") {
    const struct {
        const char* name;
        std::uint32_t bits, n0;
        const char *r, *r_squared;
    } rows[] = {
        {"bls12-381-fp", 381, 0xfffcfffd,
         "15f65ec3fa80e4935c071a97a256ec6d77ce5853705257455f48985753c758baebf4000bc40c0002760900000002fffd",
         "11988fe592cae3aa9a793e85b519952d67eb88a9939d83c08de5476c4c95b6d50a76e6a609d104f1f4df1f341c341746"},
        {"bls12-381-fr", 255, 0xffffffff, "1824b159acc5056f998c4fefecbc4ff55884b7fa0003480200000001fffffffe",
         "748d9d99f59ff1105d314967254398f2b6cedcb87925c23c999e990f3f29c6d"},
        {"bn254-fp", 254, 0xe4866389, nullptr, nullptr},
        {"bn254-fr", 254, 0xefffffff, "e0a77c19a07df2f666ea36f7879462e36fc76959f60cd29ac96341c4ffffffb",
         nullptr},
        {"bls12-377-fp", 377, 0xffffffff, nullptr, nullptr},
        {"bls12-377-fr", 253, 0xffffffff, nullptr, nullptr},
        {"stark252", 252, 0xffffffff, nullptr, nullptr},
        {"goldilocks", 64, 0xffffffff, "ffffffff", nullptr},
        {"babybear", 31, 0x77ffffff, "ffffffe", nullptr},
        {"koalabear", 31, 0x7effffff, "1fffffe", nullptr},
        {"mersenne31", 31, 0x80000001, "2", "4"},
    };
    REQUIRE(weft::fields().size() == std::size(rows));
    for (std::size_t i = 0; i < std::size(rows); ++i) {
        CAPTURE(rows[i].name);
        const FieldConstants& c = shared::kFieldTable[i];
        const AnyField& f = any_fields()[i];
        const weft::FieldInfo& info = weft::field_info(f.field);
        CHECK(std::string(info.name) == rows[i].name);
        CHECK(std::string(weft::to_string(f.field)) == rows[i].name);
        CHECK(weft::find_field(rows[i].name) == f.field);
        CHECK(info.bits == rows[i].bits);
        CHECK(info.element_bytes == f.bytes);
        CHECK(info.limbs * info.limb_bytes == f.bytes);
        CHECK(std::string(info.dtype) == (f.bytes == 4 ? "<u4" : "<u8"));
        CHECK(std::memcmp(info.modulus.data(), f.p.byte.data(), 48) == 0);
        CHECK(number_of(c.p) == f.p);
        CHECK(c.n0 == rows[i].n0);
        CHECK(hex(number_of(c.r)) == hex(r_of(f)));
        CHECK(hex(number_of(c.r_squared)) == hex(product_mod(r_of(f), r_of(f), f.p)));
        CHECK(hex(number_of(c.r_inverse)) == hex(inverse_r_of(f)));
        CHECK(product_mod(r_of(f), inverse_r_of(f), f.p) == power(0));
        if (rows[i].r != nullptr) CHECK(hex(number_of(c.r)) == rows[i].r);
        if (rows[i].r_squared != nullptr) CHECK(hex(number_of(c.r_squared)) == rows[i].r_squared);
    }
    CHECK(!weft::find_field("bls12-381"));
    CHECK_THROWS_AS(weft::field_info(static_cast<weft::Field>(11)), weft::Error);
}

TEST_CASE("field products: every field, in pairs and in 64 bits") {
    for (const AnyField& f : any_fields())
        with_limbs(f, [&]<class Limbs>(Limbs) {
            CAPTURE(f.name);
            const FieldConstants& c = shared::kFieldTable[static_cast<std::size_t>(f.field)];
            const Limbs p = limbs<Limbs>(f.p);
            const Number inverse_r = inverse_r_of(f);
            const Pairs pairs = judged_pairs(f, 300);
            for (std::size_t i = 0; i < pairs.a.size(); ++i) {
                const Limbs a = limbs<Limbs>(pairs.a[i]), b = limbs<Limbs>(pairs.b[i]);
                const Number want = want_of(f, weft::FieldOp::mul, pairs.a[i], pairs.b[i], {}, inverse_r);
                const Number in_pairs = number_from(montgomery_in_pairs(a, b, p, c.n0));
                const Number in_64 = number_from(montgomery_64(a, b, p, c.n0));
                if (in_pairs == want && in_64 == want) continue;
                CAPTURE(hex(pairs.a[i]));
                CAPTURE(hex(pairs.b[i]));
                CHECK(hex(in_pairs) == hex(want));
                CHECK(hex(in_64) == hex(want));
            }
        });
}

TEST_CASE("field products: one operand may have any value, and the result is still below p") {
    for (const AnyField& f : any_fields())
        with_limbs(f, [&]<class Limbs>(Limbs) {
            CAPTURE(f.name);
            const FieldConstants& c = shared::kFieldTable[static_cast<std::size_t>(f.field)];
            const Limbs p = limbs<Limbs>(f.p);
            Number top;
            for (std::size_t i = 0; i < f.bytes; ++i) top.byte[i] = 255;
            for (const Number& any : {f.p, top, minus(top, power(0)), plus(f.p, power(0)).first})
                for (const Number& b : {Number{}, power(0), minus(f.p, power(0)), r_of(f)}) {
                    const Number want = product_mod(product_mod(b, any, f.p), inverse_r_of(f), f.p);
                    CHECK(hex(number_from(montgomery_64(limbs<Limbs>(any), limbs<Limbs>(b), p, c.n0))) ==
                          hex(want));
                    CHECK(hex(number_from(montgomery_64(limbs<Limbs>(b), limbs<Limbs>(any), p, c.n0))) ==
                          hex(want));
                    CHECK(hex(number_from(montgomery_in_pairs(limbs<Limbs>(any), limbs<Limbs>(b), p,
                                                              c.n0))) == hex(want));
                }
        });
}

TEST_CASE("field products: columns hold the stated number of the largest products") {
    for (const AnyField& f : any_fields())
        with_limbs(f, [&]<class Limbs>(Limbs) {
            if constexpr (!std::is_same_v<Limbs, shared::Limbs1x32>) {
                CAPTURE(f.name);
                const FieldConstants& c = shared::kFieldTable[static_cast<std::size_t>(f.field)];
                const Limbs p = limbs<Limbs>(f.p);
                // Values whose parts are all full, and p - 1.
                Number full = minus(power(c.bits - 1), power(0));
                for (const Number& a : {full, minus(f.p, power(0))}) {
                    const Limbs x = limbs<Limbs>(a), factor = shared::limbs_from<Limbs>(c.montgomery_total);
                    const auto wide = fullest_columns<typename Sums<Limbs>::Columns>(x, p, c.n0);
                    const auto pairs = fullest_columns<typename Sums<Limbs>::Pairs>(x, p, c.n0);
                    const Limbs total = column_total_in_64(wide, p, c.n0);
                    const Number once = product_mod(product_mod(a, a, f.p), inverse_r_of(f), f.p);
                    Number count = shifted(Sums<Limbs>::kTotal, 0);
                    const Number want = product_mod(once, count, f.p);
                    CHECK(hex(number_from(montgomery_in_64(total, factor, p, c.n0))) == hex(want));
                    CHECK(number_from(column_total_in_pairs(pairs, p, c.n0)) == number_from(total));
                }
            }
        });
}
