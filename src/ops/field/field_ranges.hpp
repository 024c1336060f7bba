// SPDX-License-Identifier: Apache-2.0
// Names in error texts, and checks of operations on resident field vectors in memory of any API. Pure.
#pragma once

#include <cstdint>
#include <string>

#include <weft/ops/field.hpp>

namespace weft::kernels {

/// "field_to_montgomery"
std::string field_function(FieldOp op);

/// What limbs of the field are: kUint64, or kUint32 for the fields of 31 bits.
ElementType limb_type(const FieldInfo& field);
/// "a has float32 elements (got float32, need uint64 limbs of bn254-fr)"
std::string wrong_limbs(const FieldInfo& field, const char* name, ElementType got);

/// A range of device memory: bytes [offset, offset + bytes) of `memory`, which is null where there is none.
struct FieldRange {
    const void* memory = nullptr;
    std::uint64_t offset = 0, bytes = 0;
    ElementType type{};
};

/// `options`: block_elements is refused for operations that are no reduction. Errors: invalid_argument - as
/// field_apply; nothing is recorded then.
void check_field_ranges(const FieldInfo& field, FieldOp op, const FieldRange& a, const FieldRange& b,
                        const FieldRange& out, const ConstHostArray& scalar, const FieldOptions& options);

}  // namespace weft::kernels
