// SPDX-License-Identifier: Apache-2.0
#include "cli/number_text.hpp"

#include <charconv>
#include <cmath>
#include <stdexcept>
#include <system_error>
#include <type_traits>

namespace weft::tool {

template <class T>
std::string plain_text(T value) {
    char text[64];
    const std::to_chars_result end = std::to_chars(text, text + sizeof text, value);
    return {text, end.ptr};
}

template <class T>
T parse_number(std::string_view word, const Bounds<T>& bounds) {
    const auto refuse = [&](const char* what) {
        throw std::invalid_argument(std::string(what) + " (got " +
                                    (word.empty() ? "nothing" : std::string(word)) + ", need " + bounds.text +
                                    ")");
    };
    T value{};
    const std::from_chars_result read = std::from_chars(word.data(), word.data() + word.size(), value);
    // from_chars does not accept a minus before an unsigned number, but for people it is part of the number.
    if (std::is_unsigned_v<T> && word.size() > 1 && word[0] == '-' &&
        word.find_first_not_of("0123456789", 1) == std::string_view::npos)
        refuse("out of range");
    if (read.ec == std::errc::invalid_argument || read.ptr != word.data() + word.size())
        refuse(std::is_integral_v<T> ? "not a whole number" : "not a number");
    if (read.ec != std::errc{}) refuse("out of range");
    if constexpr (std::is_floating_point_v<T>)
        if (!std::isfinite(value)) refuse("not a finite number");
    if (!(value >= bounds.least && value <= bounds.most)) refuse("out of range");
    return value;
}

#define WEFT_NUMBER(T)                     \
    template std::string plain_text<T>(T); \
    template T parse_number<T>(std::string_view, const Bounds<T>&);
WEFT_NUMBER(int)
WEFT_NUMBER(std::int64_t)
WEFT_NUMBER(std::uint32_t)
WEFT_NUMBER(std::uint64_t)
WEFT_NUMBER(float)
WEFT_NUMBER(double)
#undef WEFT_NUMBER

}  // namespace weft::tool
