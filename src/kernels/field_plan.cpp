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
namespace {

// 16 groups for each of the 132 multiprocessors of the largest GPU measured: enough to fill it, few enough
// that each invocation loops and has the next element's loads in flight (2760 against 2360 GB/s with one
// element an invocation). A smaller GPU runs the same groups in more waves and loses nothing.
constexpr std::uint32_t kMaxGroups = 132 * 16;

}  // namespace

FieldPlan plan_field(const DeviceInfo& device, FieldShader wanted) {
    if (wanted == FieldShader::limbs64 && !device.shader_int64)
        throw Error(Errc::unsupported, "field_program: limbs64 needs shaderInt64 (got " + device.name +
                                           " without it, need FieldShader::limbs32)");
    FieldPlan plan;
    // GPUs add 64-bit integers as two 32-bit halves, and the sum is bound by memory either way: 32-bit limbs
    // lose nothing and need no optional feature. On a CPU's vector units they are 1.6 times faster.
    plan.shader = wanted == FieldShader::automatic ? FieldShader::limbs32 : wanted;
    const std::uint32_t fits = std::min(device.limits.max_group_size[0], device.limits.max_group_invocations);
    plan.local_size = std::min(kFieldLocalSize, std::bit_floor(std::max(fits, 1u)));
    // A CPU runs a group's invocations in turn, each through its whole loop: strided over memory that way,
    // long loops cost up to 2.5 times. There every element gets its invocation.
    plan.max_groups = device.type == DeviceType::cpu
                          ? 0
                          : std::min(kMaxGroups, std::max(device.limits.max_group_count[0], 1u));
    return plan;
}

}  // namespace kernels
}  // namespace weft
