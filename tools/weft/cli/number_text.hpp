// SPDX-License-Identifier: Apache-2.0
// Numbers that people type. All are read here: whole words, decimal, finite and within bounds.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace weft::tool {

template <class T>
std::string plain_text(T value);  ///< as a person would type it

/// The bounds of a number, and the text that describes them.
template <class T>
struct Bounds {
    T least = std::numeric_limits<T>::lowest(), most = std::numeric_limits<T>::max();
    std::string text = plain_text(least) + " to " + plain_text(most);
};

/// The number that the whole of `word` spells: digits, and for fractions also a point and an exponent; no
/// sign but '-', no spaces, no other base. T is one of the types below. Errors: std::invalid_argument - "what
/// is wrong (got X, need Y)".
template <class T>
T parse_number(std::string_view word, const Bounds<T>& bounds);

}  // namespace weft::tool
