// SPDX-License-Identifier: Apache-2.0
// Memory that plans of kernel matrices take: bounds of what buffers hold at a time.
#include <algorithm>

#include "ops/encode/footprint.hpp"
#include "ops/kernel_matrix/kernel_plan.hpp"

namespace weft::kernels {
namespace {

// Features come as float or double, which a plan does not ask for.
std::uint64_t feature_bytes(const KernelMatrixPlan& plan) {
    return (plan.shape.samples + plan.shape.others) * plan.shape.qubits * 8;
}

// Staging buffers of a Stream for uploads of `bytes` in all, `each` at a time, of which four are under way.
std::uint64_t upload_staging(std::uint64_t bytes, std::uint64_t each) {
    const std::uint64_t part = std::min(each, 32 * kMiB), buffer = staging_bytes(each);
    return std::min(4 * buffer, buffer * (bytes / std::max<std::uint64_t>(1, part) + 1));
}

// Two parts of a download take turns.
std::uint64_t download_staging(std::uint64_t bytes) {
    return 2 * std::min((bytes + kMiB - 1) / kMiB * kMiB, 32 * kMiB);
}

std::uint64_t within(const KernelMatrixDevice& device, std::uint64_t bytes) {
    return device.limited ? with_blocks(bytes) : bytes;
}

}  // namespace

std::uint64_t product_memory(const KernelMatrixPlan& plan, const KernelMatrixDevice& device, bool streamed) noexcept {
    const std::uint64_t planes = plan.planes_values() * plan.real_bytes();
    if (!streamed) return within(device, planes);
    const std::uint64_t features = feature_bytes(plan), host = device.host_counts ? 1 : 0;
    const std::uint64_t rows = plan.job_rows * plan.shape.columns() * plan.real_bytes();
    const std::uint64_t made = planes + features + host * upload_staging(features, features);
    if (plan.by_panels) return within(device, made + rows + host * download_staging(rows));
    // An area of a slot is not smaller.
    constexpr std::uint64_t kSlotBytes = std::uint64_t{5} << 18;
    const std::uint64_t jobs =
        (plan.shape.samples + plan.job_rows - 1) / std::max<std::uint64_t>(1, plan.job_rows);
    const std::uint64_t slots = std::min<std::uint64_t>(device.slots, jobs);
    const std::uint64_t in_slots = slots * (device.job_copies * (planes + rows) + kSlotBytes);
    return within(device, host * planes + std::max(made, in_slots));
}

std::uint64_t states_memory(const KernelMatrixPlan& plan, const KernelMatrixDevice& device, bool streamed) noexcept {
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

}  // namespace weft::kernels
