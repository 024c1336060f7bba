// SPDX-License-Identifier: Apache-2.0
// Single field elements on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include <weft/ops/field.hpp>

#include "shaders/field/field_table.h"

namespace weft::kernels {

using shared::FieldWords;

/// Element `index` of an array in memory as its 32-bit words, and back.
FieldWords to_words(const FieldInfo& field, const void* array, std::size_t index);
void from_words(const FieldInfo& field, const FieldWords& words, void* array);

/// a + b mod p, and a * b / R mod p, for a and b below p.
FieldWords add_on_host(Field field, const FieldWords& a, const FieldWords& b);
FieldWords montgomery_on_host(Field field, const FieldWords& a, const FieldWords& b);

/// Whether the element, in memory of any alignment, is below p. The top word decides for all but one value in
/// 2^27 or more, so a scan of many elements runs at the speed of memory.
inline bool is_canonical(const shared::FieldConstants& f, const void* element) {
    for (std::size_t i = f.words; i-- > 0;) {
        std::uint32_t word;
        std::memcpy(&word, static_cast<const std::byte*>(element) + i * sizeof word, sizeof word);
        if (word != f.p.word[i]) return word < f.p.word[i];
    }
    return false;
}

/// "0x..." with as many digits as an element has.
std::string hex(Field field, const FieldWords& words);

/// The words by which axpy multiplies each element. Errors: invalid_argument - `scalar` has limbs of another
/// type, is not one element, or is not below p; `place` begins the text.
FieldWords axpy_words(const std::string& place, Field field, FieldForm form, const ConstHostArray& scalar);

}  // namespace weft::kernels
