// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_solve/operator_models.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <weft/error.hpp>

#include "base/batch_call.hpp"
#include "ops/kernel_matrix/store_tiles.hpp"
#include "ops/kernel_operator/operator_call.hpp"
#include "ops/kernel_operator/operator_check.hpp"
#include "ops/kernel_operator/operator_ranks.hpp"
#include "ops/kernel_solve/model_kernel.hpp"
#include "ops/kernel_solve/operator_eigen.hpp"
#include "ops/kernel_solve/operator_solve.hpp"

namespace weft::kernels {
namespace {

/// Doubles as values of an array of T; of several ranks, each has its rows.
template <class T>
void gather_into(const KernelRanks& ranks, std::uint64_t samples, const std::vector<double>& from,
                 const HostArray& to) {
    std::vector<T> narrow(from.size());
    std::transform(from.begin(), from.end(), narrow.begin(),
                   [](double value) { return static_cast<T>(value); });
    gather_rows(ranks, samples, std::as_writable_bytes(std::span(narrow)));
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
StoreFacts facts_of_solve(const ModelOperator& k, const ConstHostArray& y,
                          const KernelSolveOptions& options) {
    ModelFacts own = k.facts();
    StoreFacts& facts = own.of_operator;
    const auto add = [&](const char* name, std::string value) { facts.push_back({name, std::move(value)}); };
    add("lambda", exact(options.lambda));
    add("tolerance", exact(options.tolerance));
    add("rank", std::to_string(options.rank));
    add("pivots", options.pivots == KernelPivots::random ? "random" : "residual");
    add("seed", std::to_string(options.seed));
    for (auto& fact : own.of_device) facts.push_back(std::move(fact));
    add("y", contents(y));
    add("X", own.samples);
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

template <class T>
KernelSolveReport solve_as(const ModelOperator& k, const KernelRanks& ranks, const ConstHostArray& y,
                           const HostArray& alpha, const KernelSolveOptions& options) {
    const Watch watch;
    std::vector<double> right, solution;
    std::vector<int> exponents;
    core::ProgressMeter meter("kernel_solve", options.batch, options.max_iterations);
    together(ranks, [&] {
        right = doubles_of<T>(y);
        solution.resize(right.size());
        exponents = exponents_of(column_maxima(right, y.size / k.shape().samples));
        scale_columns(right, exponents, -1);
        meter.check();
    });
    std::optional<RankCheckpoint> checkpoint;
    if (!options.checkpoint.empty())
        checkpoint.emplace(ranks, k.shape().samples, exponents.size(), options.checkpoint_every, [&] {
            return std::make_unique<SolveCheckpoint>(options.checkpoint, options.resume,
                                                     facts_of_solve(k, y, options));
        });
    ModelKernel<T> of_operator(k, ranks, options.lambda, options.batch.cancel);
    const SolveKernel kernel = of_operator.kernel();
    KernelSolveReport report;
    std::optional<LowRankInverse> inverse;
    if (options.rank != 0) {
        inverse.emplace(kernel, options, checkpoint ? checkpoint->threads() : 0);
        report.rank = inverse->rank();
        report.preconditioner_s = watch.seconds();
    }
    conjugate_gradients(
        kernel, inverse ? &*inverse : nullptr, right, solution, options,
        [&](std::uint32_t iterations) { together(ranks, [&] { meter.show(iterations); }); }, report,
        checkpoint ? &*checkpoint : nullptr);
    gather_rows(ranks, k.shape().samples, std::as_writable_bytes(std::span(solution)));
    scale_columns(solution, exponents, 1);
    narrow<T>(solution, exponents.size(), alpha);
    report.product_s = of_operator.product_s;
    report.wall_s = watch.seconds();
    return report;
}

}  // namespace

KernelSolveReport solve(const ModelOperator& k, const KernelRanks& ranks, const ConstHostArray& y,
                        const HostArray& alpha, const KernelSolveOptions& options) {
    check_ranks("kernel_solve", ranks);
    together(ranks, [&] {
        core::require_members("kernel_solve", options.batch, {});
        check_solve(k.shape(), k.type(), y, alpha, options);
        check_out_memory("kernel_solve", &y, alpha);
    });
    return k.type() == kFloat64 ? solve_as<double>(k, ranks, y, alpha, options)
                                : solve_as<float>(k, ranks, y, alpha, options);
}

namespace {

template <class T>
KernelEigenReport eigen_as(const ModelOperator& k, const KernelRanks& ranks, const HostArray& values,
                           const HostArray& vectors, const KernelEigenOptions& options) {
    const Watch watch;
    core::ProgressMeter meter("kernel_eigen", options.batch, options.max_products);
    std::vector<double> found, of_found;
    together(ranks, [&] {
        found.resize(values.size);
        of_found.resize(vectors.size);
        meter.check();
    });
    ModelKernel<T> of_operator(k, ranks, 0, options.batch.cancel);
    KernelEigenReport report;
    largest_eigenvalues(
        of_operator.kernel(), found, of_found, options,
        [&](std::uint32_t products) { together(ranks, [&] { meter.show(products); }); }, report);
    gather_into<T>(ranks, k.shape().samples, of_found, vectors);
    std::transform(found.begin(), found.end(), static_cast<T*>(values.data),
                   [](double value) { return static_cast<T>(value); });
    report.product_s = of_operator.product_s;
    report.wall_s = watch.seconds();
    return report;
}

}  // namespace

KernelEigenReport eigen(const ModelOperator& k, const KernelRanks& ranks, const HostArray& values,
                        const HostArray& vectors, const KernelEigenOptions& options) {
    check_ranks("kernel_eigen", ranks);
    together(ranks, [&] {
        core::require_members("kernel_eigen", options.batch, {});
        check_eigen(k.shape(), k.type(), values, vectors, options);
        const ConstHostArray of_values = values;
        check_out_memory("kernel_eigen", &of_values, vectors);
    });
    return k.type() == kFloat64 ? eigen_as<double>(k, ranks, values, vectors, options)
                                : eigen_as<float>(k, ranks, values, vectors, options);
}

namespace {

HostArray own_part_of(const HostArray& array, std::uint64_t first, std::uint64_t count) {
    return {static_cast<std::byte*>(array.data) + first * array.type.bytes(), count, array.type};
}

}  // namespace

// This rank's rows, and those of the others.
OpReport apply_over_ranks(const ModelOperator& k, const KernelRanks& ranks, const ConstHostArray& v,
                          const HostArray& out, const KernelApplyHostOptions& host) {
    const Watch watch;
    check_ranks("kernel_apply", ranks);
    OpReport report;
    std::uint64_t all_rows = 0;
    together(ranks, [&] {
        core::require_members("kernel_apply", host.batch, {});
        const OperatorPlan& plan = k.plan();
        const std::uint64_t columns = check_apply(plan, facts_of(v), facts_of(out), apply_options(host));
        check_out_memory("kernel_apply", &v, out);
        all_rows = side_of(plan, host.transpose).rows;
        const KernelRankRows own = kernel_rank_rows(all_rows, ranks.rank, ranks.size);
        if (own.first != own.last)
            report = k.apply(v, own_part_of(out, own.first * columns, (own.last - own.first) * columns),
                             {own.first, own.last}, host);
    });
    gather_rows(ranks, all_rows, {static_cast<std::byte*>(out.data), out.bytes()});
    const OpReport made = report;
    report = operator_report("kernel_apply", made.items, v.bytes(), out);
    report.method = made.method;
    report.chunks = made.chunks;
    report.devices = made.devices;
    report.wall_s = watch.seconds();
    return report;
}

}  // namespace weft::kernels
