// SPDX-License-Identifier: Apache-2.0
#include <weft/ops/kernel_ranks.hpp>
#include <weft/ops/kernel_solve.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/error.hpp>

#include "base/batch_call.hpp"
#include "ops/kernel_matrix/store_tiles.hpp"
#include "ops/kernel_operator/operator_check.hpp"
#include "ops/kernel_operator/operator_ranks.hpp"
#include "ops/kernel_solve/operator_eigen.hpp"
#include "ops/kernel_solve/operator_solve.hpp"
#include "ops_vulkan/kernel_matrix/kernel_shares.hpp"
#include "ops_vulkan/kernel_operator/operator_kernel.hpp"
#include "ops_vulkan/kernel_operator/operator_object.hpp"

namespace weft {
namespace {

using kernels::OperatorKernel;
using kernels::Watch;

/// Doubles as values of an array of T; of several ranks, each has its rows.
template <class T>
void gather_into(const KernelRanks& ranks, std::uint64_t samples, const std::vector<double>& from,
                 const HostArray& to) {
    std::vector<T> narrow(from.size());
    std::transform(from.begin(), from.end(), narrow.begin(),
                   [](double value) { return static_cast<T>(value); });
    kernels::gather_rows(ranks, samples, std::as_writable_bytes(std::span(narrow)));
    std::copy(narrow.begin(), narrow.end(), static_cast<T*>(to.data));
}

template <class T>
std::vector<double> doubles_of(const ConstHostArray& y) {
    const std::span<const T> values(static_cast<const T*>(y.data), y.size);
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!std::isfinite(values[i]))
            throw Error(Errc::invalid_argument, "kernel_solve: y is not finite (got value " +
                                                    std::to_string(i) + ", need finite numbers)");
    return {values.begin(), values.end()};
}

/// The facts of a solve, in the order in which users would look for a difference.
template <class Where>
kernels::StoreFacts facts_of_solve(Where& where, const KernelOperator& k, const ConstHostArray& y,
                                   const KernelSolveOptions& options) {
    const kernels::OperatorObject& object = *detail::Access::object(k);
    Backend& first = core::first_backend(where);
    kernels::StoreFacts facts = object.facts();
    const auto add = [&](const char* name, std::string value) { facts.push_back({name, std::move(value)}); };
    add("lambda", kernels::exact(options.lambda));
    add("tolerance", kernels::exact(options.tolerance));
    add("rank", std::to_string(options.rank));
    add("pivots", options.pivots == KernelPivots::random ? "random" : "residual");
    add("seed", std::to_string(options.seed));
    for (auto& fact : kernels::device_facts(first.device())) facts.push_back(std::move(fact));
    add("y", kernels::contents(y));
    add("X", kernels::sum_of_samples(first, object.on("kernel_solve", detail::Access::backend_state(first))));
    return facts;
}

/// The solution in the caller's memory. Errors: invalid_argument - T does not have such numbers.
template <class T>
void narrow(std::span<const double> solution, std::size_t columns, const HostArray& alpha) {
    std::vector<double> largest(columns, 0.0);
    for (std::size_t i = 0; i < solution.size(); ++i) {
        double& most = largest[i % columns];
        if (!(std::abs(solution[i]) <= most)) most = std::abs(solution[i]);  // also NaN
    }
    for (const double most : largest)
        if (!(most <= static_cast<double>(std::numeric_limits<T>::max())) ||
            (most > 0 && most < static_cast<double>(std::numeric_limits<T>::min()))) {
            char text[160];
            std::snprintf(text, sizeof text,
                          "kernel_solve: alpha is beyond its type (got values of %.1e, need %.1e to %.1e; "
                          "scale y, or use another lambda)",
                          most, static_cast<double>(std::numeric_limits<T>::min()),
                          static_cast<double>(std::numeric_limits<T>::max()));
            throw Error(Errc::invalid_argument, text);
        }
    std::transform(solution.begin(), solution.end(), static_cast<T*>(alpha.data),
                   [](double value) { return static_cast<T>(value); });
}

template <class T, class Where>
KernelSolveReport solve_as(Where& where, const KernelOperator& k, const KernelRanks& ranks,
                           const ConstHostArray& y, const HostArray& alpha,
                           const KernelSolveOptions& options) {
    const Watch watch;
    std::vector<double> right, solution;
    std::vector<int> exponents;
    core::ProgressMeter meter("kernel_solve", options.batch, options.max_iterations);
    kernels::together(ranks, [&] {
        right = doubles_of<T>(y);
        solution.resize(right.size());
        exponents = kernels::exponents_of(kernels::column_maxima(right, y.size / k.shape().samples));
        kernels::scale_columns(right, exponents, -1);
        meter.check();
    });
    std::optional<kernels::RankCheckpoint> checkpoint;
    if (!options.checkpoint.empty())
        checkpoint.emplace(ranks, k.shape().samples, exponents.size(), options.checkpoint_every, [&] {
            return std::make_unique<kernels::SolveCheckpoint>(options.checkpoint, options.resume,
                                                              facts_of_solve(where, k, y, options));
        });
    OperatorKernel<T, Where> of_operator(where, k, ranks, options.lambda, options.batch.cancel);
    const kernels::SolveKernel kernel = of_operator.kernel();
    KernelSolveReport report;
    std::optional<kernels::LowRankInverse> inverse;
    if (options.rank != 0) {
        inverse.emplace(kernel, options, checkpoint ? checkpoint->threads() : 0);
        report.rank = inverse->rank();
        report.preconditioner_s = watch.seconds();
    }
    kernels::conjugate_gradients(
        kernel, inverse ? &*inverse : nullptr, right, solution, options,
        [&](std::uint32_t iterations) { kernels::together(ranks, [&] { meter.show(iterations); }); }, report,
        checkpoint ? &*checkpoint : nullptr);
    kernels::gather_rows(ranks, k.shape().samples, std::as_writable_bytes(std::span(solution)));
    kernels::scale_columns(solution, exponents, 1);
    narrow<T>(solution, exponents.size(), alpha);
    report.product_s = of_operator.product_s;
    report.wall_s = watch.seconds();
    return report;
}

template <class Where>
KernelSolveReport solve(Where& where, const KernelOperator& k, const KernelRanks& ranks,
                        const ConstHostArray& y, const HostArray& alpha, const KernelSolveOptions& options) {
    kernels::check_ranks("kernel_solve", ranks);
    kernels::together(ranks, [&] {
        core::require_members("kernel_solve", options.batch, {});
        kernels::check_solve(k.shape(), k.type(), y, alpha, options);
        kernels::check_out_memory("kernel_solve", &y, alpha);
    });
    return k.type() == kFloat64 ? solve_as<double>(where, k, ranks, y, alpha, options)
                                : solve_as<float>(where, k, ranks, y, alpha, options);
}

template <class T, class Where>
KernelEigenReport eigen_as(Where& where, const KernelOperator& k, const KernelRanks& ranks,
                           const HostArray& values, const HostArray& vectors,
                           const KernelEigenOptions& options) {
    const Watch watch;
    core::ProgressMeter meter("kernel_eigen", options.batch, options.max_products);
    std::vector<double> found, of_found;
    kernels::together(ranks, [&] {
        found.resize(values.size);
        of_found.resize(vectors.size);
        meter.check();
    });
    OperatorKernel<T, Where> of_operator(where, k, ranks, 0, options.batch.cancel);
    KernelEigenReport report;
    kernels::largest_eigenvalues(
        of_operator.kernel(), found, of_found, options,
        [&](std::uint32_t products) { kernels::together(ranks, [&] { meter.show(products); }); }, report);
    gather_into<T>(ranks, k.shape().samples, of_found, vectors);
    std::transform(found.begin(), found.end(), static_cast<T*>(values.data),
                   [](double value) { return static_cast<T>(value); });
    report.product_s = of_operator.product_s;
    report.wall_s = watch.seconds();
    return report;
}

template <class Where>
KernelEigenReport eigen(Where& where, const KernelOperator& k, const KernelRanks& ranks,
                        const HostArray& values, const HostArray& vectors,
                        const KernelEigenOptions& options) {
    kernels::check_ranks("kernel_eigen", ranks);
    kernels::together(ranks, [&] {
        core::require_members("kernel_eigen", options.batch, {});
        kernels::check_eigen(k.shape(), k.type(), values, vectors, options);
        const ConstHostArray of_values = values;
        kernels::check_out_memory("kernel_eigen", &of_values, vectors);
    });
    return k.type() == kFloat64 ? eigen_as<double>(where, k, ranks, values, vectors, options)
                                : eigen_as<float>(where, k, ranks, values, vectors, options);
}

HostArray part_of(const HostArray& array, std::uint64_t first, std::uint64_t count) {
    return {static_cast<std::byte*>(array.data) + first * array.type.bytes(), count, array.type};
}

/// kernel_apply of this rank's rows, and those of the others.
template <class Where>
OpReport apply(Where& where, const KernelOperator& k, const KernelRanks& ranks, const ConstHostArray& v,
               const HostArray& out, const KernelApplyHostOptions& host) {
    const Watch watch;
    kernels::check_ranks("kernel_apply", ranks);
    OpReport report;
    std::uint64_t all_rows = 0;
    kernels::together(ranks, [&] {
        core::require_members("kernel_apply", host.batch, {});
        const kernels::OperatorPlan& plan = kernels::samples_on(core::first_backend(where), k).plan;
        const std::uint64_t columns = kernels::check_apply(plan, kernels::facts_of(v), kernels::facts_of(out),
                                                           kernels::apply_options(host));
        kernels::check_out_memory("kernel_apply", &v, out);
        all_rows = kernels::side_of(plan, host.transpose).rows;
        const KernelRankRows own = kernel_rank_rows(all_rows, ranks.rank, ranks.size);
        if (own.first != own.last)
            report = kernels::apply_rows(where, k, v,
                                         part_of(out, own.first * columns, (own.last - own.first) * columns),
                                         {own.first, own.last}, host);
    });
    kernels::gather_rows(ranks, all_rows, {static_cast<std::byte*>(out.data), out.bytes()});
    const OpReport made = report;
    report = kernels::operator_report("kernel_apply", made.items, v.bytes(), out);
    report.method = made.method;
    report.chunks = made.chunks;
    report.devices = made.devices;
    report.wall_s = watch.seconds();
    return report;
}

}  // namespace

KernelSolveReport kernel_solve(Backend& backend, const KernelOperator& k, const ConstHostArray& y,
                               const HostArray& alpha, const KernelSolveOptions& options) {
    return solve(backend, k, {}, y, alpha, options);
}
KernelSolveReport kernel_solve(Devices& devices, const KernelOperator& k, const ConstHostArray& y,
                               const HostArray& alpha, const KernelSolveOptions& options) {
    return solve(devices, k, {}, y, alpha, options);
}

KernelEigenReport kernel_eigen(Backend& backend, const KernelOperator& k, const HostArray& values,
                               const HostArray& vectors, const KernelEigenOptions& options) {
    return eigen(backend, k, {}, values, vectors, options);
}
KernelEigenReport kernel_eigen(Devices& devices, const KernelOperator& k, const HostArray& values,
                               const HostArray& vectors, const KernelEigenOptions& options) {
    return eigen(devices, k, {}, values, vectors, options);
}

OpReport kernel_apply(Backend& backend, const KernelOperator& k, const KernelRanks& ranks,
                      const ConstHostArray& v, const HostArray& out, const KernelApplyHostOptions& options) {
    return apply(backend, k, ranks, v, out, options);
}
OpReport kernel_apply(Devices& devices, const KernelOperator& k, const KernelRanks& ranks,
                      const ConstHostArray& v, const HostArray& out, const KernelApplyHostOptions& options) {
    return apply(devices, k, ranks, v, out, options);
}
KernelSolveReport kernel_solve(Backend& backend, const KernelOperator& k, const KernelRanks& ranks,
                               const ConstHostArray& y, const HostArray& alpha,
                               const KernelSolveOptions& options) {
    return solve(backend, k, ranks, y, alpha, options);
}
KernelSolveReport kernel_solve(Devices& devices, const KernelOperator& k, const KernelRanks& ranks,
                               const ConstHostArray& y, const HostArray& alpha,
                               const KernelSolveOptions& options) {
    return solve(devices, k, ranks, y, alpha, options);
}
KernelEigenReport kernel_eigen(Backend& backend, const KernelOperator& k, const KernelRanks& ranks,
                               const HostArray& values, const HostArray& vectors,
                               const KernelEigenOptions& options) {
    return eigen(backend, k, ranks, values, vectors, options);
}
KernelEigenReport kernel_eigen(Devices& devices, const KernelOperator& k, const KernelRanks& ranks,
                               const HostArray& values, const HostArray& vectors,
                               const KernelEigenOptions& options) {
    return eigen(devices, k, ranks, values, vectors, options);
}

}  // namespace weft
