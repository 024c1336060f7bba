// SPDX-License-Identifier: Apache-2.0
// Schoolbook field arithmetic on single bytes. It checks the shaders, and shares no code, no constant and no
// limb width with them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/ops/field.hpp>

namespace weft_test {

/// 384 bits, least significant byte first.
struct Number {
    std::array<std::uint8_t, 48> byte{};
    friend bool operator==(const Number&, const Number&) = default;
};

Number number(std::string_view hex);

std::string hex(const Number& n);

/// The modulus of BLS12-381 Fp.
const Number& fp();

bool less(const Number& a, const Number& b);

/// a - b modulo 2^384.
Number minus(const Number& a, const Number& b);

/// a + b modulo 2^384, and whether the sum reached 2^384.
std::pair<Number, bool> plus(const Number& a, const Number& b);

/// a op b modulo p for a, b < p and add, sub or neg; b is ignored by neg.
Number apply(weft::FieldOp op, const Number& a, const Number& b, const Number& p = fp());

Number read(std::span<const std::uint64_t> limbs, std::size_t element);

void append(std::vector<std::uint64_t>& limbs, const Number& n);

/// Whole vectors in the layout of weft::FieldJob.
std::vector<std::uint64_t> expected(weft::FieldOp op, std::span<const std::uint64_t> a,
                                    std::span<const std::uint64_t> b);

/// `count` values below p, the same for the same seed.
std::vector<std::uint64_t> random_elements(std::size_t count, std::uint64_t seed);

}  // namespace weft_test
