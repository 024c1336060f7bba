// SPDX-License-Identifier: Apache-2.0
#include "ops_cuda/kernel_operator/operator_apply.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <string>

#include <weft/error.hpp>

#include "cuda/check.hpp"
#include "ops/kernel_matrix/gram_plan.hpp"
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

/// V and the output, row by row.
struct OperatorApplyCall::Arrays {
    StreamHandle stream;
    const OperatorPlan& plan;
    const std::byte* v;
    std::byte* out;
    std::uint32_t columns;

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
                                       .result = out + at(first, column)};
        check_sum_launch(plan, launch);
    }
};

OperatorApplyCall::OperatorApplyCall(const OperatorObject& object, std::uint32_t columns,
                                     const KernelApplyOptions& options)
    : object_(object),
      plan_(object.plan()),
      options_(options),
      columns_(columns),
      side_(kernels::side_of(plan_, options.transpose)),
      low_rank_(kernels::plan_low_rank(plan_, side_, columns)),
      passes_(kernels::plan_passes(plan_, side_, columns, true)) {}

void OperatorApplyCall::launch(StreamHandle stream, const ConstDeviceArray& v, const DeviceArray& out,
                               const BandDone& done) const {
    const Arrays arrays{stream, plan_, static_cast<const std::byte*>(v.data),
                        static_cast<std::byte*>(out.data), columns_};
    if (low_rank_) return launch_low_rank(arrays, done);
    for (const ApplyPass& pass : passes_) launch_pass(arrays, pass, done);
}

std::uint64_t OperatorApplyCall::pairs() const {
    if (low_rank_) return side_.rows * side_.columns * columns_;
    std::uint64_t pairs = 0;
    for (const ApplyPass& pass : passes_)
        for (const OperatorBand& band : kernels::bands_of(pass, side_, 0, side_.rows))
            pairs += kernels::pairs_of(pass, band);
    return pairs;
}

void OperatorApplyCall::launch_pass(const Arrays& arrays, const ApplyPass& pass, const BandDone& done) const {
    const std::vector<OperatorBand> bands = kernels::bands_of(pass, side_, 0, side_.rows);
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
    if (pass.symmetric)  // bands add to rows of earlier ones
        arrays.add_up(pass.first, pass.columns, 0, side_.rows, of_columns.data(), {},
                      kernels::sum_factors(plan_, side_, options_, true));
    for (const OperatorBand& band : bands) {
        launch_band(arrays, pass, band, values, of_rows, of_columns);
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
                               .row_samples = object_.rows(options_.transpose, band.row),
                               .column_samples = object_.columns(options_.transpose, band.column),
                               .v = values.data + band.column * values.width * plan_.real_bytes(),
                               .sums = row_sums.data(),
                               .other = column_sums.data()};
    launch.p.width = values.width;
    launch.p.own_base = word(band.row * values.width);
    check_apply_launch(plan_, launch);

    arrays.add_up(pass.first, pass.columns, band.row, band.rows, row_sums.data(),
                  {kernels::splits_of(pass, band), band.rows * pass.width, pass.width},
                  kernels::sum_factors(plan_, side_, options_, !pass.symmetric && band.column == 0));
    const std::uint64_t blocks = divide_up(band.rows, pass.block_rows());
    // Rows that are columns left of a diagonal block of the band.
    const std::uint64_t left = band.row + (blocks - 1) * pass.block_rows();
    if (pass.symmetric && left != 0)
        arrays.add_up(pass.first, pass.columns, 0, left, column_sums.data(),
                      {blocks, band.columns * pass.width, pass.width, band.row, pass.block_rows()},
                      kernels::sum_factors(plan_, side_, options_, false));
}

void OperatorApplyCall::launch_low_rank(const Arrays& arrays, const BandDone& done) const {
    const std::uint64_t bytes = plan_.real_bytes();
    const std::uint64_t splits =
        divide_up(std::min(low_rank_->band_samples, side_.columns), low_rank_->split);
    const Scratch of_splits(arrays.stream, splits * low_rank_->features() * bytes, kFunction,
                            "operator sums"),
        weights(arrays.stream, low_rank_->features() * bytes, kFunction, "operator weights"),
        of_rows(arrays.stream, side_.rows * bytes, kFunction, "operator sums");
    for (std::uint32_t column = 0; column < columns_; ++column) {
        gather(arrays, column, of_splits, weights);
        scatter(arrays, column, weights, of_rows);
        done(side_.rows * side_.columns);
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
        launch.samples = object_.columns(options_.transpose, first);
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
    for (std::uint64_t row = 0; row < side_.rows; row += low_rank_->band_samples) {
        const std::uint64_t some = std::min(low_rank_->band_samples, side_.rows - row);
        launch.count = word(divide_up(some, kRows));
        launch.p.rows = word(some);
        launch.samples = object_.rows(options_.transpose, row);
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

void launch_rows(StreamHandle stream, const OperatorObject& object, const std::vector<std::uint32_t>& rows,
                 const DeviceArray& out) {
    constexpr const char* kRows = "kernel_rows";
    const OperatorPlan& plan = object.plan();
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
    OperatorRowsLaunch launch{.stream = stream,
                              .p = kernels::rows_parameters(plan),
                              .row_samples = object.rows(false, 0),
                              .list = list.data()};
    const std::uint64_t together = std::max<std::uint64_t>(1, kMostElements / all);
    for (std::uint64_t row = 0; row < rows.size(); row += together)
        for (std::uint64_t column = 0; column < all; column += most) {
            const std::uint64_t down = std::min(together, rows.size() - row),
                                some = std::min(most, all - column);
            launch.count = word(down * some);
            launch.p.columns = word(some);
            launch.p.list_base = word(row);
            launch.p.column_base = word(column);
            launch.p.out_width = word(all);
            launch.column_samples = object.columns(false, column);
            launch.result = static_cast<std::byte*>(out.data) + (row * all + column) * plan.real_bytes();
            check_rows_launch(plan, launch, kRows);
        }
}

void launch_diagonal(StreamHandle stream, const OperatorObject& object, const DeviceArray& out) {
    const OperatorPlan& plan = object.plan();
    const std::uint64_t all = plan.shape.samples, most = kMostElements / plan.layout.numbers();
    OperatorRowsLaunch launch{.stream = stream, .diagonal = true, .p = kernels::rows_parameters(plan)};
    for (std::uint64_t row = 0; row < all; row += most) {
        launch.count = launch.p.columns = word(std::min(most, all - row));
        launch.row_samples = launch.column_samples = object.rows(false, row);
        launch.result = static_cast<std::byte*>(out.data) + row * plan.real_bytes();
        check_rows_launch(plan, launch, "kernel_diagonal");
    }
}

}  // namespace weft::cuda
