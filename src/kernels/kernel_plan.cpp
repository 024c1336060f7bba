// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_plan.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>

#include <weft/error.hpp>

namespace weft::kernels {
namespace {

std::string number(std::uint64_t value) {
    return std::to_string(value);
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
    return (value + step - 1) / step * step;
}

// Rows of K that one dispatch writes: bound whole, counted in 32 bits, whole tiles, and starting where any
// device lets a binding start.
std::uint64_t rows_within(const KernelPlan& plan, std::uint64_t bytes) {
    constexpr std::uint64_t kMostValues = std::uint64_t{1} << 31;
    const std::uint64_t columns = plan.shape.columns();
    const std::uint64_t rows = std::min(bytes / plan.real_bytes(), kMostValues) / columns;
    return std::min(plan.shape.samples, rows < kProductTile ? rows : rows / kProductTile * kProductTile);
}

void plan_product(KernelPlan& plan, const KernelDevice& device) {
    // Enough for the device's copies; more would begin later and taper worse.
    constexpr std::uint64_t kJobBytes = std::uint64_t{48} << 20;
    plan.parts = 2;
    plan.stride = round_up(plan.shape.samples + plan.shape.others, 4);
    plan.long_form = !plan.work64 && plan.shape.qubits > kLongQubits;
    // A binding may have to start before what is meant.
    const std::uint64_t range = device.limits.max_storage_buffer_range -
                                std::max<std::uint64_t>(device.limits.storage_buffer_offset_alignment, 8);
    plan.symmetric = plan.shape.square() && plan.matrix_bytes() <= range;
    plan.panel_rows = rows_within(plan, range);
    plan.job_rows = std::max(rows_within(plan, std::min(kJobBytes, range)),
                             std::min<std::uint64_t>(kProductTile, rows_within(plan, range)));
}

std::string gigabytes(std::uint64_t bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g GB", static_cast<double>(bytes) * 1e-9);
    return text;
}

// Why K does not depend on some layers.
std::string layers_reason(const KernelPlan& plan, const CircuitFacts& circuit) {
    if (circuit.given) return "states are given: their inner products are all there is to do";
    if (circuit.layers == 0) return "no layers: K is a product over the qubits, in closed form";
    if (!circuit.reupload)
        return "without re-upload all " + number(circuit.layers) +
               " layers cancel: K is a product over the qubits, in closed form";
    if (circuit.layers == 1)
        return "the last layer cancels, which is the only one: K is a product over the qubits, in closed "
               "form";
    return "the last of " + number(circuit.layers) + " layers cancels; " + number(plan.layers) +
           (plan.layers == 1 ? " layer matters" : " layers matter");
}

void estimate_product(KernelEstimate& e, const KernelPlan& plan, const KernelDevice& device) {
    const std::uint64_t planes = plan.planes_values() * plan.real_bytes();
    e.resident_bytes = planes;
    // Planes and output of a job, and the features while planes are made of them; a few jobs are under way.
    constexpr std::uint64_t kJobsUnderWay = 4;
    const std::uint64_t job = plan.job_rows * plan.shape.columns() * plan.real_bytes();
    e.streamed_bytes = kJobsUnderWay * (planes + job);
    e.pair_flops = static_cast<double>(plan.shape.qubits) * (3 * plan.parts + 1);
    e.reasons.push_back("2 numbers a qubit and sample, " + gigabytes(planes) + " in all");
    const std::uint64_t most =
        std::min(device.limits.max_storage_buffer_range, device.limits.max_buffer_bytes);
    const bool bound = planes <= most && plan.job_rows != 0;
    e.resident_fits = bound && e.resident_bytes <= e.available_bytes;
    e.streamed_fits = bound && e.streamed_bytes <= e.available_bytes;
    if (planes > most)
        e.reasons.push_back("does not fit: the numbers take " + gigabytes(planes) +
                            ", and one binding of this device holds " + gigabytes(most));
    else if (plan.job_rows == 0)
        e.reasons.push_back("does not fit: a row of K takes " +
                            gigabytes(plan.shape.columns() * plan.real_bytes()) +
                            ", and one binding of this device holds " + gigabytes(most));
}

}  // namespace

std::uint32_t layers_that_matter(const CircuitFacts& circuit) noexcept {
    return circuit.given || !circuit.reupload || circuit.layers == 0 ? 0 : circuit.layers - 1;
}

std::uint64_t state_tile_of(std::uint64_t available_bytes, std::uint64_t state_bytes) {
    return std::bit_floor(available_bytes / state_bytes);
}

KernelPlan plan_kernel(const KernelDevice& device, const KernelShape& shape, const CircuitFacts& circuit,
                       ValueType type, const KernelMatrixOptions& options) {
    KernelPlan plan;
    plan.shape = shape;
    plan.type = type;
    plan.work64 = type == ValueType::float64;
    if (plan.work64 && !device.shader_float64)
        throw Error(Errc::unsupported,
                    "kernel_matrix: the device lacks shaderFloat64 (got float64, need float32)");
    plan.layers = layers_that_matter(circuit);
    plan.method = circuit.given || plan.layers != 0 ? KernelMethod::states : KernelMethod::product;
    if (plan.method == KernelMethod::product) {
        plan_product(plan, device);
        plan.parts = circuit.map == KernelMap::ryrz ? 3 : 2;
    }
    static_cast<void>(options);
    return plan;
}

KernelEstimate estimate_kernel(const KernelPlan& plan, const KernelDevice& device,
                               const CircuitFacts& circuit, const KernelMatrixOptions& options) {
    KernelEstimate e;
    e.method = plan.method;
    e.layers = plan.layers;
    e.work64 = plan.work64;
    e.pairs = plan.shape.pairs();
    e.state_tile = plan.state_tile;
    e.bulk_states = plan.bulk_states;
    e.matrix_bytes = plan.matrix_bytes();
    e.available_bytes =
        static_cast<std::uint64_t>(options.vram_fraction * static_cast<double>(device.budget_bytes));
    e.reasons.push_back(layers_reason(plan, circuit));
    e.reasons.push_back(plan.work64 ? "float64 arithmetic, as K is float64"
                                    : "float32 arithmetic, as K is float32");
    if (plan.method == KernelMethod::product) estimate_product(e, plan, device);
    if (!e.streamed_fits && e.streamed_bytes > e.available_bytes)
        e.reasons.push_back("does not fit: needs " + gigabytes(e.streamed_bytes) + " of device memory, " +
                            gigabytes(e.available_bytes) + " of " + gigabytes(device.budget_bytes) +
                            " may be used");
    return e;
}

}  // namespace weft::kernels
