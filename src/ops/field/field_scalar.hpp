// SPDX-License-Identifier: Apache-2.0
// Single field elements on the host: what is too little for a device.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <weft/ops/field.hpp>

#include "shaders/field/field_table.h"

namespace weft::kernels {

using shared::FieldWords;

/// Errors: invalid_argument - no such field.
const shared::FieldConstants& field_constants(Field field);

/// Elements to 32-bit words and back; `limbs` holds as many limbs as the field asks for.
FieldWords to_words(std::span<const std::uint64_t> limbs);
FieldWords to_words(std::span<const std::uint32_t> limbs);
void from_words(const FieldWords& words, std::span<std::uint64_t> limbs);
void from_words(const FieldWords& words, std::span<std::uint32_t> limbs);

/// a + b mod p, and a * b / R mod p, for a and b below p.
FieldWords add_on_host(Field field, const FieldWords& a, const FieldWords& b);
FieldWords montgomery_on_host(Field field, const FieldWords& a, const FieldWords& b);

/// a < p
bool is_canonical(Field field, const FieldWords& a);

/// "0x..." with as many digits as an element has.
std::string hex(Field field, const FieldWords& words);

/// The words that multiply each element of axpy by `scalar`. Errors: invalid_argument - not one element, or
/// not below p; `where` opens the text.
FieldWords axpy_words(const std::string& where, Field field, FieldForm form,
                      std::span<const std::uint64_t> scalar);
FieldWords axpy_words(const std::string& where, Field field, FieldForm form,
                      std::span<const std::uint32_t> scalar);

}  // namespace weft::kernels
