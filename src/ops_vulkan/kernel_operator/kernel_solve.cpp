// SPDX-License-Identifier: Apache-2.0
#include <weft/ops/kernel_solve.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include <weft/error.hpp>

#include "base/batch_call.hpp"
#include "ops/kernel_operator/operator_check.hpp"
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
    OperatorKernel(Where& where, const KernelOperator& k, const KernelSolveOptions& options)
        : where_(where), k_(k), options_(options) {}

    void apply(std::span<const double> v, std::span<double> out) {
        const Watch watch;
        narrow_.resize(v.size());
        result_.resize(out.size());
        std::transform(v.begin(), v.end(), narrow_.begin(),
                       [](double value) { return static_cast<T>(value); });
        KernelApplyHostOptions apply;
        apply.batch.cancel = options_.batch.cancel;
        kernel_apply(where_, k_, narrow_, result_, apply);
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = static_cast<double>(result_[i]) + options_.lambda * v[i];
        product_s += watch.seconds();
    }
    void rows(const std::vector<std::uint32_t>& list, std::span<float> out) {
        std::vector<T> values(out.size());
        kernel_rows(core::first_backend(where_), k_, list, values);
        std::transform(values.begin(), values.end(), out.begin(),
                       [](T value) { return static_cast<float>(value); });
    }
    double product_s = 0;

  private:
    Where& where_;
    const KernelOperator& k_;
    const KernelSolveOptions& options_;
    std::vector<T> narrow_, result_;
};

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
KernelSolveReport solve_as(Where& where, const KernelOperator& k, const ConstHostArray& y,
                           const HostArray& alpha, const KernelSolveOptions& options) {
    const Watch watch;
    const std::vector<double> right = doubles_of<T>(y);
    std::vector<double> solution(right.size());
    core::ProgressMeter meter("kernel_solve", options.batch, options.max_iterations);
    meter.check();
    OperatorKernel<T, Where> of_operator(where, k, options);
    const kernels::SolveKernel kernel{
        k.shape().samples,
        [&](std::span<const double> v, std::span<double> out) { of_operator.apply(v, out); },
        [&](const std::vector<std::uint32_t>& rows, std::span<float> out) { of_operator.rows(rows, out); }};
    KernelSolveReport report;
    std::optional<kernels::LowRankInverse> inverse;
    if (options.rank != 0) {
        inverse.emplace(kernel, options);
        report.rank = inverse->rank();
        report.preconditioner_s = watch.seconds();
    }
    kernels::conjugate_gradients(
        kernel, inverse ? &*inverse : nullptr, right, solution, options,
        [&](std::uint32_t iterations) { meter.show(iterations); }, report);
    std::transform(solution.begin(), solution.end(), static_cast<T*>(alpha.data),
                   [](double value) { return static_cast<T>(value); });
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

HostArray part_of(const HostArray& array, std::uint64_t first, std::uint64_t count) {
    return {static_cast<std::byte*>(array.data) + first * array.type.bytes(), count, array.type};
}
ConstHostArray part_of(const ConstHostArray& array, std::uint64_t first, std::uint64_t count) {
    return {static_cast<const std::byte*>(array.data) + first * array.type.bytes(), count, array.type};
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
