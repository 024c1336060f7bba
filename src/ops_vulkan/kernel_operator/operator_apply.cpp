// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/kernel_operator/operator_apply.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "ops_vulkan/kernel_matrix/kernel_states.hpp"
#include "shaders/operator.spv.hpp"

namespace weft::kernels {
namespace {

using ShaderWords = std::span<const std::uint32_t>;

Program apply_program(const Stream& stream, const OperatorPlan& plan, const ApplyPass& pass) {
    using namespace spirv;
    ProgramOptions options{.name = "operator_apply",
                           .constants = {{0u, pass.workgroup},
                                         {2u, plan.layout.part_qubits},
                                         {3u, plan.layout.of_qubit},
                                         {4u, pass.rows},
                                         {5u, pass.width},
                                         {6u, pass.tile},
                                         {7u, pass.together},
                                         {8u, plan.layout.parts > 1},
                                         {9u, pass.symmetric}},
                           .elements_per_workgroup = 1};
    options.operations_per_element =
        static_cast<double>(pass.split * pass.block_rows()) * (4.0 * plan.shape.qubits + 2 * pass.width);
    return {stream, plan.real64 ? ShaderWords(operator_apply_real64) : ShaderWords(operator_apply_real32),
            options};
}

Program looping_program(const Stream& stream, const char* name, ShaderWords words,
                        std::vector<SpecConstant> constants = {}) {
    constants.emplace_back(0u, 128u);
    return {stream,
            words,
            {.name = name,
             .constants = std::move(constants),
             .max_workgroups = stream.device().limits.max_workgroup_count[0]}};
}

Program sum_program(const Stream& stream, const OperatorPlan& plan) {
    return looping_program(
        stream, "operator_sum",
        plan.real64 ? ShaderWords(spirv::operator_sum_real64) : ShaderWords(spirv::operator_sum_real32));
}

Program total_program(const Stream& stream, const OperatorPlan& plan) {
    return looping_program(
        stream, "operator_total",
        plan.real64 ? ShaderWords(spirv::operator_total_real64) : ShaderWords(spirv::operator_total_real32));
}

}  // namespace

/// V, and the output with its first row, or totals in its place.
struct ApplyCall::Arrays {
    const ConstDeviceArray& v;
    const DeviceArray* out;
    ApplyRows rows;
    std::uint32_t columns;
    const ApplyTotals* totals = nullptr;

    BoundWords values(const DeviceLimits& limits, std::uint64_t row, std::uint64_t count) const {
        return bind_elements(limits, v, row * columns, count * columns);
    }
    BoundWords result(const DeviceLimits& limits, std::uint64_t row, std::uint64_t count) const {
        return bind_elements(limits, *out, (row - rows.first) * columns, count * columns);
    }
    /// Records sums for rows [first, first + count) and some columns of V from `column` on.
    void add_up(Stream& stream, const OperatorPlan& plan, std::uint32_t column, std::uint32_t some,
                std::uint64_t first, std::uint64_t count, const Words& words, const SumTerms& terms,
                const SumFactors& factors) const {
        const DeviceLimits& limits = stream.device().limits;
        const BoundWords in =
            values(limits, plan.shape.square() ? first : 0, plan.shape.square() ? count : 1);
        const BoundWords to = result(limits, first, count);
        shared::OperatorSumParameters p = sum_parameters(plan, terms, factors, some, columns);
        p.in_base = in.before + column;
        p.out_base = to.before + column;
        stream.dispatch(sum_program(stream, plan), {ConstWords(words), ConstWords(in.words), to.words},
                        count * some, p);
    }
};

ApplyCall::ApplyCall(const DeviceSamples& samples, std::uint32_t columns, const KernelApplyOptions& options,
                     Choice symmetric)
    : OperatorProduct(samples.plan, columns, options.transpose, symmetric),
      samples_(samples),
      options_(options) {}

void ApplyCall::record(Stream& stream, KernelMemory& memory, const ConstDeviceArray& v,
                       const DeviceArray& out, const ApplyRows& rows, const BandDone& done) const {
    if (plan_.states) return record_states(stream, memory, v, out, rows, done);
    const Arrays arrays{v, &out, rows, columns_};
    if (low_rank_) return record_low_rank(stream, memory, arrays, done);
    for (const ApplyPass& pass : passes_)
        record_pass(stream, memory, pass, bands_of(pass, side_, rows.first, rows.last), arrays, done);
}

void ApplyCall::record(Stream& stream, KernelMemory& memory, const ConstDeviceArray& v,
                       const ApplyTotals& totals, const PairShare& share, const BandDone& done) const {
    if (plan_.states) return record_states(stream, memory, v, totals, share, done);
    const Arrays arrays{v, nullptr, {}, columns_, &totals};
    for (const ApplyPass& pass : passes_)
        record_pass(stream, memory, pass, bands_of_share(pass, share), arrays, done);
}

void ApplyCall::add_to_totals(Stream& stream, const ApplyTotals& totals, std::uint32_t column,
                              std::uint32_t some, std::uint64_t row, std::uint64_t rows, const Words& sums,
                              const SumTerms& terms) const {
    shared::OperatorTotalParameters p = total_parameters(terms, some, columns_);
    p.first_column = column;
    p.out_base = word(row * columns_ + column);
    p.spoilt_at = word(2 * side_.rows * columns_);
    stream.dispatch(total_program(stream, plan_), {ConstWords(sums), ConstWords(totals.units), totals.words},
                    rows * some, p);
}

void ApplyCall::record_pass(Stream& stream, KernelMemory& memory, const ApplyPass& pass,
                            const std::vector<OperatorBand>& bands, const Arrays& arrays,
                            const BandDone& done) const {
    std::uint64_t row_sums = 0, column_sums = 1;
    for (const OperatorBand& band : bands) {
        row_sums = std::max(row_sums, row_sums_of(pass, band));
        column_sums = std::max(column_sums, column_sums_of(pass, band));
    }
    const std::uint64_t words = plan_.real_bytes() / 4;
    const Words of_rows = memory.words(row_sums * words, "operator sums"),
                of_columns = memory.words(column_sums * words, "operator sums");
    if (pass.symmetric && arrays.totals == nullptr)  // bands add to rows of earlier ones
        arrays.add_up(stream, plan_, pass.first, pass.columns, 0, side_.rows, of_columns, {},
                      sum_factors(plan_, side_, options_, true));
    for (const OperatorBand& band : bands) {
        record_band(stream, pass, band, arrays, of_rows, of_columns);
        done(pairs_of(pass, band));
    }
}

void ApplyCall::record_band(Stream& stream, const ApplyPass& pass, const OperatorBand& band,
                            const Arrays& arrays, const Words& row_sums, const Words& column_sums) const {
    const DeviceLimits& limits = stream.device().limits;
    const BoundWords in = arrays.values(limits, band.column, band.columns);
    shared::OperatorApplyParameters p = apply_parameters(plan_, pass, band);
    p.width = columns_;
    p.in_base = in.before + pass.first;
    p.own_base = word(in.before + pass.first + band.row * columns_);
    const ConstWords of_rows = samples_at(plan_, samples_.rows(options_.transpose), band.row, band.rows);
    const ConstWords of_columns =
        samples_at(plan_, samples_.columns(options_.transpose), band.column, band.columns);
    const Program program = apply_program(stream, plan_, pass);
    const std::uint64_t workgroups = workgroups_of(pass, band);
    stream.dispatch(program, {of_rows, of_columns, ConstWords(in.words), row_sums, column_sums}, workgroups,
                    p);

    const SumTerms of_splits{splits_of(pass, band), band.rows * pass.width, pass.width};
    const std::uint64_t blocks = divide_up(band.rows, pass.block_rows());
    // Rows that are columns left of a diagonal block of the band.
    const std::uint64_t left = band.row + (blocks - 1) * pass.block_rows();
    const SumTerms of_blocks{blocks, band.columns * pass.width, pass.width, band.row, pass.block_rows()};
    if (arrays.totals != nullptr) {
        add_to_totals(stream, *arrays.totals, pass.first, pass.columns, band.row, band.rows, row_sums,
                      of_splits);
        if (left != 0)
            add_to_totals(stream, *arrays.totals, pass.first, pass.columns, 0, left, column_sums, of_blocks);
        return;
    }
    arrays.add_up(stream, plan_, pass.first, pass.columns, band.row, band.rows, row_sums, of_splits,
                  sum_factors(plan_, side_, options_, !pass.symmetric && band.column == 0));
    if (pass.symmetric && left != 0)
        arrays.add_up(stream, plan_, pass.first, pass.columns, 0, left, column_sums, of_blocks,
                      sum_factors(plan_, side_, options_, false));
}

namespace {

Program feature_program(const Stream& stream, const char* name, ShaderWords words) {
    return {stream, words, {.name = name, .elements_per_workgroup = 1}};
}

}  // namespace

void ApplyCall::record_low_rank(Stream& stream, KernelMemory& memory, const Arrays& arrays,
                                const BandDone& done) const {
    const std::uint64_t words = plan_.real_bytes() / 4, rows = arrays.rows.last - arrays.rows.first;
    const std::uint64_t splits =
        divide_up(std::min(low_rank_->band_samples, side_.columns), low_rank_->split);
    const Words of_splits = memory.words(splits * low_rank_->features() * words, "operator sums"),
                weights = memory.words(low_rank_->features() * words, "operator weights"),
                of_rows = memory.words(rows * words, "operator sums");
    for (std::uint32_t column = 0; column < columns_; ++column) {
        gather(stream, arrays, column, of_splits, weights);
        scatter(stream, arrays, column, weights, of_rows);
        done(rows * side_.columns);
    }
}

// The sums over the columns of K of features times a column of V.
void ApplyCall::gather(Stream& stream, const Arrays& arrays, std::uint32_t column, const Words& sums,
                       const Words& weights) const {
    const Program program = feature_program(stream, "operator_gather",
                                            plan_.real64 ? ShaderWords(spirv::operator_gather_real64)
                                                         : ShaderWords(spirv::operator_gather_real32));
    const Program sum = sum_program(stream, plan_);
    shared::OperatorFeatureParameters p = feature_parameters(plan_, *low_rank_);
    for (std::uint64_t first = 0; first < side_.columns; first += low_rank_->band_samples) {
        const std::uint64_t some = std::min(low_rank_->band_samples, side_.columns - first);
        const std::uint64_t splits = divide_up(some, low_rank_->split);
        const BoundWords in = arrays.values(stream.device().limits, first, some);
        p.rows = word(some);
        p.split = word(low_rank_->split);
        p.width = columns_;
        p.in_base = in.before + column;
        const ConstWords samples = samples_at(plan_, samples_.columns(options_.transpose), first, some);
        stream.dispatch(program, {samples, ConstWords(in.words), sums}, splits * low_rank_->tiles(), p);
        const SumFactors factors{1, 0, first != 0 ? 1.0 : 0.0};
        const auto all = sum_parameters(plan_, {splits, low_rank_->features()}, factors, 1, 1);
        stream.dispatch(sum, {ConstWords(sums), ConstWords(sums), weights}, low_rank_->features(), all);
    }
}

// The sums over features of these weights, for the rows of K.
void ApplyCall::scatter(Stream& stream, const Arrays& arrays, std::uint32_t column, const Words& weights,
                        const Words& sums) const {
    const Program program = feature_program(stream, "operator_scatter",
                                            plan_.real64 ? ShaderWords(spirv::operator_scatter_real64)
                                                         : ShaderWords(spirv::operator_scatter_real32));
    constexpr std::uint64_t kRows = 32;  // of a workgroup
    shared::OperatorFeatureParameters p = feature_parameters(plan_, *low_rank_);
    SumFactors factors = sum_factors(plan_, side_, options_, true);
    factors.alpha *= std::ldexp(1.0, -static_cast<int>(plan_.shape.qubits));
    for (std::uint64_t row = arrays.rows.first; row < arrays.rows.last; row += low_rank_->band_samples) {
        const std::uint64_t some = std::min(low_rank_->band_samples, arrays.rows.last - row);
        p.rows = word(some);
        const ConstWords samples = samples_at(plan_, samples_.rows(options_.transpose), row, some);
        stream.dispatch(program, {samples, ConstWords(weights), sums}, divide_up(some, kRows), p);
        arrays.add_up(stream, plan_, column, 1, row, some, sums, {1, some}, factors);
    }
}

}  // namespace weft::kernels
