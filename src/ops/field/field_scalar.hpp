// SPDX-License-Identifier: Apache-2.0
// Single field elements on the host: what is too little for a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <weft/ops/field.hpp>

#include "shaders/field/field_table.h"

namespace weft::kernels {

using shared::FieldWords;

/// Errors: invalid_argument - no such field.
const shared::FieldConstants& field_constants(Field field);

/// Element `index` of an array in memory as its 32-bit words, and back.
FieldWords to_words(const FieldInfo& field, const void* array, std::size_t index);
void from_words(const FieldInfo& field, const FieldWords& words, void* array);

/// a + b mod p, and a * b / R mod p, for a and b below p.
FieldWords add_on_host(Field field, const FieldWords& a, const FieldWords& b);
FieldWords montgomery_on_host(Field field, const FieldWords& a, const FieldWords& b);

/// a < p
bool is_canonical(Field field, const FieldWords& a);

/// "0x..." with as many digits as an element has.
std::string hex(Field field, const FieldWords& words);

/// The words that multiply each element of axpy by `scalar`. Errors: invalid_argument - limbs of another
/// type, not one element, or not below p; `place` opens the text.
FieldWords axpy_words(const std::string& place, Field field, FieldForm form, const ConstHostArray& scalar);

}  // namespace weft::kernels
