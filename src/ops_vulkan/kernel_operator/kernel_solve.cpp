// SPDX-License-Identifier: Apache-2.0
#include <weft/ops/kernel_solve.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/error.hpp>

#include "base/batch_call.hpp"
#include "ops/kernel_matrix/store_tiles.hpp"
#include "ops/kernel_operator/operator_check.hpp"
#include "ops/kernel_operator/operator_eigen.hpp"
#include "ops/kernel_operator/operator_solve.hpp"
#include "ops_vulkan/kernel_matrix/kernel_shares.hpp"
#include "ops_vulkan/kernel_operator/operator_kernel.hpp"
#include "ops_vulkan/kernel_operator/operator_object.hpp"

namespace weft {
namespace {

using kernels::OperatorKernel;
using kernels::Watch;

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
KernelSolveReport solve_as(Where& where, const KernelOperator& k, const ConstHostArray& y,
                           const HostArray& alpha, const KernelSolveOptions& options) {
    const Watch watch;
    std::vector<double> right = doubles_of<T>(y), solution(right.size());
    const std::vector<int> exponents = kernels::column_exponents(right, y.size / k.shape().samples);
    kernels::scale_columns(right, exponents, -1);
    core::ProgressMeter meter("kernel_solve", options.batch, options.max_iterations);
    meter.check();
    std::optional<kernels::SolveCheckpoint> checkpoint;
    if (!options.checkpoint.empty())
        checkpoint.emplace(options.checkpoint, options.checkpoint_every, options.resume,
                           facts_of_solve(where, k, y, options));
    OperatorKernel<T, Where> of_operator(where, k, options.lambda, options.batch.cancel);
    const kernels::SolveKernel kernel = of_operator.kernel();
    KernelSolveReport report;
    std::optional<kernels::LowRankInverse> inverse;
    if (options.rank != 0) {
        inverse.emplace(kernel, options, checkpoint ? &*checkpoint : nullptr);
        report.rank = inverse->rank();
        report.preconditioner_s = watch.seconds();
    }
    kernels::conjugate_gradients(
        kernel, inverse ? &*inverse : nullptr, right, solution, options,
        [&](std::uint32_t iterations) { meter.show(iterations); }, report,
        checkpoint ? &*checkpoint : nullptr);
    kernels::scale_columns(solution, exponents, 1);
    narrow<T>(solution, exponents.size(), alpha);
    report.product_s = of_operator.product_s;
    report.wall_s = watch.seconds();
    return report;
}

template <class Where>
KernelSolveReport solve(Where& where, const KernelOperator& k, const ConstHostArray& y,
                        const HostArray& alpha, const KernelSolveOptions& options) {
    core::require_members("kernel_solve", options.batch, {});
    kernels::check_solve(k.shape(), k.type(), y, alpha, options);
    kernels::check_out_memory("kernel_solve", &y, alpha);
    return k.type() == kFloat64 ? solve_as<double>(where, k, y, alpha, options)
                                : solve_as<float>(where, k, y, alpha, options);
}

template <class T, class Where>
KernelEigenReport eigen_as(Where& where, const KernelOperator& k, const HostArray& values,
                           const HostArray& vectors, const KernelEigenOptions& options) {
    const Watch watch;
    core::ProgressMeter meter("kernel_eigen", options.batch, options.max_products);
    meter.check();
    OperatorKernel<T, Where> of_operator(where, k, 0, options.batch.cancel);
    std::vector<double> found(values.size), of_found(vectors.size);
    KernelEigenReport report;
    kernels::largest_eigenvalues(
        of_operator.kernel(), found, of_found, options, [&](std::uint32_t products) { meter.show(products); },
        report);
    const auto as_type = [](double value) { return static_cast<T>(value); };
    std::transform(found.begin(), found.end(), static_cast<T*>(values.data), as_type);
    std::transform(of_found.begin(), of_found.end(), static_cast<T*>(vectors.data), as_type);
    report.product_s = of_operator.product_s;
    report.wall_s = watch.seconds();
    return report;
}

template <class Where>
KernelEigenReport eigen(Where& where, const KernelOperator& k, const HostArray& values,
                        const HostArray& vectors, const KernelEigenOptions& options) {
    core::require_members("kernel_eigen", options.batch, {});
    kernels::check_eigen(k.shape(), k.type(), values, vectors, options);
    const ConstHostArray of_values = values;
    kernels::check_out_memory("kernel_eigen", &of_values, vectors);
    return k.type() == kFloat64 ? eigen_as<double>(where, k, values, vectors, options)
                                : eigen_as<float>(where, k, values, vectors, options);
}

}  // namespace

KernelSolveReport kernel_solve(Backend& backend, const KernelOperator& k, const ConstHostArray& y,
                               const HostArray& alpha, const KernelSolveOptions& options) {
    return solve(backend, k, y, alpha, options);
}
KernelSolveReport kernel_solve(Devices& devices, const KernelOperator& k, const ConstHostArray& y,
                               const HostArray& alpha, const KernelSolveOptions& options) {
    return solve(devices, k, y, alpha, options);
}

KernelEigenReport kernel_eigen(Backend& backend, const KernelOperator& k, const HostArray& values,
                               const HostArray& vectors, const KernelEigenOptions& options) {
    return eigen(backend, k, values, vectors, options);
}
KernelEigenReport kernel_eigen(Devices& devices, const KernelOperator& k, const HostArray& values,
                               const HostArray& vectors, const KernelEigenOptions& options) {
    return eigen(devices, k, values, vectors, options);
}

}  // namespace weft
