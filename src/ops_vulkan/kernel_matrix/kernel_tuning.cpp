// SPDX-License-Identifier: Apache-2.0
#include <weft/tune/kernel_matrix.hpp>

#include "ops_vulkan/kernel_matrix/kernel_tuning.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include <weft/error.hpp>

#include "ops_vulkan/gram/gram_tuner.hpp"
#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops_vulkan/kernel_matrix/kernel_device.hpp"
#include "ops_vulkan/kernel_matrix/kernel_steps.hpp"

namespace weft {
namespace kernels {

bool tune_before(Backend& backend, GramDevice& device, const KernelMatrixPlan& plan,
                const KernelMatrixOptions& options) {
    if (!tunes_first(plan, device, options)) return false;
    KernelMeter(options, plan.shape.pairs()).check();
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

namespace {

KernelMatrixPlan plan_for(const KernelMatrixDevice& device, const KernelMatrixShape& shape, const KernelTuningOptions& options,
                    bool on_host) {
    CircuitFacts facts;
    facts.layers = 2;
    facts.reupload = true;
    facts.given = options.given_states;
    facts.given64 = options.type == ValueType::float64;
    facts.on_host = on_host;
    const KernelMatrixOptions planned{.autotune = false};
    KernelMatrixPlan plan = plan_kernel(device, shape, facts, options.type, planned);
    const KernelMatrixEstimate estimate = estimate_kernel(plan, device, facts, planned);
    if (on_host ? !estimate.streamed_fits : !estimate.resident_fits)
        throw Error(Errc::out_of_memory, "tune_kernel_matrix: " + estimate.reasons.back());
    return plan;
}

// Whether a plan for such products would take the tile.
bool has_tile(const GramDevice& device, const std::string& products, const GramTile& tile) {
    for (const GramMethod method : {GramMethod::fp32_4m, GramMethod::fp32_3m, GramMethod::fp64, GramMethod::matrix_split,
                                GramMethod::matrix_single}) {
        if (!products.starts_with(std::string(to_string(method)) + ' ')) continue;
        const std::vector<GramTile> tiles = gram_tiles(device, method);
        return std::find(tiles.begin(), tiles.end(), tile) != tiles.end();
    }
    return false;
}

KernelTuningReport report_of(Backend& backend, const GramTrials& trials, bool keep) {
    KernelTuningReport report;
    report.products = trials.name;
    for (const GramTrial& trial : trials.trials)
        report.trials.push_back({to_string(trial.tile), trial.seconds, trial.scatter, trial.right});
    report.best = trials.best;
    if (keep) report.file = keep_tile(backend, trials.name, trials.trials[trials.best].tile);
    return report;
}

}  // namespace
}  // namespace kernels

double KernelTuningReport::gain() const {
    return trials.empty() || trials[0].seconds <= 0 ? 0 : 1 - trials[best].seconds / trials[0].seconds;
}

std::vector<KernelTuningReport> tune_kernel_matrix(Backend& backend, const KernelMatrixShape& shape,
                                                   const KernelTuningOptions& options) {
    kernels::check_kernel_shape(shape, shape.others != 0);
    if (options.type == ValueType::int64)
        throw Error(Errc::invalid_argument,
                    "tune_kernel_matrix: wrong type (got int64, need float32 or float64)");
    constexpr int kLeastKept = 3;  // of fewer times the quartiles tell no scatter
    if (options.keep && options.repeats >= 1 && options.repeats < kLeastKept)
        throw Error(Errc::invalid_argument,
                    "tune_kernel_matrix: too few repeats to keep what they tell (got " +
                        std::to_string(options.repeats) + ", need " + std::to_string(kLeastKept) +
                        " or more, or keep = false)");
    if (options.repeats < 1)
        throw Error(Errc::invalid_argument, "tune_kernel_matrix: repeats out of range (got " +
                                                std::to_string(options.repeats) + ", need 1 or more)");
    if (!(options.flops >= 0) || !std::isfinite(options.flops))
        throw Error(Errc::invalid_argument, "tune_kernel_matrix: flops out of range (got " +
                                                std::to_string(options.flops) + ", need 0 or more)");
    const kernels::KernelMatrixDevice device = kernels::kernel_device(backend, true, {.autotune = false});
    std::vector<KernelTuningReport> reports;
    std::set<std::string> seen;
    for (const bool on_host : {true, false}) {
        kernels::KernelMatrixPlan plan;
        try {
            plan = kernels::plan_for(device, shape, options, on_host);
        } catch (const Error& error) {
            // K need not fit the device to be made on host memory.
            if (on_host || error.code() != Errc::out_of_memory) throw;
            continue;
        }
        if (!seen.insert(kernels::gram_class(plan.states.gram)).second) continue;
        reports.push_back(kernels::report_of(
            backend,
            kernels::try_tiles(backend, device.gram, plan.states.gram, options.flops, options.repeats),
            options.keep));
    }
    return reports;
}

std::vector<KeptKernelTile> kept_kernel_tiles(const Backend& backend) {
    std::vector<KeptKernelTile> kept;
    kernels::GramDevice device = kernels::gram_limits(backend);
    const std::map<std::string, kernels::GramTile> tiles = kernels::kept_tiles(backend).tiles;
    // Those of matrix units depend on which of them there are.
    if (std::any_of(tiles.begin(), tiles.end(),
                    [](const auto& tile) { return tile.first.starts_with("matrix"); }))
        device = kernels::gram_device(backend);
    for (const auto& [products, tile] : tiles)
        if (kernels::has_tile(device, products, tile)) kept.push_back({products, kernels::to_string(tile)});
    return kept;
}

std::string kernel_tuning_state(const Backend& backend) {
    return kernels::kept_tiles(backend).state;
}

void forget_kernel_tuning(const Backend& backend) {
    kernels::forget_tiles(backend);
}

}  // namespace weft
