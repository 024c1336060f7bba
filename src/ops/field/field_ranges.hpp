// SPDX-License-Identifier: Apache-2.0
// Checks of operations on resident field vectors, whoever's memory they lie in. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <weft/ops/field.hpp>

namespace weft::kernels {

/// A range of device memory: bytes [offset, offset + bytes) of `memory`, which is null where there is none.
struct FieldRange {
    const void* memory = nullptr;
    std::uint64_t offset = 0, bytes = 0;
    std::uint32_t limb_bytes = 0;
};

/// "field_to_montgomery"
std::string field_function(FieldOp op);

/// Errors: invalid_argument - as field_apply; nothing is recorded then.
void check_field_ranges(const FieldInfo& field, FieldOp op, const FieldRange& a, const FieldRange& b,
                        const FieldRange& out, std::span<const std::uint64_t> scalar);

}  // namespace weft::kernels
