// SPDX-License-Identifier: Apache-2.0
// Structs that begin with their size, from and to programs with another version of the header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "capi/status.hpp"

namespace weft::capi {

/// A member of a struct with more bytes than the struct's alignment, in which no version can have ended.
struct Whole {
    std::size_t first, bytes;
};
/// What the sizes of a struct can be in any version: it ends behind a member, and all of them are aligned.
struct Layout {
    std::size_t known, alignment;
    std::span<const Whole> wholes;
};
/// Wholes of a struct, by specialization (structs.cpp has those of the header).
template <class T>
std::span<const Whole> wholes_of() {
    return {};
}
template <>
std::span<const Whole> wholes_of<weft_program_options>();
template <>
std::span<const Whole> wholes_of<weft_program_info>();
template <>
std::span<const Whole> wholes_of<weft_report>();
template <>
std::span<const Whole> wholes_of<weft_field_info>();
template <>
std::span<const Whole> wholes_of<weft_ntt_options>();
template <>
std::span<const Whole> wholes_of<weft_kernel_circuit>();
template <>
std::span<const Whole> wholes_of<weft_kernel_store_info>();
template <>
std::span<const Whole> wholes_of<weft_kernel_solve_report>();
template <>
std::span<const Whole> wholes_of<weft_estimate>();
template <>
std::span<const Whole> wholes_of<weft_profile_report>();
template <class T>
Layout layout_of() {
    static_assert(std::is_trivially_copyable_v<T> && offsetof(T, size) == 0);
    return {sizeof(T), alignof(T), wholes_of<T>()};
}

/// What this library knows of a struct of the caller, zeros where it is shorter. `name` is that of the
/// struct. Errors: invalid_argument - a size that cannot be, or a longer struct in which not everything else
/// is 0.
void read_struct(const char* function, const char* name, const void* source, void* target,
                 const Layout& layout);
/// The same in the other direction: fills the `size` bytes that the caller has. Errors: invalid_argument.
void write_struct(const char* function, const char* name, const void* source, void* target,
                  const Layout& layout);
/// Before the work: whether the caller's struct can be written. NULL is legal. Errors: invalid_argument.
void check_struct(const char* function, const char* name, const void* target, const Layout& layout);
/// Errors: invalid_argument - not 0.
void require_reserved(const char* function, const char* name, std::uint32_t reserved);

/// The options of a call; NULL gives zeros.
template <class T>
T read_options(const char* function, const char* name, const T* source) {
    T options{};
    if (source != nullptr) read_struct(function, name, source, &options, layout_of<T>());
    if constexpr (requires { options.reserved; }) require_reserved(function, name, options.reserved);
    return options;
}
/// A report into the memory of the caller. The sizes that it had are kept.
template <class T>
void write_report(const char* function, const char* name, const T& report, T* target) {
    write_struct(function, name, &report, &given(function, name, target), layout_of<T>());
}
template <class T>
void check_size(const char* function, const char* name, const T* target) {
    check_struct(function, name, target, layout_of<T>());
}

/// `text` in an array of the struct, cut where it is too long.
template <std::size_t n>
void put_text(char (&target)[n], std::string_view text) {
    const std::size_t length = std::min(text.size(), n - 1);
    std::memcpy(target, text.data(), length);
    std::memset(target + length, 0, n - length);
}

/// The value of an enumeration of the C++ API, for one of `count` numbers in its order. Errors:
/// invalid_argument.
template <class Enum>
Enum enum_of(const char* function, const char* name, std::uint32_t value, std::uint32_t count) {
    if (value >= count)
        refuse(std::string(function) + ": " + name + ": no such value (got " + std::to_string(value) +
               ", need 0 to " + std::to_string(count - 1) + ")");
    return static_cast<Enum>(value);
}
/// The same for another order: `values[value]`.
template <class Enum, std::size_t n>
Enum enum_of(const char* function, const char* name, std::uint32_t value, const Enum (&values)[n]) {
    return values[enum_of<std::uint32_t>(function, name, value, static_cast<std::uint32_t>(n))];
}
/// Errors: invalid_argument - neither 0 nor 1.
bool flag_of(const char* function, const char* name, std::uint32_t value);

/// "" for NULL.
inline std::string text_of(const char* text) {
    return text == nullptr ? std::string() : std::string(text);
}

}  // namespace weft::capi
