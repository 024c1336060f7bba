// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_operator/operator_check.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include <weft/error.hpp>

#include "base/refusal.hpp"
#include "base/span_set.hpp"

namespace weft {

const char* to_string(KernelOperatorMethod method) noexcept {
    switch (method) {
        case KernelOperatorMethod::product:
            return "product";
        case KernelOperatorMethod::low_rank:
            return "low_rank";
        case KernelOperatorMethod::states:
            break;
    }
    return "states";
}

namespace kernels {
namespace {

void check_type(const char* function, const char* what, ElementType got, ElementType need) {
    if (got != need)
        core::refuse(function, std::string(what) + " is of another type than the operator (got " +
                                   to_string(got) + ", need " + to_string(need) + ")");
}

void check_extent(const char* function, const char* what, std::uint64_t got, std::uint64_t need) {
    if (got != need)
        core::refuse(function, std::string(what) + " does not fit the shape (got " + std::to_string(got) +
                                   " values, need " + std::to_string(need) + ")");
}

constexpr const char* kOperator = "KernelOperator";

void check_options(const KernelMatrixShape& shape, const KernelOperatorOptions& options) {
    KernelMatrixOptions same;
    same.normalize = options.normalize;
    same.jitter = options.jitter;
    same.vram_fraction = options.vram_fraction;
    check_real_type("type", options.type);
    check_kernel_options(same);
    check_options_apply(same, shape, KernelMatrixMethod::product);
}

void check_sizes(const KernelMatrixShape& shape, const KernelOperatorOptions& options) {
    constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 31;
    for (const std::uint64_t rows : {shape.samples, shape.others})
        if (rows > kMostSamples)
            core::refuse(kOperator, "too many samples (got " + std::to_string(rows) + ", need at most 2^31)");
    if (options.symmetric == Choice::on && !shape.square())
        core::refuse(kOperator, "symmetric does not apply to K of X with Y (got on, need automatic or off)");
}

void refuse_low_rank(const KernelOperatorOptions& options) {
    if (options.low_rank == Choice::on)
        core::refuse(kOperator,
                     "low_rank does not apply to products of states (got on, need automatic or off)");
}

/// Types and lengths of X and Y, whose rows have `row` values.
void check_inputs(const ArrayFacts& x, const std::optional<ArrayFacts>& y, const KernelMatrixShape& shape,
                  std::uint64_t row) {
    check_extent(kOperator, "x", x.size, shape.samples * row);
    if (!y) return;
    if (y->type != x.type)
        core::refuse(kOperator, "y is of another type than x (got " + to_string(y->type) + ", need " +
                                    to_string(x.type) + ")");
    check_extent(kOperator, "y", y->size, shape.others * row);
}

void check_factor(const char* name, double value) {
    if (!std::isfinite(value))
        core::refuse("kernel_apply", std::string(name) + " is not finite (got " + std::to_string(value) +
                                         ", need a finite number)");
}

}  // namespace

std::string operator_text(std::string text) {
    for (const std::string other : {"kernel_matrix: ", "KernelMatrixOptions::"})
        if (const std::size_t at = text.find(other); at != std::string::npos)
            text.replace(at, other.size(), at == 0 ? "KernelOperator: " : "KernelOperatorOptions::");
    return text;
}

std::string prediction_text(std::string_view text) {
    constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"kernel_matrix", "kernel_predict"},
                                                                        {"KernelOperator", "kernel_predict"},
                                                                        {"kernel_apply", "kernel_predict"},
                                                                        {"x", "x_new"},
                                                                        {"X", "x_new"},
                                                                        {"y", "x"},
                                                                        {"Y", "x"},
                                                                        {"v", "alpha"},
                                                                        {"V", "alpha"}};
    const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    std::string renamed;
    while (!text.empty()) {
        const auto end = std::find_if_not(text.begin(), text.end(), in_word);
        const std::string_view word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
        const auto* const name =
            std::find_if(std::begin(kNames), std::end(kNames), [&](auto& of) { return of.first == word; });
        renamed += name != std::end(kNames) ? name->second : word;
        text.remove_prefix(word.size());
        if (text.empty()) break;
        renamed += text.front();
        text.remove_prefix(1);
    }
    return renamed;
}

CircuitFacts check_operator(const KernelMatrixCircuit& circuit, const KernelMatrixShape& shape, bool with_y,
                            const KernelOperatorOptions& options) {
    const CircuitFacts facts = as_operator([&] {
        check_kernel_shape(shape, with_y);
        check_options(shape, options);
        return circuit_facts(shape, circuit, false);
    });
    check_sizes(shape, options);
    if (effective_layers(facts) != 0) {
        refuse_low_rank(options);
    } else if (options.low_rank == Choice::on && features_of(circuit.map, shape.qubits) > kMostFeatures) {
        core::refuse(kOperator, "low_rank: too many features (got " + std::to_string(shape.qubits) +
                                    " qubits, need at most 9 of ryrz, 11 of ry)");
    }
    return facts;
}

CircuitFacts check_operator(const KernelMatrixCircuit& circuit, const ArrayFacts& x,
                            const std::optional<ArrayFacts>& y, const KernelMatrixShape& shape,
                            const KernelOperatorOptions& options) {
    const CircuitFacts facts = check_operator(circuit, shape, y.has_value(), options);
    as_operator([&] { check_real_type("x", x.type); });
    check_inputs(x, y, shape, shape.qubits);
    return facts;
}

CircuitFacts check_given_operator(ElementType states, const KernelMatrixShape& shape, bool with_y,
                                  const KernelOperatorOptions& options) {
    const CircuitFacts facts = as_operator([&] {
        check_state_shape(shape, with_y);
        check_options(shape, options);
        return state_facts(states, false);
    });
    check_sizes(shape, options);
    refuse_low_rank(options);
    return facts;
}

CircuitFacts check_given_operator(const ArrayFacts& x, const std::optional<ArrayFacts>& y,
                                  const KernelMatrixShape& shape, const KernelOperatorOptions& options) {
    const CircuitFacts facts = check_given_operator(x.type, shape, y.has_value(), options);
    check_inputs(x, y, shape, std::uint64_t{1} << shape.qubits);
    return facts;
}

void check_columns(std::uint64_t columns) {
    if (columns == 0 || columns > kMostColumns)
        core::refuse("kernel_apply", "columns of V out of range (got " + std::to_string(columns) +
                                         ", need 1 to " + std::to_string(kMostColumns) + ")");
}

std::uint32_t check_apply(const OperatorPlan& plan, const ArrayFacts& v, const ArrayFacts& out,
                          const KernelApplyOptions& options) {
    constexpr const char* kFunction = "kernel_apply";
    const ApplySide side = side_of(plan, options.transpose);
    check_type(kFunction, "v", v.type, plan.options.type);
    check_type(kFunction, "out", out.type, plan.options.type);
    check_factor("a", options.a);
    check_factor("b", options.b);
    check_factor("lambda", options.lambda);
    if (options.lambda != 0 && !side.square)
        core::refuse(kFunction, "lambda does not apply to K of X with Y, which has no diagonal (got " +
                                    std::to_string(options.lambda) + ", need 0)");
    if (v.size % side.columns != 0)
        core::refuse(kFunction, "v does not fit the shape (got " + std::to_string(v.size) +
                                    " values, need a multiple of " + std::to_string(side.columns) +
                                    ", the columns of K)");
    const std::uint64_t columns = v.size / side.columns;
    check_columns(columns);
    check_extent(kFunction, "out", out.size, side.rows * columns);
    return static_cast<std::uint32_t>(columns);
}

void check_rows(const OperatorPlan& plan, const std::vector<std::uint32_t>& rows, const ArrayFacts& out) {
    constexpr const char* kFunction = "kernel_rows";
    for (const std::uint32_t row : rows)
        if (row >= plan.shape.samples)
            core::refuse(kFunction, "no such row (got " + std::to_string(row) + ", need below " +
                                        std::to_string(plan.shape.samples) + ")");
    check_type(kFunction, "out", out.type, plan.options.type);
    check_extent(kFunction, "out", out.size, rows.size() * plan.shape.columns());
}

void check_diagonal(const OperatorPlan& plan, const ArrayFacts& out) {
    constexpr const char* kFunction = "kernel_diagonal";
    if (!plan.shape.square())
        core::refuse(kFunction, "K of X with Y has no diagonal (need a square operator)");
    check_type(kFunction, "out", out.type, plan.options.type);
    check_extent(kFunction, "out", out.size, plan.shape.samples);
}

void check_out_memory(const char* function, const ConstHostArray* in, const HostArray& out) {
    const auto check = [&](const char* what, const void* data, ElementType type) {
        if (data == nullptr) core::refuse(function, std::string(what) + " is null");
        if (reinterpret_cast<std::uintptr_t>(data) % type.bytes() != 0)
            core::refuse(function, std::string(what) + " is not aligned to its type");
    };
    check("out", out.data, out.type);
    if (in == nullptr) return;
    check("v", in->data, in->type);
    if (core::share_memory(core::span_of(in->data, in->bytes(), 0, false),
                           core::span_of(out.data, out.bytes(), 0, true)))
        core::refuse(function, "out overlaps v (need separate memory)");
}

OpReport operator_report(const char* function, std::uint64_t items, std::uint64_t bytes_in,
                         const HostArray& out) {
    OpReport report;
    report.op = function;
    report.method = to_string(KernelOperatorMethod::product);
    report.items = items;
    report.jobs = 1;
    report.elements = out.size;
    report.bytes_in = bytes_in;
    report.bytes_out = out.bytes();
    return report;
}

}  // namespace kernels
}  // namespace weft
