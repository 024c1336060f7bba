// SPDX-License-Identifier: Apache-2.0
// Completes <weft/tune/kernel_matrix.hpp>.
#include <weft/tune/kernel_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <weft/error.hpp>

#include "base/batch_call.hpp"
#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops_vulkan/gram/gram_tuner.hpp"
#include "ops_vulkan/kernel_matrix/kernel_device.hpp"

namespace weft {
namespace kernels {
namespace {

KernelMatrixPlan plan_for(const KernelMatrixDevice& device, const KernelMatrixShape& shape,
                          const tune::TileOptions& options, bool on_host) {
    CircuitFacts facts;
    facts.layers = 2;
    facts.reupload = true;
    facts.given = options.given_states;
    facts.given64 = options.type == kFloat64;
    facts.on_host = on_host;
    return plan_that_fits(device, shape, facts, options.type, {.autotune = Choice::off});
}

// Whether a plan for products of this class may take the tile.
bool has_tile(const GramDevice& device, const std::string& products, const GramTile& tile) {
    for (const GramMethod method :
         {GramMethod::fp32_4m, GramMethod::fp32_3m, GramMethod::fp64, GramMethod::matrix_split}) {
        if (!products.starts_with(std::string(to_string(method)) + ' ')) continue;
        const std::vector<GramTile> tiles = gram_tiles(device, method);
        return std::find(tiles.begin(), tiles.end(), tile) != tiles.end();
    }
    return false;
}

/// The products of one class each that a call on host memory and a resident one would make.
std::vector<GramPlan> products_of(const KernelMatrixDevice& device, const KernelMatrixShape& shape,
                                  const tune::TileOptions& options) {
    std::vector<GramPlan> products;
    products.push_back(plan_for(device, shape, options, true).states.gram);
    try {
        const GramPlan resident = plan_for(device, shape, options, false).states.gram;
        if (gram_class(products[0]) != gram_class(resident)) products.push_back(resident);
    } catch (const Error& error) {
        // K need not fit the device to be made on host memory.
        if (error.code() != Errc::out_of_memory) throw;
    }
    return products;
}

tune::TileReport tile_report(Backend& backend, const GramTrials& trials, bool keep) {
    tune::TileReport report;
    report.products = trials.name;
    for (const GramTrial& trial : trials.trials)
        report.trials.push_back({to_string(trial.tile), trial.seconds, trial.scatter, trial.right});
    report.best = trials.best;
    if (keep) report.file = keep_tile(backend, trials.name, trials.trials[trials.best].tile);
    return report;
}

}  // namespace
}  // namespace kernels

namespace tune {

double TileReport::gain() const {
    return trials.empty() || trials[0].median_s <= 0 ? 0 : 1 - trials[best].median_s / trials[0].median_s;
}

std::vector<TileReport> kernel_matrix_tiles(Backend& backend, const KernelMatrixShape& shape,
                                            const TileOptions& options) {
    kernels::check_kernel_shape(shape, shape.others != 0);
    if (options.type != kFloat32 && options.type != kFloat64)
        throw Error(Errc::invalid_argument, "tune::kernel_matrix_tiles: wrong type (got " +
                                                to_string(options.type) + ", need float32 or float64)");
    constexpr int kLeastKept = 3;  // fewer times have no quartiles that show scatter
    if (options.keep && options.repeats >= 1 && options.repeats < kLeastKept)
        throw Error(Errc::invalid_argument,
                    "tune::kernel_matrix_tiles: too few repeats to keep a tile (got " +
                        std::to_string(options.repeats) + ", need " + std::to_string(kLeastKept) +
                        " or more, or keep = false)");
    if (options.repeats < 1)
        throw Error(Errc::invalid_argument, "tune::kernel_matrix_tiles: repeats out of range (got " +
                                                std::to_string(options.repeats) + ", need 1 or more)");
    if (!(options.flops >= 0) || !std::isfinite(options.flops))
        throw Error(Errc::invalid_argument, "tune::kernel_matrix_tiles: flops out of range (got " +
                                                std::to_string(options.flops) + ", need 0 or more)");
    const kernels::KernelMatrixDevice device =
        kernels::kernel_device(backend, true, {.autotune = Choice::off});
    const std::vector<kernels::GramPlan> products = kernels::products_of(device, shape, options);
    std::size_t runs = 0, done = 0;
    for (const kernels::GramPlan& plan : products)
        runs += kernels::trial_runs(device.gram, plan, options.repeats);
    const BatchOptions watch{.progress = options.progress, .cancel = options.cancel};
    core::ProgressMeter meter("tune::kernel_matrix_tiles", watch, runs);
    meter.check();
    std::vector<TileReport> reports;
    for (const kernels::GramPlan& plan : products)
        reports.push_back(kernels::tile_report(
            backend,
            kernels::try_tiles(backend, device.gram, plan, options.flops, options.repeats,
                               [&] {
                                   if (++done < runs) meter.show(done);
                               }),
            options.keep));
    meter.show(runs);
    return reports;
}

std::vector<KeptTile> kept_tiles(const Backend& backend) {
    std::vector<KeptTile> kept;
    kernels::GramDevice device = kernels::gram_limits(backend);
    const std::map<std::string, kernels::GramTile> tiles = kernels::kept_tiles(backend).tiles;
    // Which tiles of matrix units fit depends on the judgement of these.
    if (std::any_of(tiles.begin(), tiles.end(),
                    [](const auto& tile) { return tile.first.starts_with("matrix"); }))
        device = kernels::gram_device(backend);
    for (const auto& [products, tile] : tiles)
        if (kernels::has_tile(device, products, tile)) kept.push_back({products, kernels::to_string(tile)});
    return kept;
}

std::string tiles_state(const Backend& backend) {
    return kernels::kept_tiles(backend).state;
}

void forget_tiles(const Backend& backend) {
    kernels::forget_tiles(backend);
}

}  // namespace tune
}  // namespace weft
