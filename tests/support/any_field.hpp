// SPDX-License-Identifier: Apache-2.0
// The schoolbook oracle for every field. Its moduli are typed separately from those of the library, and
// products are computed by doubling and adding.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <weft/ops/field.hpp>

#include "support/field_vectors.hpp"

namespace weft_test {

struct AnyField {
    weft::Field field;
    const char* name;
    Number p;
    std::size_t bytes;  // of an element
};

const std::vector<AnyField>& any_fields();

Number sum_mod(const Number& a, const Number& b, const Number& p);

/// a * b mod p for a below p and any b.
Number product_mod(const Number& a, const Number& b, const Number& p);

/// R = 2^(8 * bytes) mod p, and its inverse, by halving 1.
Number r_of(const AnyField& f);
Number inverse_r_of(const AnyField& f);

/// The result of an element-wise operation for a, b and scalar below p. Results of inverse are checked by
/// multiplying them instead. `inverse_r` is 1 / R, or 1 for plain values.
Number want_of(const AnyField& f, weft::FieldOp op, const Number& a, const Number& b, const Number& scalar,
               const Number& inverse_r);

/// Numbers as a vector of limbs, and back.
template <class Limb>
std::vector<Limb> packed(const AnyField& f, const std::vector<Number>& numbers) {
    std::vector<Limb> limbs(numbers.size() * f.bytes / sizeof(Limb));
    auto* bytes = reinterpret_cast<std::uint8_t*>(limbs.data());
    for (std::size_t i = 0; i < numbers.size(); ++i)
        std::memcpy(bytes + i * f.bytes, numbers[i].byte.data(), f.bytes);
    return limbs;
}
template <class Limb>
std::vector<Number> unpacked(const AnyField& f, std::span<const Limb> limbs) {
    std::vector<Number> numbers(limbs.size_bytes() / f.bytes);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(limbs.data());
    for (std::size_t i = 0; i < numbers.size(); ++i)
        std::memcpy(numbers[i].byte.data(), bytes + i * f.bytes, f.bytes);
    return numbers;
}

std::vector<Number> random_numbers(const AnyField& f, std::size_t count, std::uint64_t seed);

struct Pairs {
    std::vector<Number> a, b;
};

/// All pairs of edge values; carries and borrows at every limb of 32 and 64 bits of the field, and at every
/// part of 28 and 29 bits that products use; then random values.
Pairs judged_pairs(const AnyField& f, std::size_t random_count);

}  // namespace weft_test
