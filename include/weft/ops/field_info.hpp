// SPDX-License-Identifier: Apache-2.0
// The prime fields, and how their elements lie in memory.
//
// Example:
//     for (const weft::FieldInfo& info : weft::fields()) std::puts(info.name.data());
//     const std::uint32_t limbs = weft::field_info(weft::Field::bls12_381_fp).limbs;
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace weft {

enum class Field {
    bls12_381_fp,
    bls12_381_fr,
    bn254_fp,
    bn254_fr,
    bls12_377_fp,
    bls12_377_fr,
    stark252,
    goldilocks,
    babybear,
    koalabear,
    mersenne31,
};

/// How elements of a field lie in memory: limbs, least significant first, elements one after the other.
struct FieldInfo {
    Field field = Field::bls12_381_fp;
    std::string_view name;                   ///< "bls12-381-fp"
    std::uint32_t bits = 0;                  ///< of the modulus p
    std::uint32_t limbs = 0;                 ///< of an element
    std::uint32_t limb_bytes = 0;            ///< 8, or 4 for the fields of 31 bits
    std::uint32_t element_bytes = 0;         ///< limbs * limb_bytes
    const char* dtype = "";                  ///< of a limb, in NumPy's notation: "<u8" or "<u4"
    std::array<std::uint64_t, 6> modulus{};  ///< 64-bit limbs, least significant first, then zeros
};

/// All fields, in the order of the enumeration.
std::span<const FieldInfo> fields() noexcept;
/// Errors: invalid_argument - no such field.
const FieldInfo& field_info(Field field);
std::optional<Field> find_field(std::string_view name) noexcept;
const char* to_string(Field field) noexcept;

inline constexpr std::size_t kBls12381FpLimbs = 6;  ///< 64-bit limbs of one element of bls12-381-fp

}  // namespace weft
