// SPDX-License-Identifier: Apache-2.0
// Completes <weft/mpi/distributed.hpp>: kernel operators and solvers over ranks.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <weft/error.hpp>
#include <weft/mpi/distributed.hpp>

#include "base/batch_call.hpp"
#include "mpi/ranks_state.hpp"
#include "ops/kernel_operator/operator_check.hpp"
#include "ops/kernel_operator/operator_ranks.hpp"
#include "ops_vulkan/kernel_matrix/kernel_shares.hpp"

namespace weft::mpi {
namespace {

using kernels::StoreFacts;

std::string text_of(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}
std::string text_of(Choice choice) {
    return std::to_string(static_cast<int>(choice));
}

/// An array as text. One that is null is refused by the call itself.
std::string contents(const ConstHostArray& array) {
    kernels::ContentSum sum;
    if (array.data != nullptr) sum.add({static_cast<const std::byte*>(array.data), array.bytes()});
    return std::to_string(array.size) + " of " + to_string(array.type) + ", checksum " +
           std::to_string(sum.value());
}

StoreFacts shape_facts(const KernelMatrixShape& shape, ElementType type) {
    StoreFacts facts = kernels::file_facts(shape, type);
    facts.push_back({"qubits", std::to_string(shape.qubits)});
    return facts;
}

void add(StoreFacts& facts, StoreFacts more) {
    for (kernels::StoreFact& fact : more) facts.push_back(std::move(fact));
}

/// `circuit` is null if states are given.
StoreFacts circuit_facts(const KernelMatrixCircuit* circuit) {
    if (circuit == nullptr) return {{"map", "none, states"}};
    return {{"map", std::to_string(static_cast<int>(circuit->map))},
            {"scale", text_of(circuit->scale)},
            {"reupload", circuit->reupload ? "on" : "off"},
            {"weights", contents(circuit->weights)}};
}

StoreFacts device_facts(const RankDevices& devices) {
    return devices.visit(
        [](auto& where) { return kernels::device_facts(core::first_backend(where).device()); });
}

/// The part of an array that is a rank's.
template <class Array>
Array rows_of(const Array& array, std::uint64_t columns, const KernelRankRows& rows) {
    using Byte = std::conditional_t<std::is_same_v<Array, HostArray>, std::byte, const std::byte>;
    return {static_cast<Byte*>(array.data) + rows.first * columns * array.type.bytes(),
            (rows.last - rows.first) * columns, array.type};
}

/// The operator that the arguments select; `circuit` is null if states are given, and `y` may be null.
template <class Where>
KernelOperator operator_on(Where& where, const KernelMatrixCircuit* circuit, const ConstHostArray& x,
                           const ConstHostArray* y, const KernelMatrixShape& shape,
                           const KernelOperatorOptions& options) {
    if (circuit == nullptr && y == nullptr) return {where, x, shape, options};
    if (circuit == nullptr) return {where, x, *y, shape, options};
    if (y == nullptr) return {where, *circuit, x, shape, options};
    return {where, *circuit, x, *y, shape, options};
}

OpReport predict(Backend& backend, const KernelMatrixCircuit* circuit, const ConstHostArray& x_new,
                 const ConstHostArray& x, const ConstHostArray& alpha, const HostArray& out,
                 const KernelMatrixShape& shape, const BatchOptions& batch) {
    if (circuit == nullptr) return weft::kernel_predict(backend, x_new, x, alpha, out, shape, batch);
    return weft::kernel_predict(backend, *circuit, x_new, x, alpha, out, shape, batch);
}
/// Several devices share the products; rows that they hold together are those of an operator.
OpReport predict(Devices& devices, const KernelMatrixCircuit* circuit, const ConstHostArray& x_new,
                 const ConstHostArray& x, const ConstHostArray& alpha, const HostArray& out,
                 const KernelMatrixShape& shape, const BatchOptions& batch) {
    const KernelOperator k = kernels::as_prediction(
        [&] { return operator_on(devices, circuit, x_new, &x, shape, {.type = alpha.type}); });
    return weft::kernel_apply(devices, k, alpha, out, {.batch = batch});
}

KernelOperator made_on(Ranks& of, const RankDevices& devices, const KernelMatrixCircuit* circuit,
                       const ConstHostArray& x, const ConstHostArray* y, const KernelMatrixShape& shape,
                       const KernelOperatorOptions& options) {
    RanksState& ranks = weft::detail::Access::state(of);
    StoreFacts facts = shape_facts(shape, options.type);
    add(facts, circuit_facts(circuit));
    add(facts, {{"normalize", options.normalize ? "on" : "off"},
                {"jitter", text_of(options.jitter)},
                {"symmetric", text_of(options.symmetric)},
                {"low_rank", text_of(options.low_rank)},
                {"X", contents(x)},
                {"Y", y != nullptr ? contents(*y) : "none"}});
    add(facts, device_facts(devices));
    ranks.require_same("KernelOperator", facts);
    std::optional<KernelOperator> made;
    ranks.together([&] {
        devices.visit([&](auto& where) { made.emplace(operator_on(where, circuit, x, y, shape, options)); });
    });
    return *std::move(made);
}

/// `circuit` is null if states are given.
OpReport predict_rows(Ranks& of, const RankDevices& devices, const KernelMatrixCircuit* circuit,
                      const ConstHostArray& x_new, const ConstHostArray& x, const ConstHostArray& alpha,
                      const HostArray& out, const KernelMatrixShape& shape, const BatchOptions& batch) {
    const auto begin = std::chrono::steady_clock::now();
    RanksState& ranks = weft::detail::Access::state(of);
    StoreFacts facts = shape_facts(shape, alpha.type);
    add(facts, circuit_facts(circuit));
    add(facts, {{"X_NEW", contents(x_new)},
                {"X", contents(x)},
                {"alpha", contents(alpha)},
                {"size of out", std::to_string(out.size)}});
    add(facts, device_facts(devices));
    ranks.require_same("kernel_predict", facts);
    OpReport report;
    ranks.together([&] {
        // Numbers of a row: features, or amplitudes.
        const std::uint64_t width =
            circuit != nullptr ? shape.qubits : std::uint64_t{1} << std::min(shape.qubits, 62u);
        // Arrays that do not fit are refused by the call for all rows, before it does anything.
        const bool fits = shape.others != 0 && alpha.size % shape.others == 0 &&
                          x_new.size == shape.samples * width && x_new.data != nullptr &&
                          out.size == shape.samples * (alpha.size / shape.others) && out.data != nullptr;
        const KernelRankRows rows =
            fits ? kernel_rank_rows(shape.samples, ranks.kernel_ranks().rank, ranks.kernel_ranks().size)
                 : KernelRankRows{0, shape.samples};
        if (fits && rows.first == rows.last) return;
        const std::uint64_t columns = fits ? alpha.size / shape.others : 1;
        report = devices.visit([&](auto& where) {
            return predict(where, circuit, fits ? rows_of(x_new, width, rows) : x_new, x, alpha,
                           fits ? rows_of(out, columns, rows) : out,
                           {rows.last - rows.first, shape.others, shape.qubits}, batch);
        });
    });
    kernels::gather_rows(ranks.kernel_ranks(), shape.samples,
                         {static_cast<std::byte*>(out.data), out.bytes()});
    report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return report;
}

}  // namespace

KernelOperator kernel_operator(Ranks& ranks, RankDevices devices, const KernelMatrixCircuit& circuit,
                               const ConstHostArray& x, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options) {
    return made_on(ranks, devices, &circuit, x, nullptr, shape, options);
}
KernelOperator kernel_operator(Ranks& ranks, RankDevices devices, const KernelMatrixCircuit& circuit,
                               const ConstHostArray& x, const ConstHostArray& y,
                               const KernelMatrixShape& shape, const KernelOperatorOptions& options) {
    return made_on(ranks, devices, &circuit, x, &y, shape, options);
}
KernelOperator kernel_operator(Ranks& ranks, RankDevices devices, const ConstHostArray& states,
                               const KernelMatrixShape& shape, const KernelOperatorOptions& options) {
    return made_on(ranks, devices, nullptr, states, nullptr, shape, options);
}
KernelOperator kernel_operator(Ranks& ranks, RankDevices devices,
                               const weft::detail::GivenStates<ConstHostArray>& states,
                               const ConstHostArray& others, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options) {
    return made_on(ranks, devices, nullptr, states, &others, shape, options);
}

OpReport kernel_apply(Ranks& of, RankDevices devices, const KernelOperator& k, const ConstHostArray& v,
                      const HostArray& out, const KernelApplyHostOptions& options) {
    RanksState& ranks = weft::detail::Access::state(of);
    StoreFacts facts = shape_facts(k.shape(), k.type());
    add(facts, {{"a", text_of(options.a)},
                {"b", text_of(options.b)},
                {"lambda", text_of(options.lambda)},
                {"transpose", options.transpose ? "on" : "off"},
                {"V", contents(v)},
                {"size of out", std::to_string(out.size)},
                {"out", options.b != 0 ? contents(out) : "not read"}});
    ranks.require_same("kernel_apply", facts);
    return devices.visit(
        [&](auto& where) { return weft::kernel_apply(where, k, ranks.kernel_ranks(), v, out, options); });
}

KernelSolveReport kernel_solve(Ranks& of, RankDevices devices, const KernelOperator& k,
                               const ConstHostArray& y, const HostArray& alpha,
                               const KernelSolveOptions& options) {
    RanksState& ranks = weft::detail::Access::state(of);
    StoreFacts facts = shape_facts(k.shape(), k.type());
    add(facts, {{"lambda", text_of(options.lambda)},
                {"tolerance", text_of(options.tolerance)},
                {"max_iterations", std::to_string(options.max_iterations)},
                {"rank", std::to_string(options.rank)},
                {"pivots", std::to_string(static_cast<int>(options.pivots))},
                {"seed", std::to_string(options.seed)},
                {"checkpoint", options.checkpoint.string()},
                {"checkpoint_every", std::to_string(options.checkpoint_every)},
                {"resume", options.resume ? "on" : "off"},
                {"y", contents(y)},
                {"size of alpha", std::to_string(alpha.size)}});
    ranks.require_same("kernel_solve", facts);
    return devices.visit(
        [&](auto& where) { return weft::kernel_solve(where, k, ranks.kernel_ranks(), y, alpha, options); });
}

KernelEigenReport kernel_eigen(Ranks& of, RankDevices devices, const KernelOperator& k,
                               const HostArray& values, const HostArray& vectors,
                               const KernelEigenOptions& options) {
    RanksState& ranks = weft::detail::Access::state(of);
    StoreFacts facts = shape_facts(k.shape(), k.type());
    add(facts, {{"tolerance", text_of(options.tolerance)},
                {"max_products", std::to_string(options.max_products)},
                {"seed", std::to_string(options.seed)},
                {"number of values", std::to_string(values.size)},
                {"size of vectors", std::to_string(vectors.size)}});
    ranks.require_same("kernel_eigen", facts);
    return devices.visit([&](auto& where) {
        return weft::kernel_eigen(where, k, ranks.kernel_ranks(), values, vectors, options);
    });
}

OpReport kernel_predict(Ranks& ranks, RankDevices devices, const KernelMatrixCircuit& circuit,
                        const ConstHostArray& x_new, const ConstHostArray& x, const ConstHostArray& alpha,
                        const HostArray& out, const KernelMatrixShape& shape, const BatchOptions& batch) {
    return predict_rows(ranks, devices, &circuit, x_new, x, alpha, out, shape, batch);
}
OpReport kernel_predict(Ranks& ranks, RankDevices devices, const ConstHostArray& states_new,
                        const ConstHostArray& states, const ConstHostArray& alpha, const HostArray& out,
                        const KernelMatrixShape& shape, const BatchOptions& batch) {
    return predict_rows(ranks, devices, nullptr, states_new, states, alpha, out, shape, batch);
}

}  // namespace weft::mpi
