// SPDX-License-Identifier: Apache-2.0
// What a field is made of, which field shader a device gets, and how that shader is launched. Pure.
#pragma once

#include <cstdint>
#include <string>

#include <weft/device.hpp>
#include <weft/ops/field.hpp>

#include "shaders/field/field_table.h"

namespace weft::kernels {

/// Workgroup size built into the element-wise field shaders; any other is set by specialization constant 0.
inline constexpr std::uint32_t kFieldLocalSize = 256;
/// Elements of a block of a streamed reduction. The host adds the totals of the blocks.
inline constexpr std::uint32_t kFieldStreamedBlock = 4096;

struct FieldPlan {
    FieldShader shader = FieldShader::limbs32;  ///< never automatic
    std::uint32_t local_size = kFieldLocalSize;
    std::uint32_t elements_per_workgroup = kFieldLocalSize;  ///< as in ProgramOptions; for reductions, blocks
    std::uint32_t max_workgroups = 0;                        ///< as in ProgramOptions; the shaders loop
};

/// Errors: invalid_argument - no such field.
const shared::FieldConstants& field_constants(Field field);

/// The passes of an operation, and the number that the last pass multiplies by; null if there is none.
struct FieldProducts {
    const shared::FieldWords* factor = nullptr;
    std::uint32_t passes = 1;
};
FieldProducts plan_products(const shared::FieldConstants& f, FieldOp op, FieldForm form);

/// `elements` of one call; 0 if they are not known. Errors: unsupported - limbs64 wanted on a device without
/// shaderInt64; invalid_argument - a workgroup size that is no power of two, or beyond the device.
FieldPlan plan_field(const DeviceInfo& device, const FieldInfo& field, FieldOp op, std::uint64_t elements,
                     const FieldOptions& options);

/// OpReport::method: the shader, "limbs32" or "limbs64"; empty for fields that have only one.
std::string field_method(const FieldInfo& field, const FieldPlan& plan);

/// Workgroups of a resident reduction, each with elements to add up; one or more. Errors: as plan_field.
std::uint32_t plan_field_shares(const DeviceInfo& device, const FieldInfo& field, FieldOp op,
                                std::uint64_t elements, const FieldOptions& options);

}  // namespace weft::kernels
