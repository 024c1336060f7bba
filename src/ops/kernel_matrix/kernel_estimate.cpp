// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_matrix/kernel_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "ops/encode/footprint.hpp"

namespace weft::kernels {
namespace {

// With the prefix that shows it: sizes of small jobs stand beside those of large devices.
std::string size_text(std::uint64_t bytes) {
    constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB", "PB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 999.5 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
    char text[32];
    std::snprintf(text, sizeof text, "%.3g %s", value, kUnits[unit]);
    return text;
}

// Why K does not depend on some layers.
std::string layers_reason(const KernelMatrixPlan& plan, const CircuitFacts& circuit) {
    const std::string product = ": K is a product over the qubits, in closed form";
    if (circuit.given) return "states are given: their inner products are all there is to do";
    if (circuit.layers == 0) return "no layers" + product;
    if (!circuit.reupload)
        return "without re-upload all " + std::to_string(circuit.layers) + " layers cancel" + product;
    if (circuit.layers == 1) return "the last layer cancels, which is the only one" + product;
    return "the last of " + std::to_string(circuit.layers) + " layers cancels; " +
           std::to_string(plan.layers) + (plan.layers == 1 ? " layer matters" : " layers matter");
}

// The most bytes of a binding.
std::uint64_t binding_bytes(const DeviceLimits& limits) {
    return std::min(limits.max_storage_buffer_range, limits.max_buffer_bytes);
}

void estimate_product(KernelMatrixEstimate& e, const KernelMatrixPlan& plan, const KernelMatrixDevice& device,
                      const KernelMatrixOptions& options) {
    const std::uint64_t planes = plan.planes_values() * plan.real_bytes(),
                        most = binding_bytes(device.gram.limits);
    e.resident_bytes = product_memory(plan, device, false);
    e.streamed_bytes = product_memory(plan, device, true);
    e.pair_flops = static_cast<double>(plan.shape.qubits) * (plan.rz ? 10 : 7);
    // Every part of the qubits rounds a float once more. Every qubit rounds a double by about 1e-18 on
    // average.
    const double qubits = plan.shape.qubits, parts = std::ceil(qubits / std::max(1u, plan.part_qubits));
    e.error = plan.real64                        ? 1e-12 * std::max(1.0, qubits / 262144)
              : plan.shape.qubits <= kLongQubits ? 2e-6
                                                 : 4e-6 + 6e-8 * (parts - 1);
    e.reasons.push_back("2 numbers a qubit and sample, " + size_text(planes) + " in all");
    e.resident_fits = fits(plan, device, false, options);
    e.streamed_fits = fits(plan, device, true, options);
    if (planes > most)
        e.reasons.push_back("does not fit: the numbers take " + size_text(planes) +
                            ", and one binding of this device holds " + size_text(most));
    else if (plan.job_rows == 0)
        e.reasons.push_back("does not fit: a row of K takes " +
                            size_text(plan.shape.columns() * plan.real_bytes()) +
                            ", and one binding of this device holds " + size_text(most));
}

// How often a tile of `tile` states is made on average: each_tile_pair goes through pairs of tiles and keeps
// a Y of one tile.
double builds_of(const KernelMatrixShape& shape, std::uint64_t tile) {
    const auto x = static_cast<double>(divide_up(shape.samples, tile));
    if (shape.square()) return (x + 1) / 2;
    const auto y = static_cast<double>(divide_up(shape.others, tile));
    return y > 1 ? (x + x * y) / (x + y) : 1;
}

std::string times_text(double times) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g times", times);
    return text;
}

void explain_tiles(KernelMatrixEstimate& e, const KernelMatrixPlan& plan,
                   const KernelMatrixOptions& options) {
    const StatePlan& s = plan.states;
    const std::uint64_t rows = plan.shape.samples + plan.shape.others;
    if (s.bulk) {
        e.reasons.push_back(
            "all " + std::to_string(rows) + " states, " + size_text(e.states_bytes) +
            " packed, are made once" + (options.bulk_states == Choice::on ? ", as asked" : ": they fit") +
            "; in two tiles each would be made " + times_text(builds_of(plan.shape, (s.tile + 1) / 2)));
        return;
    }
    e.reasons.push_back(
        "tiles of " + std::to_string(s.tile) + " states: all would take " + size_text(e.states_bytes) +
        (options.bulk_states == Choice::off ? "; bulk states are off" : "") +
        (e.state_builds > 1 ? "; each is made " + times_text(e.state_builds) + ", with bulk states once"
                            : ""));
}

std::string packing_reason(const KernelMatrixPlan& plan) {
    const StatePlan& s = plan.states;
    const std::uint64_t built = built_bytes(plan);
    const std::string memory =
        built == 0 ? "nothing but packed states" : size_text(built) + " of states in addition to packed ones";
    if (s.fused) return "the last pass packs states for inner products; " + memory;
    return "states are packed by a pass of their own: packed rows lie side by side, and a workgroup holds " +
           std::to_string(s.workgroup_rows) + " of them; " + memory;
}

void estimate_states(KernelMatrixEstimate& e, const KernelMatrixPlan& plan, const KernelMatrixDevice& device,
                     const CircuitFacts& circuit, const KernelMatrixOptions& options) {
    const double amplitudes = std::ldexp(1.0, static_cast<int>(plan.shape.qubits));
    const auto rows = static_cast<double>(plan.shape.samples + plan.shape.others);
    e.pair_flops = 8 * amplitudes;
    e.state_flops = rows * 14 * plan.layers * plan.shape.qubits * amplitudes;
    if (!plan.obstacle.empty()) {
        e.reasons.push_back("does not fit: " + plan.obstacle);
        return;
    }
    const StatePlan& s = plan.states;
    e.bulk_states = s.bulk;
    e.state_tile = s.tile;
    e.state_builds = s.bulk ? 1 : builds_of(plan.shape, s.tile);
    e.state_flops *= e.state_builds;
    e.states_bytes = s.gram.packed_bytes(plan.shape.samples) +
                     (plan.shape.square() ? 0 : s.gram.packed_bytes(plan.shape.others));
    (circuit.on_host ? e.streamed_bytes : e.resident_bytes) = states_memory(plan, device, circuit.on_host);
    (circuit.on_host ? e.streamed_fits : e.resident_fits) = fits(plan, device, circuit.on_host, options);
    if (plan.layers != 0)
        e.reasons.push_back("states take " + std::to_string(s.passes.size()) +
                            (s.passes.size() == 1 ? " pass" : " passes") + " a layer");
    if (plan.layers != 0) e.reasons.push_back(packing_reason(plan));
    if (s.renormalize)
        e.reasons.push_back("K is divided by the norms of states as it is made: rounding of gates adds up");
    explain_tiles(e, plan, options);
    e.gram_method = to_string(s.gram.method);
    e.error = plan.real64 ? 1e-12 : plan.shape.qubits <= 10 ? 2e-6 : 2e-5;
    e.tile = to_string(s.gram.tile);
    const bool first = circuit.on_host && tunes_first(plan, device.gram, options);
    e.tile_choice = first ? "to be measured" : s.gram.tile_measured ? "measured" : "planned";
    if (first) e.reasons.push_back("autotune: tiles are measured before the job, which is long enough");
    if (options.autotune == Choice::off) e.reasons.push_back("autotune is off");
    for (const std::string& reason : s.gram.reasons) e.reasons.push_back("inner products: " + reason);
}

// Bytes of features of float64. The plan does not know whether they are float32.
std::uint64_t feature_bytes(const KernelMatrixPlan& plan) {
    return (plan.shape.samples + plan.shape.others) * plan.shape.qubits * 8;
}

// Bytes of the staging buffers of a Stream for uploads of `bytes` in all, `each` at a time. Four uploads are
// under way.
std::uint64_t upload_staging(std::uint64_t bytes, std::uint64_t each) {
    const std::uint64_t part = std::min(each, 32 * kMiB), buffer = staging_bytes(each);
    return std::min(4 * buffer, buffer * (bytes / std::max<std::uint64_t>(1, part) + 1));
}

// Bytes of the staging buffers of a download, of which two parts take turns.
std::uint64_t download_staging(std::uint64_t bytes) {
    return 2 * std::min((bytes + kMiB - 1) / kMiB * kMiB, 32 * kMiB);
}

std::uint64_t within(const KernelMatrixDevice& device, std::uint64_t bytes) {
    return device.limited ? with_blocks(bytes) : bytes;
}

}  // namespace

std::uint64_t available_bytes(const KernelMatrixDevice& device, const KernelMatrixOptions& options) noexcept {
    return static_cast<std::uint64_t>(options.vram_fraction * static_cast<double>(device.budget_bytes));
}

bool few_rows(const KernelMatrixShape& shape, const CircuitFacts& circuit) noexcept {
    constexpr double kFewBytes = 64 << 20, kPadded = 256, kWidest = 16, kCopies = 4;
    const double rows = std::max(kPadded, static_cast<double>(shape.samples)),
                 columns = std::max(kPadded, static_cast<double>(shape.columns())),
                 values = circuit.given || effective_layers(circuit) != 0
                              ? std::ldexp(1.0, static_cast<int>(shape.qubits))
                              : 2.0 * static_cast<double>(shape.qubits);
    return kCopies * kWidest * (rows * columns + (rows + columns) * values) <= kFewBytes;
}

std::uint64_t product_memory(const KernelMatrixPlan& plan, const KernelMatrixDevice& device,
                             bool streamed) noexcept {
    const std::uint64_t planes = plan.planes_values() * plan.real_bytes();
    if (!streamed) return within(device, planes);
    const std::uint64_t features = feature_bytes(plan), host = device.host_counts ? 1 : 0;
    const std::uint64_t rows = plan.job_rows * plan.shape.columns() * plan.real_bytes();
    const std::uint64_t made = planes + features + host * upload_staging(features, features);
    if (plan.by_panels) return within(device, made + rows + host * download_staging(rows));
    // The least bytes of the areas of a slot.
    constexpr std::uint64_t kSlotBytes = std::uint64_t{5} << 18;
    const std::uint64_t jobs =
        (plan.shape.samples + plan.job_rows - 1) / std::max<std::uint64_t>(1, plan.job_rows);
    const std::uint64_t slots = std::min<std::uint64_t>(device.slots, jobs);
    const std::uint64_t in_slots = slots * (device.job_copies * (planes + rows) + kSlotBytes);
    return within(device, host * planes + std::max(made, in_slots));
}

std::uint64_t states_memory(const KernelMatrixPlan& plan, const KernelMatrixDevice& device,
                            bool streamed) noexcept {
    const StatePlan& s = plan.states;
    const std::uint64_t columns = plan.shape.square() ? 0 : plan.shape.others;
    const std::uint64_t packed = s.bulk
                                     ? s.gram.packed_bytes(plan.shape.samples) + s.gram.packed_bytes(columns)
                                     : 2 * s.tile * s.gram.row_bytes;
    const std::uint64_t angles = plan.layers != 0 ? plan.planes_values() * plan.real_bytes() : 0;
    const std::uint64_t factors = (plan.shape.samples + plan.shape.others) * plan.real_bytes();
    const std::uint64_t squares = s.chunk_rows * s.squares * plan.real_bytes();
    const std::uint64_t weights = std::uint64_t{plan.layers + 1} * plan.shape.qubits * 2 * plan.real_bytes();
    std::uint64_t bytes =
        packed + built_bytes(plan) + angles + weights + factors + squares + s.gram.scratch_bytes;
    if (!streamed) return within(device, bytes);
    const std::uint64_t host = device.host_counts ? 1 : 0;
    bytes += (1 + host) * (one_block(plan) ? 1 : kBlocksUnderWay) * block_bytes(plan);
    if (plan.layers != 0) {
        const std::uint64_t features = feature_bytes(plan);
        bytes += features + host * (upload_staging(features, features) + upload_staging(weights, weights));
    } else {
        bytes += host * upload_staging((plan.shape.samples + plan.shape.others) * s.state_bytes,
                                       s.chunk_rows * s.state_bytes);
    }
    return within(device, bytes);
}

bool fits(const KernelMatrixPlan& plan, const KernelMatrixDevice& device, bool streamed,
          const KernelMatrixOptions& options) noexcept {
    const std::uint64_t available = available_bytes(device, options);
    if (plan.method == KernelMatrixMethod::states)
        return plan.obstacle.empty() && states_memory(plan, device, streamed) <= available;
    return plan.planes_values() * plan.real_bytes() <= binding_bytes(device.gram.limits) &&
           plan.job_rows != 0 && product_memory(plan, device, streamed) <= available;
}

KernelMatrixEstimate estimate_kernel(const KernelMatrixPlan& plan, const KernelMatrixDevice& device,
                                     const CircuitFacts& circuit, const KernelMatrixOptions& options) {
    KernelMatrixEstimate e;
    e.method = plan.method;
    e.layers = plan.layers;
    e.float64 = plan.real64;
    e.pairs = plan.shape.pairs();
    e.matrix_bytes = plan.matrix_bytes();
    e.available_bytes = available_bytes(device, options);
    e.reasons.push_back(layers_reason(plan, circuit));
    e.reasons.push_back(std::string(plan.real64 ? "float64" : "float32") + " arithmetic");
    if (plan.method == KernelMatrixMethod::product)
        estimate_product(e, plan, device, options);
    else
        estimate_states(e, plan, device, circuit, options);
    const std::uint64_t need = circuit.on_host ? e.streamed_bytes : e.resident_bytes;
    if (need > e.available_bytes)
        e.reasons.push_back("does not fit: needs " + size_text(need) + " of device memory, " +
                            size_text(e.available_bytes) + " of " + size_text(device.budget_bytes) +
                            " may be used");
    return e;
}

}  // namespace weft::kernels
