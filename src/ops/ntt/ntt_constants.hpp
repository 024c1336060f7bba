// SPDX-License-Identifier: Apache-2.0
// Roots of unity and powers of single elements on the host. All values are in Montgomery form.
#pragma once

#include <cstdint>
#include <string>

#include <weft/ops/ntt.hpp>

#include "ops/field/field_scalar.hpp"

namespace weft::kernels {

/// Indices of elements, and of their words in a binding of 4 GiB, have 32 bits.
inline constexpr std::uint32_t kNttMostLogSize = 30;

/// `function` opens the text. Errors: invalid_argument - no such field; unsupported - a field without
/// transforms.
void require_ntt_field(const std::string& function, Field field);

/// x^exponent.
FieldWords ntt_power(Field field, const FieldWords& x, std::uint64_t exponent);
/// 1 / x for x != 0.
FieldWords ntt_inverse(Field field, const FieldWords& x);
/// The default root of order 2^log_size.
FieldWords ntt_default_root(Field field, std::uint32_t log_size);
/// r of order 16 with r^(16 / 2^k) = w^1 for w of order 2^k, k < 4, else with r = w^(2^k / 16).
FieldWords ntt_root16(Field field, const FieldWords& w, std::uint32_t log_size);
/// 1 / 2^log_size.
FieldWords ntt_inverse_size(Field field, std::uint32_t log_size);
FieldWords to_montgomery_words(Field field, const FieldWords& plain);

/// w and g of a call in Montgomery form. Errors: invalid_argument - as weft::ntt; `function` opens the text.
struct NttScalars {
    FieldWords root{}, coset{};
    bool has_coset = false;  ///< g is not 1
};
NttScalars ntt_scalars(const std::string& function, Field field, std::uint32_t log_size, FieldForm form,
                       const ConstHostArray& root, const ConstHostArray& coset);

}  // namespace weft::kernels
