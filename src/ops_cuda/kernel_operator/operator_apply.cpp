// SPDX-License-Identifier: Apache-2.0
#include "ops_cuda/kernel_operator/operator_apply.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <string>

#include <weft/error.hpp>

#include "cuda/check.hpp"
#include "ops/kernel_matrix/gram_plan.hpp"
#include "ops/kernel_operator/operator_shapes.hpp"
#include "ops_cuda/kernel_operator/operator_launch.hpp"

namespace weft::cuda {
namespace {

using kernels::ApplyPass;
using kernels::divide_up;
using kernels::OperatorBand;
using kernels::OperatorPlan;
using kernels::SumFactors;
using kernels::SumTerms;
using kernels::word;

constexpr const char* kFunction = "kernel_apply";
/// Elements of a launch, which kernels count in 32 bits.
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 30;

void check_apply_launch(const OperatorPlan& plan, const OperatorApplyLaunch& launch) {
    const auto go =
        plan.rz ? (plan.real64 ? launch_operator_apply_ryrz_real64 : launch_operator_apply_ryrz_real32)
                : (plan.real64 ? launch_operator_apply_ry_real64 : launch_operator_apply_ry_real32);
    check_launch(go(launch), kFunction);
}
void check_sum_launch(const OperatorPlan& plan, const OperatorSumLaunch& launch) {
    check_launch(plan.real64 ? launch_operator_sum_real64(launch) : launch_operator_sum_real32(launch),
                 kFunction);
}

}  // namespace

/// V and the output with its first row, or totals in its place.
struct OperatorApplyCall::Arrays {
    StreamHandle stream;
    const OperatorPlan& plan;
    std::uint32_t columns;
    const std::byte* v;
    std::byte* out = nullptr;
    kernels::ApplyRows rows{};
    const ApplyTotals* totals = nullptr;

    std::uint64_t at(std::uint64_t row, std::uint32_t column) const {
        return (row * columns + column) * plan.real_bytes();
    }
    /// Sums of rows [first, first + count) and of some columns of V from `column` on.
    void add_up(std::uint32_t column, std::uint32_t some, std::uint64_t first, std::uint64_t count,
                const void* terms, const SumTerms& of_terms, const SumFactors& factors) const {
        const OperatorSumLaunch launch{.stream = stream,
                                       .count = word(count * some),
                                       .p = kernels::sum_parameters(plan, of_terms, factors, some, columns),
                                       .terms = terms,
                                       // Without a diagonal V has rows of its own, and is not read.
                                       .v = plan.shape.square() ? v + at(first, column) : v,
                                       .result = out + at(first - rows.first, column)};
        check_sum_launch(plan, launch);
    }
};

OperatorApplyCall::OperatorApplyCall(const DeviceSamples& samples, std::uint32_t columns,
                                     const KernelApplyOptions& options, Choice symmetric)
    : OperatorProduct(samples.plan, columns, options.transpose, symmetric),
      samples_(samples),
      options_(options) {}

void OperatorApplyCall::launch(StreamHandle stream, const void* v, void* out, const kernels::ApplyRows& rows,
                               const BandDone& done) const {
    const auto* const from = static_cast<const std::byte*>(v);
    auto* const to = static_cast<std::byte*>(out);
    if (plan_.states) return launch_states(stream, from, to, rows, done);
    const Arrays arrays{stream, plan_, columns_, from, to, rows};
    if (low_rank_) return launch_low_rank(arrays, done);
    for (const ApplyPass& pass : passes_)
        launch_pass(arrays, pass, kernels::bands_of(pass, side_, rows.first, rows.last), done);
}

void OperatorApplyCall::launch(StreamHandle stream, const void* v, const ApplyTotals& totals,
                               const kernels::PairShare& share, const BandDone& done) const {
    const auto* const from = static_cast<const std::byte*>(v);
    if (plan_.states) return launch_states(stream, from, totals, share, done);
    const Arrays arrays{stream, plan_, columns_, from, nullptr, {}, &totals};
    for (const ApplyPass& pass : passes_) launch_pass(arrays, pass, bands_of_share(pass, share), done);
}

void OperatorApplyCall::launch_pass(const Arrays& arrays, const ApplyPass& pass,
                                    const std::vector<OperatorBand>& bands, const BandDone& done) const {
    std::uint64_t row_sums = 0, column_sums = 1;
    for (const OperatorBand& band : bands) {
        row_sums = std::max(row_sums, kernels::row_sums_of(pass, band));
        column_sums = std::max(column_sums, kernels::column_sums_of(pass, band));
    }
    const std::uint64_t bytes = plan_.real_bytes();
    const Scratch of_rows(arrays.stream, row_sums * bytes, kFunction, "operator sums"),
        of_columns(arrays.stream, column_sums * bytes, kFunction, "operator sums");
    PassValues values{arrays.v + arrays.at(0, pass.first), columns_};
    Scratch filled;
    if (pass.columns != pass.width) {
        const std::uint64_t row = pass.width * bytes;
        filled = Scratch(arrays.stream, side_.columns * row, kFunction, "columns of V");
        check(cudaMemsetAsync(filled.data(), 0, side_.columns * row, arrays.stream), kFunction,
              "cudaMemsetAsync");
        check(cudaMemcpy2DAsync(filled.data(), row, values.data, columns_ * bytes, pass.columns * bytes,
                                side_.columns, cudaMemcpyDeviceToDevice, arrays.stream),
              kFunction, "cudaMemcpy2DAsync");
        values = {filled.as<std::byte>(), pass.width};
    }
    if (pass.symmetric && arrays.totals == nullptr)  // bands add to rows of earlier ones
        arrays.add_up(pass.first, pass.columns, 0, side_.rows, of_columns.data(), {},
                      kernels::sum_factors(plan_, side_, options_, true));
    for (const OperatorBand& band : bands) {
        launch_band(arrays, pass, band, values, of_rows, of_columns);
        add_up_band(arrays, pass, band, of_rows, of_columns);
        done(kernels::pairs_of(pass, band));
    }
}

void OperatorApplyCall::launch_band(const Arrays& arrays, const ApplyPass& pass, const OperatorBand& band,
                                    const PassValues& values, const Scratch& row_sums,
                                    const Scratch& column_sums) const {
    OperatorApplyLaunch launch{.stream = arrays.stream,
                               .part_qubits = plan_.layout.part_qubits,
                               .width = pass.width,
                               .symmetric = pass.symmetric,
                               .count = word(kernels::workgroups_of(pass, band)),
                               .p = kernels::apply_parameters(plan_, pass, band),
                               .row_samples = samples_.rows(options_.transpose, band.row),
                               .column_samples = samples_.columns(options_.transpose, band.column),
                               .v = values.data + band.column * values.width * plan_.real_bytes(),
                               .sums = row_sums.data(),
                               .other = column_sums.data()};
    launch.p.width = values.width;
    launch.p.own_base = word(band.row * values.width);
    check_apply_launch(plan_, launch);
}

// The sums of the rows of a band and, where values serve their columns too, of the rows that these are.
void OperatorApplyCall::add_up_band(const Arrays& arrays, const ApplyPass& pass, const OperatorBand& band,
                                    const Scratch& row_sums, const Scratch& column_sums) const {
    const SumTerms of_splits{kernels::splits_of(pass, band), band.rows * pass.width, pass.width};
    const std::uint64_t blocks = divide_up(band.rows, pass.block_rows());
    // Rows that are columns left of a diagonal block of the band.
    const std::uint64_t left = band.row + (blocks - 1) * pass.block_rows();
    const SumTerms of_blocks{blocks, band.columns * pass.width, pass.width, band.row, pass.block_rows()};
    if (arrays.totals != nullptr) {
        add_to_totals(arrays.stream, *arrays.totals, pass.first, pass.columns, band.row, band.rows,
                      row_sums.data(), of_splits);
        if (left != 0)
            add_to_totals(arrays.stream, *arrays.totals, pass.first, pass.columns, 0, left,
                          column_sums.data(), of_blocks);
        return;
    }
    arrays.add_up(pass.first, pass.columns, band.row, band.rows, row_sums.data(), of_splits,
                  kernels::sum_factors(plan_, side_, options_, !pass.symmetric && band.column == 0));
    if (pass.symmetric && left != 0)
        arrays.add_up(pass.first, pass.columns, 0, left, column_sums.data(), of_blocks,
                      kernels::sum_factors(plan_, side_, options_, false));
}

void OperatorApplyCall::add_to_totals(StreamHandle stream, const ApplyTotals& totals, std::uint32_t column,
                                      std::uint32_t some, std::uint64_t row, std::uint64_t rows,
                                      const void* sums, const SumTerms& terms) const {
    OperatorTotalLaunch launch{.stream = stream,
                               .count = word(rows * some),
                               .p = kernels::total_parameters(terms, some, columns_),
                               .terms = sums,
                               .units = totals.units,
                               .totals = totals.words};
    launch.p.first_column = column;
    launch.p.out_base = word(row * columns_ + column);
    launch.p.spoilt_at = word(2 * side_.rows * columns_);
    check_launch(plan_.real64 ? launch_operator_total_real64(launch) : launch_operator_total_real32(launch),
                 kFunction);
}

void OperatorApplyCall::launch_low_rank(const Arrays& arrays, const BandDone& done) const {
    const std::uint64_t bytes = plan_.real_bytes(), rows = arrays.rows.last - arrays.rows.first;
    const std::uint64_t splits =
        divide_up(std::min(low_rank_->band_samples, side_.columns), low_rank_->split);
    const Scratch of_splits(arrays.stream, splits * low_rank_->features() * bytes, kFunction,
                            "operator sums"),
        weights(arrays.stream, low_rank_->features() * bytes, kFunction, "operator weights"),
        of_rows(arrays.stream, rows * bytes, kFunction, "operator sums");
    for (std::uint32_t column = 0; column < columns_; ++column) {
        gather(arrays, column, of_splits, weights);
        scatter(arrays, column, weights, of_rows);
        done(rows * side_.columns);
    }
}

// The sums over the columns of K of features times a column of V.
void OperatorApplyCall::gather(const Arrays& arrays, std::uint32_t column, const Scratch& sums,
                               const Scratch& weights) const {
    OperatorFeatureLaunch launch{
        .stream = arrays.stream, .p = kernels::feature_parameters(plan_, *low_rank_), .sums = sums.data()};
    launch.p.split = word(low_rank_->split);
    launch.p.width = columns_;
    for (std::uint64_t first = 0; first < side_.columns; first += low_rank_->band_samples) {
        const std::uint64_t some = std::min(low_rank_->band_samples, side_.columns - first);
        const std::uint64_t splits = divide_up(some, low_rank_->split);
        launch.count = word(splits * low_rank_->tiles());
        launch.p.rows = word(some);
        launch.samples = samples_.columns(options_.transpose, first);
        launch.in = arrays.v + arrays.at(first, column);
        check_launch(
            plan_.real64 ? launch_operator_gather_real64(launch) : launch_operator_gather_real32(launch),
            kFunction);
        const OperatorSumLaunch sum{.stream = arrays.stream,
                                    .count = word(low_rank_->features()),
                                    .p = kernels::sum_parameters(plan_, {splits, low_rank_->features()},
                                                                 {1, 0, first != 0 ? 1.0 : 0.0}, 1, 1),
                                    .terms = sums.data(),
                                    .v = sums.data(),
                                    .result = weights.data()};
        check_sum_launch(plan_, sum);
    }
}

// The sums over features of these weights, for the rows of K.
void OperatorApplyCall::scatter(const Arrays& arrays, std::uint32_t column, const Scratch& weights,
                                const Scratch& sums) const {
    OperatorFeatureLaunch launch{.stream = arrays.stream,
                                 .p = kernels::feature_parameters(plan_, *low_rank_),
                                 .in = weights.data(),
                                 .sums = sums.data()};
    SumFactors factors = kernels::sum_factors(plan_, side_, options_, true);
    factors.alpha *= std::ldexp(1.0, -static_cast<int>(plan_.shape.qubits));
    constexpr std::uint64_t kRows = 32;  // of a workgroup
    for (std::uint64_t row = arrays.rows.first; row < arrays.rows.last; row += low_rank_->band_samples) {
        const std::uint64_t some = std::min(low_rank_->band_samples, arrays.rows.last - row);
        launch.count = word(divide_up(some, kRows));
        launch.p.rows = word(some);
        launch.samples = samples_.rows(options_.transpose, row);
        check_launch(
            plan_.real64 ? launch_operator_scatter_real64(launch) : launch_operator_scatter_real32(launch),
            kFunction);
        arrays.add_up(column, 1, row, some, sums.data(), {1, some}, factors);
    }
}

namespace {

void check_rows_launch(const OperatorPlan& plan, const OperatorRowsLaunch& launch, const char* function) {
    check_launch(plan.real64 ? launch_operator_rows_real64(launch) : launch_operator_rows_real32(launch),
                 function);
}

}  // namespace

void launch_rows(StreamHandle stream, const DeviceSamples& samples, const std::vector<std::uint32_t>& rows,
                 const DeviceArray& out, const kernels::PairsDone& done) {
    constexpr const char* kRows = "kernel_rows";
    const OperatorPlan& plan = samples.plan;
    if (samples.states) return launch_state_rows(stream, samples, rows, out, done);
    if (plan.shape.samples * plan.layout.numbers() >> 32 != 0)
        throw Error(Errc::unsupported, "kernel_rows: kernels count numbers of samples in 32 bits (got " +
                                           std::to_string(plan.shape.samples) + " samples of " +
                                           std::to_string(plan.layout.numbers()) +
                                           " numbers, need at most 2^32 numbers)");
    const Scratch list(stream, rows.size() * sizeof rows[0], kRows, "list of rows");
    check(cudaMemcpyAsync(list.data(), rows.data(), rows.size() * sizeof rows[0], cudaMemcpyHostToDevice,
                          stream),
          kRows, "cudaMemcpyAsync");
    const std::uint64_t all = plan.shape.columns(), most = kMostElements / plan.layout.numbers();
    const kernels::RowsShape shape = kernels::gpu_rows_shape(rows.size(), plan.real64);
    OperatorRowsLaunch launch{.stream = stream,
                              .numbers = plan.layout.of_qubit,
                              .rows = shape.rows,
                              .p = kernels::rows_parameters(plan),
                              .row_samples = samples.rows(false, 0),
                              .list = list.data()};
    const std::uint64_t together = std::max<std::uint64_t>(1, kMostElements / all);
    for (std::uint64_t row = 0; row < rows.size(); row += together)
        for (std::uint64_t column = 0; column < all; column += most) {
            const std::uint64_t down = std::min(together, rows.size() - row),
                                some = std::min(most, all - column);
            launch.count = word(divide_up(down, shape.rows) *
                                divide_up(some, std::uint64_t{shape.columns} * shape.workgroup));
            launch.p.rows = word(down);
            launch.p.columns = word(some);
            launch.p.list_base = word(row);
            launch.p.column_base = word(column);
            launch.p.out_width = word(all);
            launch.column_samples = samples.columns(false, column);
            launch.result = static_cast<std::byte*>(out.data) + (row * all + column) * plan.real_bytes();
            check_rows_launch(plan, launch, kRows);
            if (plan.shape.square()) {
                OperatorRowsLaunch own = launch;
                own.values = OperatorRowsLaunch::own_of_rows;
                own.count = word(down);
                own.column_samples = own.row_samples;
                check_rows_launch(plan, own, kRows);
            }
            done(down * some);
        }
}

void launch_diagonal(StreamHandle stream, const DeviceSamples& samples, const DeviceArray& out,
                     const kernels::PairsDone& done) {
    if (samples.states) return launch_state_diagonal(stream, samples, out, done);
    const OperatorPlan& plan = samples.plan;
    const std::uint64_t all = plan.shape.samples, most = kMostElements / plan.layout.numbers();
    OperatorRowsLaunch launch{.stream = stream,
                              .values = OperatorRowsLaunch::diagonal,
                              .numbers = plan.layout.of_qubit,
                              .p = kernels::rows_parameters(plan)};
    for (std::uint64_t row = 0; row < all; row += most) {
        launch.count = word(std::min(most, all - row));
        launch.row_samples = launch.column_samples = samples.rows(false, row);
        launch.result = static_cast<std::byte*>(out.data) + row * plan.real_bytes();
        check_rows_launch(plan, launch, "kernel_diagonal");
        done(launch.count);
    }
}

}  // namespace weft::cuda
