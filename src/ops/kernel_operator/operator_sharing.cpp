// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_operator/operator_sharing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ops/kernel_operator/operator_states.hpp"
#include "ops/kernel_operator/operator_totals.hpp"

namespace weft::kernels {
namespace {

/// The device whose plan decides. A software device beside GPUs takes little or nothing.
const OperatorPlan& lead_of(std::span<const OperatorPlan* const> plans) {
    const auto gpu =
        std::find_if(plans.begin(), plans.end(), [](const OperatorPlan* p) { return !p->device.software; });
    return gpu != plans.end() ? **gpu : *plans.front();
}

// What a device is expected to do in a second: more than most can, so that symmetry, which saves instructions
// and costs copies, is not used where it is in doubt.
double expected_instructions(const OperatorPlan& plan) {
    return plan.device.software ? 1e11 : 3e13;
}
double seconds_of_copy(double bytes) {
    return bytes / 8e9;
}

/// Instructions for each pair of a row and a column of K, if each is made and if half of them are.
struct PairCost {
    double all = 0, half = 0;
};
PairCost cost_of(const OperatorPlan& plan, std::uint32_t columns) {
    if (plan.states) {
        const double of_pair = std::ldexp(4.0, static_cast<int>(plan.shape.qubits));
        return {of_pair + columns, of_pair / 2 + columns};
    }
    const ApplySide side = side_of(plan, false);
    return {instructions_of(plan, plan_passes(plan, side, columns, false)),
            instructions_of(plan, plan_symmetric_passes(plan, side, columns))};
}

/// Why shares of pairs are not possible on a device; empty: they are.
std::string obstacle_of(const OperatorPlan& plan, const OperatorPlan& lead, std::uint32_t columns,
                        std::uint64_t total_bytes) {
    if (plan.states) {
        const OperatorOfStates &own = *plan.states, &other = *lead.states;
        if (!own.matrix.obstacle.empty()) return own.matrix.obstacle;
        if (own.block != other.block || own.matrix.states.tile != other.matrix.states.tile)
            return "devices make different blocks of K";
    } else if (plan.layout.parts > 1) {
        return "samples have several parts";
    } else if (plan_symmetric_passes(plan, side_of(plan, false), columns).empty()) {
        return "samples exceed a binding of a device";
    }
    const DeviceLimits& limits = plan.device.limits;
    if (total_bytes > limits.max_storage_buffer_range - limits.storage_buffer_offset_alignment)
        return "totals of all rows exceed a binding of a device";
    return "";
}

/// Why a device alone would not use symmetry; empty: it would.
std::string doubt_of(const OperatorPlan& plan, std::uint32_t columns, std::uint32_t devices,
                     std::uint64_t total_bytes) {
    if (plan.options.symmetric == Choice::on) return "";
    if (!plan.states && plan.device.software) return "a software device";
    if (!plan.states && !plan_passes(plan, side_of(plan, false), columns, true).front().symmetric)
        return "it would not save time";
    constexpr double kShares = 5;  // of a device, each of which copies the totals
    const PairCost cost = cost_of(plan, columns);
    const auto rows = static_cast<double>(plan.shape.samples);
    const double saved = (cost.all - cost.half) * rows * rows / expected_instructions(plan) / devices;
    const double copied = seconds_of_copy((kShares + devices) * static_cast<double>(total_bytes));
    return saved > copied ? "" : "the copies of totals would take longer than they save";
}

/// A multiple of the rows of every workgroup, so that partial sums do not depend on where shares begin.
std::uint64_t block_of(const OperatorPlan& plan, std::uint32_t columns) {
    std::uint64_t block = 1;
    for (const ApplyPass& pass : plan_symmetric_passes(plan, side_of(plan, false), columns))
        block = std::lcm(block, pass.block_rows());
    return block;
}

/// Pairs whose time is several times that of the copy of totals.
std::uint64_t pairs_that_repay(const OperatorPlan& plan, std::uint32_t columns, std::uint64_t total_bytes) {
    constexpr double kTimes = 4;
    const double seconds = kTimes * seconds_of_copy(static_cast<double>(total_bytes));
    // A value below the diagonal is one pair, and two of the square.
    return static_cast<std::uint64_t>(seconds * expected_instructions(plan) /
                                      (2 * cost_of(plan, columns).half));
}

void cut_into_items(const OperatorPlan& lead, std::uint32_t columns, SharedProduct& shared) {
    constexpr std::uint64_t kLastShares = 64;  // that would make up what a device does
    const std::uint64_t pairs = lead.shape.pairs();
    if (lead.states) {
        shared.items = operator_blocks(lead, 0, lead.shape.samples, false, true).size();
    } else {
        shared.fold = {lead.shape.samples, block_of(lead, columns)};
        shared.items = shared.fold.items();
    }
    const std::uint64_t busy = least_pairs(lead), of_item = pairs / shared.items + 1;
    shared.least_items = shared.items;
    if (pairs < 2 * busy) return;  // one device makes it all
    const std::uint64_t least = std::max(busy, pairs_that_repay(lead, columns, shared.total_bytes)) / of_item;
    // Devices wait for the last share of another one, so it is a small part of what each has.
    const std::uint64_t most = std::max(shared.items / (kLastShares * shared.devices), busy / 16 / of_item);
    shared.least_items = std::max<std::uint64_t>(1, std::min(least, most));
}

}  // namespace

std::vector<RowRange> RowFold::ranges(std::uint64_t first, std::uint64_t count) const {
    const std::uint64_t all = blocks(), last = first + count;
    const std::uint64_t from = std::max(last, all - last);  // the middle block has no partner
    const auto row = [&](std::uint64_t of) { return std::min(rows, of * block); };
    if (from == last) return {{row(first), row(all - first)}};
    return {{row(from), row(all - first)}, {row(first), row(last)}};
}

std::uint64_t least_pairs(const OperatorPlan& plan) noexcept {
    const std::uint64_t pairs = plan.device.software ? 1u << 24 : 1u << 31;
    return plan.states ? std::max<std::uint64_t>(1, pairs >> std::min(plan.shape.qubits, 30u)) : pairs;
}

SharedProduct plan_shared(std::span<const OperatorPlan* const> plans, std::uint32_t columns) {
    const OperatorPlan& lead = lead_of(plans);
    SharedProduct shared;
    shared.devices = static_cast<std::uint32_t>(plans.size());
    shared.total_bytes = lead.shape.samples * columns * sizeof(std::uint64_t);
    const std::string among = " over " + std::to_string(plans.size()) + " devices";
    const auto no = [&](const std::string& why) {
        shared.reason = "not symmetric" + among + ": " + why;
        return shared;
    };
    if (!lead.shape.square()) return no("K of X with Y");
    if (lead.options.symmetric == Choice::off) return no("turned off");
    if (!lead.states && plan_low_rank(lead, side_of(lead, false), columns)) return no("low rank");
    for (const OperatorPlan* plan : plans)
        if (const std::string why = obstacle_of(*plan, lead, columns, shared.total_bytes); !why.empty())
            return no(why);
    if (const std::string why = doubt_of(lead, columns, shared.devices, shared.total_bytes); !why.empty())
        return no(why);
    shared.symmetric = true;
    for (const OperatorPlan* plan : plans)
        if (!estimate_operator(*plan, columns, &shared).fits) {
            shared.symmetric = false;
            return no("totals of all rows do not fit a device");
        }
    cut_into_items(lead, columns, shared);
    shared.reason = "symmetric" + among + ": each kernel value is made on one of them, " +
                    std::to_string(shared.total_bytes) + " bytes of totals on each";
    return shared;
}

KernelOperatorEstimate estimate_shared(std::span<const OperatorPlan* const> plans, std::uint32_t columns) {
    if (plans.size() == 1) return estimate_operator(*plans.front(), columns);
    const SharedProduct shared = plan_shared(plans, columns);
    KernelOperatorEstimate estimate = estimate_operator(lead_of(plans), columns, &shared);
    for (const OperatorPlan* plan : plans)
        if (KernelOperatorEstimate other = estimate_operator(*plan, columns, &shared); !other.fits)
            estimate = std::move(other);
    return estimate;
}

}  // namespace weft::kernels
