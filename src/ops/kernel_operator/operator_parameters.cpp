// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_operator/operator_parameters.hpp"

#include "ops/kernel_matrix/kernel_plan.hpp"

namespace weft::kernels {
namespace {

void put_words(double value, bool real64, std::uint32_t& low, std::uint32_t& high) noexcept {
    const auto words = real_words(value, real64);
    low = words[0];
    high = words[1];
}

/// What all sums of terms have.
template <class Parameters>
void put_terms(Parameters& p, const SumTerms& terms, std::uint32_t columns, std::uint32_t width) {
    p.terms = word(terms.terms);
    p.apart = word(terms.apart);
    p.term_width = terms.width;
    p.columns = columns;
    p.width = width;
    p.skip_from = word(terms.skip_from);
    p.skip_rows = word(terms.skip_rows);
}

template <class Parameters>
void put_factors(Parameters& p, const SumFactors& factors, bool real64) {
    p.with_v = factors.delta != 0 ? 1u : 0u;
    p.with_out = factors.beta != 0 ? 1u : 0u;
    put_words(factors.alpha, real64, p.alpha_low, p.alpha_high);
    put_words(factors.delta, real64, p.delta_low, p.delta_high);
    put_words(factors.beta, real64, p.beta_low, p.beta_high);
}

}  // namespace

SumFactors sum_factors(const OperatorPlan& plan, const ApplySide& side, const KernelApplyOptions& options,
                       bool first) noexcept {
    const double alpha = options.a * plan.shrink();
    if (!first) return {alpha, 0, 1};
    return {alpha, side.square ? options.a * (1 - plan.shrink() + options.lambda) : 0, options.b};
}

shared::OperatorSumParameters sum_parameters(const OperatorPlan& plan, const SumTerms& terms,
                                             const SumFactors& factors, std::uint32_t columns,
                                             std::uint32_t width) noexcept {
    shared::OperatorSumParameters p{};
    put_terms(p, terms, columns, width);
    put_factors(p, factors, plan.real64);
    return p;
}

shared::OperatorTotalParameters total_parameters(const SumTerms& terms, std::uint32_t columns,
                                                 std::uint32_t width) noexcept {
    shared::OperatorTotalParameters p{};
    put_terms(p, terms, columns, width);
    return p;
}

shared::OperatorBlockParameters block_parameters(const OperatorPlan& plan, const BlockPlace& place,
                                                 std::uint64_t leading, std::uint32_t columns,
                                                 const SumFactors& factors) noexcept {
    shared::OperatorBlockParameters p{};
    p.rows = word(place.rows);
    p.columns = word(place.columns);
    p.leading = word(leading);
    p.width = columns;
    p.diagonal = word(place.row - place.column);
    put_factors(p, factors, plan.real64);
    return p;
}

shared::OperatorApplyParameters apply_parameters(const OperatorPlan& plan, const ApplyPass& pass,
                                                 const OperatorBand& band) noexcept {
    shared::OperatorApplyParameters p{};
    p.rows = word(band.rows);
    p.columns = word(band.columns);
    p.split = word(pass.split);
    p.splits = word(splits_of(pass, band));
    p.parts = plan.layout.parts;
    p.diagonal = word(band.row);
    return p;
}

shared::OperatorFeatureParameters feature_parameters(const OperatorPlan& plan,
                                                     const LowRankPlan& low) noexcept {
    shared::OperatorFeatureParameters p{};
    p.numbers = word(plan.layout.numbers());
    p.of_qubit = plan.layout.of_qubit;
    p.low_qubits = low.low_qubits;
    p.high_qubits = low.high_qubits;
    p.low_count = word(low.low_count);
    p.high_count = word(low.high_count);
    return p;
}

shared::OperatorRowsParameters rows_parameters(const OperatorPlan& plan) noexcept {
    shared::OperatorRowsParameters p{};
    p.qubits = plan.layout.part_qubits;
    p.parts = plan.layout.parts;
    p.part_numbers = plan.layout.part_numbers;
    put_words(1, plan.real64, p.own_low, p.own_high);
    put_words(plan.shrink(), plan.real64, p.shrink_low, p.shrink_high);
    return p;
}

shared::OperatorBlochParameters bloch_parameters(const OperatorPlan& plan, ElementType features,
                                                 double scale) noexcept {
    shared::OperatorBlochParameters p{};
    p.qubits = plan.shape.qubits;
    p.part_qubits = plan.layout.part_qubits;
    p.parts = plan.layout.parts;
    p.part_numbers = plan.layout.part_numbers;
    put_words(scale, true, p.scale_low, p.scale_high);
    p.wide = features == kFloat64 ? 1u : 0u;
    p.rz = plan.rz ? 1u : 0u;
    return p;
}

}  // namespace weft::kernels
