// SPDX-License-Identifier: Apache-2.0
// Numbers that people type: read here and nowhere else, whole words, decimal, finite and within bounds.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace weft::tool {

template <class T>
std::string plain_text(T value);  ///< as people would type it

/// What a number may be, and how to say so.
template <class T>
struct Bounds {
    T least = std::numeric_limits<T>::lowest(), most = std::numeric_limits<T>::max();
    std::string text = plain_text(least) + " to " + plain_text(most);
};

/// The number that `word` is from its first character to its last: digits, of fractions also a point and an
/// exponent; no sign but '-', no spaces, no other base. Of the types below.
/// Errors: std::invalid_argument - "what is wrong (got X, need Y)".
template <class T>
T parse_number(std::string_view word, const Bounds<T>& bounds);

}  // namespace weft::tool
