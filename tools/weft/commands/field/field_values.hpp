// SPDX-License-Identifier: Apache-2.0
// What the commands on field elements have in common: names of fields, numbers in options, and values of
// files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <weft/ops/field_info.hpp>

#include "arrays/array_input.hpp"

namespace weft::tool {

/// Adds --field, whose default is the value of `name`.
CLI::Option* add_field_name(CLI::App& command, std::string& name);

/// "0x1a01...", as many digits as the limbs have.
std::string hex(std::span<const std::uint64_t> limbs);
std::string hex(std::span<const std::uint32_t> limbs);
std::string hex_modulus(const FieldInfo& field);

/// 64-bit limbs, least significant first, and zeros up to 384 bits; empty: the option was not given.
using FieldNumber = std::vector<std::uint64_t>;
/// An option that takes a number, decimal or 0x and hexadecimal digits.
CLI::Option* add_field_number(CLI::App& command, const std::string& name, FieldNumber& number,
                              const std::string& text);
/// Call it before the number is cut to the limbs of the field, which would hide that it is too large. Errors:
/// Failure with Exit::usage - not below p.
void require_canonical(const char* option, const FieldInfo& field, const FieldNumber& number);
template <class Limb>
std::vector<Limb> field_limbs(const FieldInfo& field, const FieldNumber& number) {
    std::vector<Limb> limbs;
    for (std::size_t i = 0; i < field.limbs && !number.empty(); ++i)
        limbs.push_back(static_cast<Limb>(number[i]));
    return limbs;
}

/// The library checks values too, but it does not know the file. `axes` are those of the shape that count
/// elements. Errors: Failure with Exit::usage - a value that is not below p; the text has its place.
template <class Limb>
void require_canonical(const ArrayInput& input, std::span<const Limb> values, const FieldInfo& field,
                       std::size_t axes);

}  // namespace weft::tool
