// SPDX-License-Identifier: Apache-2.0
#include <weft/ops/kernel_ranks.hpp>
#include <weft/ops/kernel_solve.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include <weft/error.hpp>

#include "base/batch_call.hpp"
#include "ops/kernel_operator/operator_check.hpp"
#include "ops/kernel_operator/operator_eigen.hpp"
#include "ops/kernel_operator/operator_ranks.hpp"
#include "ops/kernel_operator/operator_solve.hpp"
#include "ops_vulkan/kernel_operator/operator_host.hpp"
#include "vulkan/devices/shared_call.hpp"

namespace weft {
namespace {

class Watch {
  public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

  private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Products and rows of an operator whose type is T, for a solver whose vectors are double.
template <class T, class Where>
class OperatorKernel {
  public:
    OperatorKernel(Where& where, const KernelOperator& k, const KernelRanks& ranks, double lambda,
                   const BatchOptions& batch)
        : where_(where),
          k_(k),
          ranks_(ranks),
          own_(kernel_rank_rows(k.shape().samples, ranks.rank, ranks.size)),
          lambda_(lambda),
          cancel_(batch.cancel) {}

    void apply(std::span<const double> v, std::span<double> out, std::uint32_t columns) {
        const Watch watch;
        const std::uint64_t samples = k_.shape().samples;
        narrow_.resize(samples * columns);
        result_.resize(out.size());
        std::transform(v.begin(), v.end(),
                       narrow_.begin() + static_cast<std::ptrdiff_t>(own_.first * columns),
                       [](double value) { return static_cast<T>(value); });
        kernels::gather_rows(ranks_, samples, std::as_writable_bytes(std::span(narrow_)));
        KernelApplyHostOptions apply;
        apply.batch.cancel = cancel_;
        kernels::together(ranks_, [&] {
            if (!result_.empty())
                kernels::apply_rows(where_, k_, narrow_, result_, {own_.first, own_.last}, apply);
        });
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = static_cast<double>(result_[i]) + lambda_ * v[i];
        product_s += watch.seconds();
    }
    void rows(const std::vector<std::uint32_t>& list, std::span<float> out) {
        const std::uint64_t samples = k_.shape().samples, count = own_.last - own_.first;
        kernels::together(ranks_, [&] {
            std::vector<T> values(list.size() * samples);
            kernel_rows(core::first_backend(where_), k_, list, values);
            for (std::size_t i = 0; i < list.size(); ++i)
                std::transform(&values[i * samples + own_.first], &values[i * samples + own_.first] + count,
                               out.begin() + static_cast<std::ptrdiff_t>(i * count),
                               [](T value) { return static_cast<float>(value); });
        });
    }
    kernels::SolveKernel kernel() {
        return {k_.shape().samples,
                [this](std::span<const double> v, std::span<double> out, std::uint32_t columns) {
                    apply(v, out, columns);
                },
                [this](const std::vector<std::uint32_t>& list, std::span<float> out) { rows(list, out); },
                ranks_};
    }
    double product_s = 0;

  private:
    Where& where_;
    const KernelOperator& k_;
    const KernelRanks& ranks_;
    const KernelRankRows own_;
    const double lambda_;
    const std::stop_token cancel_;
    std::vector<T> narrow_, result_;
};

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

template <class T, class Where>
KernelSolveReport solve_as(Where& where, const KernelOperator& k, const KernelRanks& ranks,
                           const ConstHostArray& y, const HostArray& alpha,
                           const KernelSolveOptions& options) {
    const Watch watch;
    std::vector<double> right, solution;
    core::ProgressMeter meter("kernel_solve", options.batch, options.max_iterations);
    kernels::together(ranks, [&] {
        right = doubles_of<T>(y);
        solution.resize(right.size());
        meter.check();
    });
    OperatorKernel<T, Where> of_operator(where, k, ranks, options.lambda, options.batch);
    const kernels::SolveKernel kernel = of_operator.kernel();
    KernelSolveReport report;
    std::optional<kernels::LowRankInverse> inverse;
    if (options.rank != 0) {
        inverse.emplace(kernel, options);
        report.rank = inverse->rank();
        report.preconditioner_s = watch.seconds();
    }
    kernels::conjugate_gradients(
        kernel, inverse ? &*inverse : nullptr, right, solution, options,
        [&](std::uint32_t iterations) { kernels::together(ranks, [&] { meter.show(iterations); }); }, report);
    gather_into<T>(ranks, k.shape().samples, solution, alpha);
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
    OperatorKernel<T, Where> of_operator(where, k, ranks, 0, options.batch);
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
ConstHostArray part_of(const ConstHostArray& array, std::uint64_t first, std::uint64_t count) {
    return {static_cast<const std::byte*>(array.data) + first * array.type.bytes(), count, array.type};
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

OpReport kernel_predict(Backend& backend, const KernelMatrixCircuit& circuit, const ConstHostArray& x_new,
                        const ConstHostArray& x, const ConstHostArray& alpha, const HostArray& out,
                        const KernelMatrixShape& shape, const BatchOptions& batch) {
    const Watch watch;
    core::require_members("kernel_predict", batch, {});
    const KernelOperatorOptions options{.type = alpha.type};
    kernels::check_operator(circuit, kernels::facts_of(x_new), kernels::facts_of(x), shape, options);
    const kernels::OperatorPlan plan = kernels::operator_plan_on(backend, circuit, shape, options);
    const std::uint32_t columns =
        kernels::check_apply(plan, kernels::facts_of(alpha), kernels::facts_of(out), {});
    kernels::check_out_memory("kernel_predict", &alpha, out);
    kernels::check_features_alone("kernel_predict", x_new, &x, shape.qubits, circuit.scale,
                                  backend.plan().copy_threads);
    core::ProgressMeter meter("kernel_predict", batch, shape.pairs());
    meter.check();
    // Rows whose numbers take little memory beside those of x.
    constexpr std::uint64_t kRows = std::uint64_t{1} << 18;
    for (std::uint64_t row = 0; row < shape.samples; row += kRows) {
        const std::uint64_t rows = std::min(kRows, shape.samples - row);
        const KernelOperator k(backend, circuit, part_of(x_new, row * shape.qubits, rows * shape.qubits), x,
                               {rows, shape.others, shape.qubits}, options);
        KernelApplyHostOptions apply;
        apply.batch.cancel = batch.cancel;
        kernel_apply(backend, k, alpha, part_of(out, row * columns, rows * columns), apply);
        meter.show((row + rows) * shape.others);
    }
    OpReport report = kernels::operator_report("kernel_predict", shape.pairs(), alpha.bytes(), out);
    report.bytes_in += x_new.bytes() + x.bytes();
    report.wall_s = watch.seconds();
    return report;
}

}  // namespace weft
