// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_operator/operator_plan.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <weft/error.hpp>

#include "ops/kernel_matrix/gram_plan.hpp"
#include "ops/kernel_operator/operator_shapes.hpp"
#include "ops/kernel_operator/operator_sharing.hpp"
#include "ops/kernel_operator/operator_states.hpp"
#include "ops/kernel_operator/operator_totals.hpp"

namespace weft::kernels {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
/// Tiles of a split: as many as columns of a tile, so that both levels of a sum are equally long.
constexpr std::uint64_t kTilesOfSplit = 64;
/// Columns of V that a pass takes.
constexpr std::uint32_t kMostWidth = 16;

std::uint64_t round_down(std::uint64_t a, std::uint64_t b) {
    return std::max(b, a / b * b);
}

/// Numbers of a sample that an invocation can have in registers for two rows.
std::uint32_t most_numbers(bool real64) {
    return real64 ? 36 : 72;
}
/// Numbers of a part where samples have several: the kernel values of a tile take registers too.
std::uint32_t most_part_numbers(bool real64) {
    return real64 ? 12 : 24;
}

SampleLayout layout_of(std::uint32_t qubits, bool rz, bool real64, bool compiled_ahead) {
    SampleLayout layout;
    layout.of_qubit = rz ? 3 : 2;
    if (compiled_ahead) {
        layout.part_qubits = compiled_part(qubits, real64);
        layout.parts = static_cast<std::uint32_t>(divide_up(qubits, layout.part_qubits));
    } else {
        if (std::uint64_t{qubits} * layout.of_qubit > most_numbers(real64))
            layout.parts =
                static_cast<std::uint32_t>(divide_up(qubits, most_part_numbers(real64) / layout.of_qubit));
        layout.part_qubits = static_cast<std::uint32_t>(divide_up(qubits, layout.parts));
    }
    layout.part_numbers = padded_numbers(layout.part_qubits, layout.of_qubit);
    return layout;
}

bool can_be_symmetric(const OperatorPlan& plan, const ApplySide& side) {
    // Samples, V and the output are bound as a whole.
    const std::uint64_t widest = std::max(plan.sample_bytes(), kMostColumns * plan.real_bytes());
    return side.square && plan.options.symmetric != Choice::off && plan.layout.parts == 1 &&
           side.columns <= plan.device.limits.max_storage_buffer_range / widest;
}

/// Instructions of a pass for each pair of a row and a column.
double instructions_of(const OperatorPlan& plan, const ApplyPass& pass) {
    const double numbers = plan.layout.of_qubit * plan.layout.part_qubits * plan.layout.parts;
    const double products = plan.layout.part_qubits * plan.layout.parts - 1;
    const double rows = pass.rows, width = pass.width;
    const double loads = (static_cast<double>(plan.layout.numbers()) / 4 + std::ceil(width / 4)) / rows;
    if (!pass.symmetric) return numbers + products + width + loads;
    // Sums over the invocations: a store, and a load and an addition.
    return (numbers + products + 2 * width + loads + 3 * width / rows) / 2;
}

/// Partial sums that a dispatch may leave.
std::uint64_t most_sums(const OperatorPlan& plan) {
    const std::uint64_t bytes =
        std::clamp(plan.device.budget_bytes / 64, 16 * kMiB, plan.device.software ? 32 * kMiB : 256 * kMiB);
    return std::min(bytes, plan.device.limits.max_storage_buffer_range) / plan.real_bytes();
}

/// Mesa's software devices end the loops of an invocation after 65535 turns in all, and say nothing.
constexpr std::uint64_t kSoftwareTurns = 60000;

/// At most so many turns takes a part of a tile of columns in operator_apply.comp, whatever is unrolled.
std::uint64_t turns_of_part(const OperatorPlan& plan, const ApplyPass& pass) {
    return pass.tile + divide_up(std::uint64_t{pass.tile} * plan.layout.part_numbers / 4, pass.workgroup) + 4;
}
std::uint64_t turns_of_tile(const OperatorPlan& plan, const ApplyPass& pass) {
    return plan.layout.parts * turns_of_part(plan, pass) +
           divide_up(std::uint64_t{pass.tile} * pass.width, pass.workgroup);
}

void plan_bands(const OperatorPlan& plan, const ApplySide& side, std::uint32_t columns, ApplyPass& pass) {
    const std::uint64_t block = pass.block_rows(), tile = pass.tile;
    const std::uint64_t range = plan.device.limits.max_storage_buffer_range;
    // Bindings begin at multiples of the device's alignment.
    const std::uint64_t most_samples =
        (range - plan.device.limits.storage_buffer_offset_alignment) /
        std::max<std::uint64_t>(plan.sample_bytes(), columns * plan.real_bytes());
    const std::uint64_t longest = tile * kTilesOfSplit;
    pass.band_columns = std::min(round_up(side.columns, tile), round_down(most_samples, longest));
    // Enough workgroups to keep all processors busy to the end.
    const std::uint64_t workgroups = plan.device.software ? 128 : 8192;
    const std::uint64_t blocks = divide_up(side.rows, block);
    pass.split =
        std::clamp(round_up(divide_up(std::min(side.columns, pass.band_columns) * blocks, workgroups), tile),
                   tile, longest);
    if (plan.device.software)
        pass.split =
            std::min(pass.split, round_down(kSoftwareTurns / turns_of_tile(plan, pass) * tile, tile));
    const std::uint64_t sums = most_sums(plan);
    const std::uint64_t of_row = divide_up(pass.band_columns, pass.split) * pass.width;
    std::uint64_t rows = std::min(sums / of_row, most_samples);
    if (pass.symmetric) rows = std::min(rows, sums / (side.columns * pass.width) * block);
    // A band is the unit of progress and cancellation.
    const std::uint64_t pairs = std::uint64_t{1} << (plan.device.software ? 27 : 37);
    rows = std::min(rows, pairs / pass.band_columns);
    pass.band_rows = std::min(round_down(rows, block), round_up(side.rows, block));
}

ApplyPass make_pass(const OperatorPlan& plan, std::uint32_t first, std::uint32_t columns, bool symmetric) {
    ApplyPass pass;
    pass.first = first;
    pass.columns = columns;
    pass.width = plan.device.compiled_ahead ? compiled_width(columns) : columns;
    pass.symmetric = symmetric;
    const bool parts = plan.layout.parts > 1;
    PassShape shape = gpu_shape({plan.layout.part_numbers, pass.width, symmetric, parts, plan.real64});
    if (plan.device.software) {
        // The stack takes what registers do not; numbers of columns are loaded lane by lane, which should be
        // rare.
        if (!parts && !symmetric) shape.rows = plan.layout.part_numbers * pass.width > 96 ? 4 : 8;
        // A workgroup of one subgroup has no barriers to wait at.
        if (!symmetric) shape.workgroup = std::clamp(plan.device.limits.subgroup_size, 4u, 32u);
        shape.together = 1;
    }
    shape = that_fits(shape, {plan.layout.part_numbers, pass.width, symmetric, parts, plan.real64},
                      plan.device.limits.max_shared_memory_bytes);
    pass.workgroup = shape.workgroup;
    pass.rows = shape.rows;
    pass.tile = shape.tile;
    pass.together = shape.together;
    return pass;
}

/// Columns of V that the next pass takes of those that are left.
std::uint32_t next_columns(const OperatorPlan& plan, std::uint32_t left, bool symmetric) {
    if (symmetric) return left >= 4 || plan.device.compiled_ahead ? std::min(left, 4u) : left >= 2 ? 2 : 1;
    const auto passes = static_cast<std::uint32_t>(divide_up(left, kMostWidth));
    return static_cast<std::uint32_t>(divide_up(left, passes));
}

std::vector<ApplyPass> passes_of(const OperatorPlan& plan, std::uint32_t columns, bool symmetric) {
    std::vector<ApplyPass> passes;
    for (std::uint32_t first = 0; first < columns; first += passes.back().columns)
        passes.push_back(make_pass(plan, first, next_columns(plan, columns - first, symmetric), symmetric));
    return passes;
}

/// Bound of errors of K, in units of 2^-24 (or 2^-53): docs/kernel_operator.md derives it.
double kernel_error(const OperatorPlan& plan) {
    return (plan.rz ? 7.0 : 4.0) * plan.shape.qubits;
}

/// Roundings that a number meets on its way into the result. `shared`: by totals in fixed point.
double additions_of(const OperatorPlan& plan, const ApplyPass& pass, const ApplySide& side, bool shared) {
    const double tile = pass.tile, tiles = static_cast<double>(divide_up(pass.split, pass.tile));
    const double of_invocations = pass.rows + 16.0 + pass.workgroup / 16.0;
    const double short_sums = std::max(tile + tiles, pass.symmetric ? of_invocations : 0.0);
    if (shared) {
        const std::uint64_t terms =
            divide_up(side.columns, pass.split) + divide_up(side.rows, pass.block_rows());
        return short_sums + total_error(static_cast<double>(terms), plan.real64);
    }
    const double bands = pass.symmetric ? static_cast<double>(divide_up(side.rows, pass.band_rows))
                                        : static_cast<double>(divide_up(side.columns, pass.band_columns));
    return short_sums + bands + 4;
}

/// Puts a product by way of features into an estimate.
void use_low_rank(const OperatorPlan& plan, const ApplySide& side, std::uint32_t columns,
                  const LowRankPlan& low, KernelOperatorEstimate& estimate) {
    const auto features = static_cast<double>(low.features());
    const std::uint64_t samples = std::min(low.band_samples, side.columns);
    estimate.method = KernelOperatorMethod::low_rank;
    estimate.symmetric = false;
    estimate.pairs = side.rows * side.columns;
    estimate.columns_together = 1;
    estimate.passes = columns;
    estimate.instructions =
        features * (1 / static_cast<double>(side.rows) + 1 / static_cast<double>(side.columns));
    estimate.scratch_bytes =
        ((divide_up(samples, low.split) + 1) * low.features() + side.rows) * plan.real_bytes();
    const double gathered = 64 + static_cast<double>(low.split) / 64 + 2 +
                            static_cast<double>(divide_up(side.columns, low.band_samples));
    const double scattered = static_cast<double>(low.low_count) + static_cast<double>(low.high_count) / 8 + 8;
    estimate.error =
        (kernel_error(plan) + gathered + scattered + 4) * std::ldexp(1.0, plan.real64 ? -53 : -24);
}

std::string symmetry_of(const OperatorPlan& plan, bool symmetric) {
    return symmetric               ? "symmetric: each kernel value serves its row and its column"
           : !plan.shape.square()  ? "not symmetric: K of X with Y"
           : plan.device.software  ? "not symmetric: a software device"
           : plan.layout.parts > 1 ? "not symmetric: samples have several parts"
                                   : "not symmetric: it would not save time";
}

std::string does_not_fit(const KernelOperatorEstimate& estimate) {
    return "does not fit (got " + std::to_string(estimate.sample_bytes) + " bytes of samples and " +
           std::to_string(estimate.scratch_bytes) + " of scratch memory, need at most " +
           std::to_string(estimate.available_bytes) + ")";
}

}  // namespace

OperatorPlan plan_operator(const OperatorDevice& device, const KernelMatrixShape& shape, FeatureMap map,
                           const KernelOperatorOptions& options) {
    OperatorPlan plan;
    plan.device = device;
    plan.shape = shape;
    plan.options = options;
    plan.rz = map == FeatureMap::ryrz;
    plan.real64 = options.type == kFloat64;
    if (plan.real64 && !device.float64)
        throw Error(Errc::unsupported,
                    "KernelOperator: float64 on a device without shaderFloat64 (need type float32)");
    plan.layout = layout_of(shape.qubits, plan.rz, plan.real64, device.compiled_ahead);
    const ApplyPass widest = make_pass(plan, 0, kMostWidth, false);
    if (device.software && turns_of_tile(plan, widest) > kSoftwareTurns)
        throw Error(
            Errc::unsupported,
            "KernelOperator: too many qubits for a software device, which ends long loops (got " +
                std::to_string(shape.qubits) + ", need at most " +
                std::to_string(kSoftwareTurns / turns_of_part(plan, widest) * plan.layout.part_qubits) +
                "); kernel_matrix takes more");
    return plan;
}

void check_operator_fits(const OperatorPlan& plan) {
    const KernelOperatorEstimate estimate = estimate_operator(plan, 1);
    if (!estimate.fits) throw Error(Errc::out_of_memory, "KernelOperator: " + estimate.reasons.back());
}

ApplySide side_of(const OperatorPlan& plan, bool transpose) noexcept {
    const std::uint64_t rows = plan.shape.samples, columns = plan.shape.columns();
    return transpose ? ApplySide{columns, rows, plan.shape.square()}
                     : ApplySide{rows, columns, plan.shape.square()};
}

std::vector<ApplyPass> plan_passes(const OperatorPlan& plan, const ApplySide& side, std::uint32_t columns,
                                   bool symmetric) {
    std::vector<ApplyPass> passes = passes_of(plan, columns, false);
    if (symmetric && can_be_symmetric(plan, side)) {
        const std::vector<ApplyPass> twice = passes_of(plan, columns, true);
        // Fewer blocks of rows than these are mostly diagonal.
        constexpr std::uint64_t kLeastBlocks = 8;
        const bool pays = !plan.device.software && side.rows >= kLeastBlocks * twice[0].block_rows() &&
                          instructions_of(plan, twice) < instructions_of(plan, passes);
        if (pays || plan.options.symmetric == Choice::on) passes = twice;
    }
    for (ApplyPass& pass : passes) plan_bands(plan, side, columns, pass);
    return passes;
}

std::vector<ApplyPass> plan_symmetric_passes(const OperatorPlan& plan, const ApplySide& side,
                                             std::uint32_t columns) {
    if (!can_be_symmetric(plan, side)) return {};
    std::vector<ApplyPass> passes = passes_of(plan, columns, true);
    for (ApplyPass& pass : passes) plan_bands(plan, side, columns, pass);
    return passes;
}

double instructions_of(const OperatorPlan& plan, const std::vector<ApplyPass>& passes) {
    double all = 0;
    for (const ApplyPass& pass : passes) all += instructions_of(plan, pass);
    return all;
}

std::vector<OperatorBand> bands_of(const ApplyPass& pass, const ApplySide& side, std::uint64_t first,
                                   std::uint64_t last) {
    std::vector<OperatorBand> bands;
    for (std::uint64_t row = first; row < last; row += pass.band_rows) {
        const std::uint64_t rows = std::min(pass.band_rows, last - row);
        if (pass.symmetric) {
            bands.push_back({row, rows, 0, row + rows});
            continue;
        }
        for (std::uint64_t column = 0; column < side.columns; column += pass.band_columns)
            bands.push_back({row, rows, column, std::min(pass.band_columns, side.columns - column)});
    }
    return bands;
}

std::uint64_t splits_of(const ApplyPass& pass, const OperatorBand& band) noexcept {
    return divide_up(band.columns, pass.split);
}
std::uint64_t workgroups_of(const ApplyPass& pass, const OperatorBand& band) noexcept {
    return splits_of(pass, band) * divide_up(band.rows, pass.block_rows());
}
std::uint64_t row_sums_of(const ApplyPass& pass, const OperatorBand& band) noexcept {
    return splits_of(pass, band) * band.rows * pass.width;
}
std::uint64_t column_sums_of(const ApplyPass& pass, const OperatorBand& band) noexcept {
    return pass.symmetric ? divide_up(band.rows, pass.block_rows()) * band.columns * pass.width : 0;
}
std::uint64_t pairs_of(const ApplyPass& pass, const OperatorBand& band) noexcept {
    if (!pass.symmetric) return band.rows * band.columns;
    return band.rows * band.row + band.rows * (band.rows + 1) / 2;
}

std::uint64_t LowRankPlan::tiles() const noexcept {
    constexpr std::uint64_t kTile = 32;
    return divide_up(low_count, kTile) * divide_up(high_count, kTile);
}

std::uint64_t features_of(FeatureMap map, std::uint32_t qubits) noexcept {
    std::uint64_t count = 1;
    for (std::uint32_t q = 0; q < qubits && count <= kMostFeatures; ++q)
        count *= map == FeatureMap::ryrz ? 4 : 3;
    return count;
}

std::optional<LowRankPlan> plan_low_rank(const OperatorPlan& plan, const ApplySide& side,
                                         std::uint32_t columns) {
    const FeatureMap map = plan.rz ? FeatureMap::ryrz : FeatureMap::ry;
    if (plan.options.low_rank == Choice::off || features_of(map, plan.shape.qubits) > kMostFeatures)
        return std::nullopt;
    LowRankPlan low;
    low.high_qubits = plan.shape.qubits / 2;
    low.low_qubits = plan.shape.qubits - low.high_qubits;
    low.low_count = features_of(map, low.low_qubits);
    low.high_count = features_of(map, low.high_qubits);
    // Each sample takes part in one multiply-add a feature. With its loads, and the features that are made
    // again, it costs several instructions on a GPU; on software devices, which load lane by lane, as
    // measured on lavapipe.
    const double instructions_of_feature = plan.device.software ? 100 : 6;
    const auto rows = static_cast<double>(side.rows), of_columns = static_cast<double>(side.columns);
    const double cost = instructions_of_feature * static_cast<double>(low.features()) * (rows + of_columns) *
                        static_cast<double>(columns);
    const double of_values =
        instructions_of(plan, plan_passes(plan, side, columns, true)) * rows * of_columns;
    if (plan.options.low_rank != Choice::on && 2 * cost > of_values) return std::nullopt;
    constexpr std::uint64_t kSum = 64, kMostSums = 64;
    const std::uint64_t workgroups = plan.device.software ? 128 : 8192;
    low.split =
        std::clamp(round_up(divide_up(side.columns * low.tiles(), workgroups), kSum), kSum, kSum * kMostSums);
    const std::uint64_t splits = std::max<std::uint64_t>(1, most_sums(plan) / low.features());
    const std::uint64_t range =
        plan.device.limits.max_storage_buffer_range - plan.device.limits.storage_buffer_offset_alignment;
    low.band_samples =
        std::min(splits * low.split,
                 round_down(range / std::max<std::uint64_t>(plan.sample_bytes(), columns * plan.real_bytes()),
                            low.split));
    return low;
}

KernelOperatorEstimate estimate_operator(const OperatorPlan& plan, std::uint32_t columns,
                                         const SharedProduct* shared) {
    if (plan.states) return estimate_operator_of_states(plan, columns, shared);
    const ApplySide side = side_of(plan, false);
    const bool by_pairs = shared != nullptr && shared->symmetric;
    const std::vector<ApplyPass> passes = by_pairs ? plan_symmetric_passes(plan, side, columns)
                                                   : plan_passes(plan, side, columns, shared == nullptr);
    KernelOperatorEstimate estimate;
    estimate.symmetric = passes[0].symmetric;
    estimate.columns_together = passes[0].columns;
    estimate.passes = static_cast<std::uint32_t>(passes.size());
    estimate.instructions = instructions_of(plan, passes) / static_cast<double>(passes.size());
    estimate.sample_bytes = plan.all_sample_bytes();
    estimate.available_bytes = static_cast<std::uint64_t>(static_cast<double>(plan.device.budget_bytes) *
                                                          plan.options.vram_fraction);
    double additions = 0;
    for (const ApplyPass& pass : passes) {
        additions = std::max(additions, additions_of(plan, pass, side, by_pairs));
        std::uint64_t sums = 0;
        for (const OperatorBand& band : bands_of(pass, side, 0, side.rows)) {
            sums = std::max(sums, row_sums_of(pass, band) + column_sums_of(pass, band));
            if (&pass == &passes[0]) estimate.pairs += pairs_of(pass, band);
        }
        estimate.scratch_bytes = std::max(estimate.scratch_bytes, sums * plan.real_bytes());
    }
    estimate.error = (kernel_error(plan) + additions) * std::ldexp(1.0, plan.real64 ? -53 : -24);
    if (by_pairs) estimate.scratch_bytes += shared->total_bytes;
    const std::optional<LowRankPlan> low = by_pairs ? std::nullopt : plan_low_rank(plan, side, columns);
    if (low) use_low_rank(plan, side, columns, *low, estimate);
    estimate.fits = estimate.sample_bytes + estimate.scratch_bytes <= estimate.available_bytes;
    const auto text = [](std::uint64_t n) { return std::to_string(n); };
    std::vector<std::string>& reasons = estimate.reasons;
    if (low) {
        reasons.push_back("low rank: " + text(low->features()) + " features stand for " + text(side.columns) +
                          " columns of K");
        if (!estimate.fits) reasons.push_back(does_not_fit(estimate));
        return estimate;
    }
    const std::uint64_t filled = std::uint64_t{plan.layout.parts} * plan.layout.part_qubits;
    if (plan.device.compiled_ahead && filled != plan.shape.qubits)
        reasons.push_back("filled up: kernels were compiled for " + text(filled) + " qubits, not for " +
                          text(plan.shape.qubits));
    reasons.push_back(plan.layout.parts == 1
                          ? "closed form: " + text(passes[0].rows) + " rows of an invocation in registers"
                          : "closed form: " + text(plan.shape.qubits) + " qubits in " +
                                text(plan.layout.parts) + " parts, kernel values of a tile in registers");
    reasons.push_back(shared != nullptr ? shared->reason : symmetry_of(plan, estimate.symmetric));
    reasons.push_back(text(estimate.passes) + " passes over K, with up to " + text(passes[0].columns) +
                      " columns of V each");
    if (!estimate.fits) reasons.push_back(does_not_fit(estimate));
    return estimate;
}

}  // namespace weft::kernels
