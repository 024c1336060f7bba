// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_matrix/kernel_plan.hpp"

#include <algorithm>

#include <weft/error.hpp>

#include "ops/kernel_matrix/kernel_estimate.hpp"
#include "ops/kernel_matrix/kernel_state_plan.hpp"

namespace weft::kernels {
namespace {

// Rows of K that one dispatch writes: bound whole, counted in 32 bits, and whole tiles where there are as
// many.
std::uint64_t rows_within(const KernelMatrixPlan& plan, std::uint64_t bytes) {
    constexpr std::uint64_t kMostValues = std::uint64_t{1} << 31;
    const std::uint64_t columns = plan.shape.columns();
    const std::uint64_t rows = std::min(bytes / plan.real_bytes(), kMostValues) / columns;
    return std::min(plan.shape.samples, rows < kProductTile ? rows : rows / kProductTile * kProductTile);
}

void plan_product(KernelMatrixPlan& plan, const KernelMatrixDevice& device, const CircuitFacts& circuit,
                  const KernelMatrixOptions& options) {
    // Enough for the device's copies; more would begin later and taper worse.
    constexpr std::uint64_t kJobBytes = std::uint64_t{48} << 20;
    const DeviceLimits& limits = device.gram.limits;
    plan.parts = circuit.map == FeatureMap::ryrz ? 3 : 2;
    plan.long_variant = !plan.real64 && plan.shape.qubits > kLongQubits;
    plan.lane_variant = device.gram.software && device.gram.float64 && !plan.long_variant;
    const std::uint64_t unit = plan.lane_variant ? kLaneSamples : 1;
    plan.others_at = plan.shape.square() ? 0 : (plan.shape.samples + unit - 1) / unit * unit;
    const std::uint64_t end = plan.others_at + plan.shape.columns();
    plan.stride = plan.lane_variant ? (end + unit - 1) / unit * unit : (end + 3) / 4 * 4;
    plan.by_panels = device.gram.software && plan.shape.qubits > kSoftwareJobQubits;
    plan.part_qubits =
        device.gram.software ? std::min(plan.shape.qubits, kSoftwarePartQubits) : plan.shape.qubits;
    // A binding may have to start before what is meant.
    const std::uint64_t range =
        limits.max_storage_buffer_range - std::max<std::uint64_t>(limits.storage_buffer_offset_alignment, 8);
    plan.symmetric = plan.shape.square() && plan.matrix_bytes() <= range;
    plan.panel_rows = rows_within(plan, range);
    plan.job_rows = std::max(rows_within(plan, std::min(kJobBytes, range)),
                             std::min<std::uint64_t>(kProductTile, plan.panel_rows));
    const std::uint64_t available = available_bytes(device, options);
    while (plan.job_rows > 1 && product_memory(plan, device, true) > available) {
        const std::uint64_t half = plan.job_rows / 2;
        plan.job_rows = half < kProductTile ? half : half / kProductTile * kProductTile;
    }
}

}  // namespace

std::uint32_t effective_layers(const CircuitFacts& circuit) noexcept {
    return circuit.given || !circuit.reupload || circuit.layers == 0 ? 0 : circuit.layers - 1;
}

KernelMatrixPlan plan_kernel(const KernelMatrixDevice& device, const KernelMatrixShape& shape, const CircuitFacts& circuit,
                       ElementType type, const KernelMatrixOptions& options) {
    KernelMatrixPlan plan;
    plan.shape = shape;
    plan.type = type;
    plan.real64 = circuit.given ? circuit.given64 : type == kFloat64;
    if ((plan.real64 || type == kFloat64) && !device.gram.float64)
        throw Error(Errc::unsupported,
                    "kernel_matrix: the device lacks shaderFloat64 (got float64, need float32)");
    plan.layers = effective_layers(circuit);
    plan.method = circuit.given || plan.layers != 0 ? KernelMatrixMethod::states : KernelMatrixMethod::product;
    if (plan.method == KernelMatrixMethod::product)
        plan_product(plan, device, circuit, options);
    else
        plan_states(plan, device, circuit, options);
    return plan;
}

KernelMatrixPlan plan_that_fits(const KernelMatrixDevice& device, const KernelMatrixShape& shape, const CircuitFacts& circuit,
                        ElementType type, const KernelMatrixOptions& options) {
    KernelMatrixPlan plan = plan_kernel(device, shape, circuit, type, options);
    const KernelMatrixEstimate estimate = estimate_kernel(plan, device, circuit, options);
    if (circuit.on_host ? !estimate.streamed_fits : !estimate.resident_fits)
        throw Error(Errc::out_of_memory, "kernel_matrix: " + estimate.reasons.back());
    return plan;
}

}  // namespace weft::kernels
