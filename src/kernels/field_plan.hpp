// SPDX-License-Identifier: Apache-2.0
// Which field shader a device gets and in what shape it is launched: a pure function.
#pragma once

#include <cstdint>

#include <weft/device.hpp>
#include <weft/field.hpp>

namespace weft::kernels {

/// Workgroup size built into the field shaders; any other is set by specialization constant 0.
inline constexpr std::uint32_t kFieldLocalSize = 256;

struct FieldPlan {
    FieldShader shader = FieldShader::limbs32;  ///< never automatic
    std::uint32_t local_size = kFieldLocalSize;
    std::uint32_t max_groups = 0;  ///< as in ProgramOptions; the shaders loop
};

/// Errors: unsupported - limbs64 wanted on a device without shaderInt64.
FieldPlan plan_field(const DeviceInfo& device, FieldShader wanted);

}  // namespace weft::kernels
