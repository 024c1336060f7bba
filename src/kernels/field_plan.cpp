// SPDX-License-Identifier: Apache-2.0
#include "kernels/field_plan.hpp"

#include <algorithm>
#include <bit>

#include <weft/error.hpp>

namespace weft {

const char* to_string(FieldOp op) noexcept {
    switch (op) {
        case FieldOp::add:
            return "add";
        case FieldOp::sub:
            return "sub";
        case FieldOp::neg:
            return "neg";
    }
    return "unknown";
}

namespace kernels {

FieldPlan plan_field(const DeviceInfo& device, FieldShader wanted) {
    if (wanted == FieldShader::limbs64 && !device.shader_int64)
        throw Error(Errc::unsupported, "field_program: limbs64 needs shaderInt64 (got " + device.name +
                                           " without it, need FieldShader::limbs32)");
    FieldPlan plan;
    // GPUs add 64-bit integers as two 32-bit halves, and the sum is bound by memory either way: 32-bit limbs
    // lose nothing and need no optional feature. On a CPU's vector units they are 1.6 times faster.
    plan.shader = wanted == FieldShader::automatic ? FieldShader::limbs32 : wanted;
    const std::uint32_t fits = std::min(device.limits.max_group_size[0], device.limits.max_group_invocations);
    // One subgroup a workgroup and one element an invocation came first among loops and group sizes on an
    // H100 (4M elements, beside a stream of the same bytes in turns: 1.03 of it; groups of 256: 0.96; loops
    // of any length: 0.83 to 0.95). A CPU runs a group's invocations in turn, so there a group must be worth
    // handing to a thread.
    const std::uint32_t wanted_size =
        device.type == DeviceType::cpu ? kFieldLocalSize : std::clamp(device.limits.subgroup_size, 32u, 64u);
    plan.local_size = std::min(wanted_size, std::bit_floor(std::max(fits, 1u)));
    // Only what does not fit the x axis loops.
    plan.max_groups = std::max(device.limits.max_group_count[0], 1u);
    return plan;
}

}  // namespace kernels
}  // namespace weft
