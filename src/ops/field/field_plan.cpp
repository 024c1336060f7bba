// SPDX-License-Identifier: Apache-2.0
// Also completes weft/ops/field.hpp: names and shapes of operations.
#include "ops/field/field_plan.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include <weft/error.hpp>

#include "base/enums.hpp"

namespace weft {

const char* to_string(FieldOp op) noexcept {
    return core::enum_name<FieldOp::inner_product>(
        op, {"add", "sub", "neg", "mul", "square", "inverse", "to-montgomery", "from-montgomery", "axpy",
             "sum", "inner-product"});
}

bool takes_b(FieldOp op) noexcept {
    return op == FieldOp::add || op == FieldOp::sub || op == FieldOp::mul || op == FieldOp::axpy ||
           op == FieldOp::inner_product;
}

bool is_reduction(FieldOp op) noexcept {
    return op == FieldOp::sum || op == FieldOp::inner_product;
}

}  // namespace weft

namespace weft::kernels {
namespace {

bool multiplies(FieldOp op) {
    return op != FieldOp::add && op != FieldOp::sub && op != FieldOp::neg && op != FieldOp::sum;
}

FieldShader plan_shader(const DeviceInfo& device, const FieldInfo& field, FieldOp op, FieldShader wanted) {
    if (wanted == FieldShader::limbs64 && !device.shader_int64)
        throw Error(Errc::unsupported, "field_program: limbs64 needs shaderInt64 (got " + device.name +
                                           " without it, need FieldShader::limbs32)");
    if (field.limb_bytes == 4) return FieldShader::limbs32;
    if (wanted != FieldShader::automatic) return wanted;
    // GPUs add 64-bit integers as two 32-bit halves, and memory limits sums in any case, so 32-bit limbs are
    // as fast and need no optional feature. On a CPU's vector units they are 1.6 times faster. But products
    // gain from 64 bits: adding a 32-bit product to a 64-bit sum is one instruction on GPUs and two on CPUs.
    // neg, which moves few bytes for what it computes, gains too: 260 us instead of 295 for 11.2M elements of
    // 48 bytes on an H200.
    const bool wide = multiplies(op) || op == FieldOp::neg;
    return wide && device.shader_int64 ? FieldShader::limbs64 : FieldShader::limbs32;
}

std::uint32_t plan_size(const DeviceInfo& device, const FieldInfo& field, FieldOp op, std::uint32_t wanted) {
    std::uint32_t fits = std::bit_floor(
        std::max(std::min(device.limits.max_workgroup_size[0], device.limits.max_workgroup_invocations), 1u));
    // Reductions keep an element of each invocation in shared memory, of which every device has 16 KiB.
    if (is_reduction(op)) fits = std::min(fits, 256u);
    if (wanted != 0) {
        if (!std::has_single_bit(wanted) || wanted > fits)
            throw Error(Errc::invalid_argument, "field_program: no such workgroup size (got " +
                                                    std::to_string(wanted) + ", need a power of two up to " +
                                                    std::to_string(fits) + ")");
        return wanted;
    }
    // Each workgroup of a reduction ends with a sum, whose cost on a CPU grows with the invocations.
    if (is_reduction(op))
        return std::min(device.type == DeviceType::cpu ? 32u : field.element_bytes <= 8 ? 256u : 128u, fits);
    // A CPU runs the invocations of a workgroup one after the other, so a workgroup must be large enough to
    // be worth a thread. With elements of one or two words, a small workgroup has too little to do on any
    // device.
    if (device.type == DeviceType::cpu || field.element_bytes <= 8) return std::min(kFieldLocalSize, fits);
    // On an H100, workgroups of one subgroup with one element an invocation were fastest among all workgroup
    // sizes and loops (4M elements, relative to a stream of the same bytes: 1.03; workgroups of 256: 0.96;
    // loops of any length: 0.83 to 0.95).
    const std::uint32_t subgroup = std::clamp(device.limits.subgroup_size, 32u, 64u);
    return std::min(multiplies(op) ? 64u : subgroup, fits);
}

// Elements of an invocation: kEach of the shaders; for inverses, up to kBatch while the device stays full.
std::uint32_t plan_share(const DeviceInfo& device, const FieldInfo& field, FieldOp op,
                         std::uint64_t elements) {
    if (op != FieldOp::inverse) return field.element_bytes == 4 ? 4 : field.element_bytes == 8 ? 2 : 1;
    const std::uint32_t most = field.element_bytes == 4 ? 8 : 32;
    const std::uint64_t invocations = device.type == DeviceType::cpu ? 512 : 65536;
    if (elements == 0) return most;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(elements / invocations, 1, most));
}

// kShareEach of the shaders.
std::uint32_t share_each(const FieldInfo& field) {
    return field.element_bytes == 4 ? 8 : field.element_bytes == 8 ? 4 : 2;
}

}  // namespace

const shared::FieldConstants& field_constants(Field field) {
    return shared::kFieldTable[static_cast<std::size_t>(field_info(field).field)];
}

FieldProducts plan_products(const shared::FieldConstants& f, FieldOp op, FieldForm form) {
    static constexpr shared::FieldWords kOne{{1}};
    const bool plain = form == FieldForm::plain;
    switch (op) {
        case FieldOp::mul:
        case FieldOp::square:
            return {&f.r_squared, plain ? 2u : 1u};
        case FieldOp::inverse:
            return {plain ? &f.r_inverse : &f.r};
        case FieldOp::to_montgomery:
            return {&f.r_squared};
        case FieldOp::from_montgomery:
            return {&kOne};
        case FieldOp::inner_product:
            return {plain ? &f.plain_total : &f.montgomery_total};
        default:
            return {};
    }
}

FieldPlan plan_field(const DeviceInfo& device, const FieldInfo& field, FieldOp op, std::uint64_t elements,
                     const FieldOptions& options) {
    FieldPlan plan;
    plan.shader = plan_shader(device, field, op, options.shader);
    // The shaders loop only if the workgroups do not fit the x axis.
    plan.max_workgroups = std::max(device.limits.max_workgroup_count[0], 1u);
    plan.local_size = plan_size(device, field, op, options.workgroup_size);
    if (is_reduction(op)) {
        plan.elements_per_workgroup = 1;
        return plan;
    }
    plan.elements_per_workgroup = plan.local_size * plan_share(device, field, op, elements);
    return plan;
}

std::string field_method(const FieldInfo& field, const FieldPlan& plan) {
    if (field.limb_bytes == 4) return {};
    return plan.shader == FieldShader::limbs64 ? "limbs64" : "limbs32";
}

std::uint32_t plan_field_shares(const DeviceInfo& device, const FieldInfo& field, FieldOp op,
                                std::uint64_t elements, const FieldOptions& options) {
    const std::uint64_t row =
        std::uint64_t{plan_size(device, field, op, options.workgroup_size)} * share_each(field);
    const auto rounded_up = [&](std::uint64_t share) { return (elements + share - 1) / share; };
    // Workgroups take about equally long, so they must fill the processors evenly: on an H100 with 132
    // processors, 4 or 6 on each were fastest for the sizes above, and 5 and 8 were far slower. A workgroup
    // with less than two rounds of work would do little more than add the totals of its invocations.
    const bool six = field.element_bytes == 48 || (field.element_bytes == 32 && op == FieldOp::sum);
    const std::uint64_t most = device.type == DeviceType::cpu ? 32 : six ? 6 * 132 : 4 * 132;
    const std::uint64_t shares = options.block_elements != 0
                                     ? std::min(rounded_up(options.block_elements), rounded_up(row))
                                     : std::min(most, rounded_up(2 * row));
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(shares, 1));
}

}  // namespace weft::kernels
