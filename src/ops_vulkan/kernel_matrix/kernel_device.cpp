// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/kernel_matrix/kernel_device.hpp"

#include <algorithm>

#include <weft/error.hpp>
#include <weft/memory_report.hpp>

#include "base/batch_call.hpp"
#include "ops/kernel_matrix/gram_tuning.hpp"
#include "ops_vulkan/gram/gram_tuner.hpp"

namespace weft::kernels {
namespace {

std::uint64_t free_bytes(const MemoryReport& memory) {
    std::uint64_t most = 0;
    for (const MemoryReport::Heap& heap : memory.heaps) {
        if (!heap.device_local) continue;
        // Memory that is kept for the next large buffer serves this call.
        const std::uint64_t used = heap.usage - std::min(heap.usage, heap.kept);
        most = std::max(most, heap.budget == 0 ? heap.size : heap.budget - std::min(used, heap.budget));
    }
    if (memory.limit == 0) return most;
    std::uint64_t kept = 0;
    for (const MemoryReport::Heap& heap : memory.heaps) kept += heap.kept;
    const std::uint64_t taken =
        std::min(memory.limit, memory.block_bytes - std::min(memory.block_bytes, kept));
    return std::min(most, memory.limit - taken);
}

// Copies that a slot holds of a job from and to ordinary memory.
std::uint32_t job_copies(const PlanReport& plan, bool host_counts) {
    const bool staged = plan.ordinary_path == Path::staged || plan.large_path == Path::staged;
    return staged ? (host_counts ? 2 : 1) : plan.ordinary_path == Path::direct ? 1 : 0;
}

}  // namespace

KernelMatrixDevice kernel_device(const Owner& owner, bool states, const KernelMatrixOptions& options,
                                 bool few) {
    KernelMatrixDevice facts{states ? gram_device(owner) : gram_limits(owner)};
    facts.limited = owner.memory_limit != 0;
    facts.budget_bytes =
        few && !facts.limited ? owner.device.device_memory_bytes : free_bytes(owner.memory());
    facts.host_counts = facts.limited || owner.device.unified_memory;
    facts.slots = owner.plan.ring_slots;
    facts.job_copies = job_copies(owner.plan, facts.host_counts);
    if (states && options.autotune != Choice::off) facts.gram.tiles = kept_tiles(owner).tiles;
    return facts;
}

bool tune_before(Backend& backend, GramDevice& device, const KernelMatrixPlan& plan,
                 const KernelMatrixOptions& options, const BatchOptions& batch) {
    if (!tunes_first(plan, device, options)) return false;
    core::ProgressMeter("kernel_matrix", batch, plan.shape.pairs()).check();
    try {
        const GramTrials trials =
            try_tiles(backend, device, plan.states.gram, gram_flops(plan) * kGramTrialShare);
        const GramTile& tile = trials.trials[trials.best].tile;
        keep_tile(backend, trials.name, tile);
        device.tiles.insert_or_assign(trials.name, tile);
        return true;
    } catch (const Error& error) {
        if (error.code() != Errc::out_of_memory) throw;
        return false;
    }
}

}  // namespace weft::kernels
