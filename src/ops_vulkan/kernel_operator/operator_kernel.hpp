// SPDX-License-Identifier: Apache-2.0
// An operator on a Backend or a Devices, as the solvers of the host take it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include <weft/ops/kernel_operator.hpp>

#include "ops/kernel_operator/operator_solve.hpp"
#include "ops/kernel_operator/solve_scales.hpp"
#include "vulkan/devices/shared_call.hpp"

namespace weft::kernels {

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
    /// `where` and `k` must outlive it.
    OperatorKernel(Where& where, const KernelOperator& k, double lambda, std::stop_token cancel)
        : where_(where), k_(k), lambda_(lambda), cancel_(std::move(cancel)) {}

    void apply(std::span<const double> v, std::span<double> out) {
        const Watch watch;
        // Columns of any size are within the range of T, to which a power of two brings them.
        const std::vector<int> exponents = column_exponents(v, v.size() / k_.shape().samples);
        scaled_.assign(v.begin(), v.end());
        scale_columns(scaled_, exponents, -1);
        narrow_.resize(v.size());
        result_.resize(out.size());
        std::transform(scaled_.begin(), scaled_.end(), narrow_.begin(),
                       [](double value) { return static_cast<T>(value); });
        KernelApplyHostOptions apply;
        apply.batch.cancel = cancel_;
        kernel_apply(where_, k_, narrow_, result_, apply);
        std::copy(result_.begin(), result_.end(), out.begin());
        scale_columns(out, exponents, 1);
        for (std::size_t i = 0; i < out.size(); ++i) out[i] += lambda_ * v[i];
        product_s += watch.seconds();
    }
    void rows(const std::vector<std::uint32_t>& list, std::span<float> out) {
        std::vector<T> values(out.size());
        kernel_rows(core::first_backend(where_), k_, list, values);
        std::transform(values.begin(), values.end(), out.begin(),
                       [](T value) { return static_cast<float>(value); });
    }
    void diagonal(std::span<double> out) {
        std::vector<T> values(out.size());
        kernel_diagonal(core::first_backend(where_), k_, values);
        std::copy(values.begin(), values.end(), out.begin());
    }
    SolveKernel kernel() {
        return {k_.shape().samples,
                [this](std::span<const double> v, std::span<double> out) { apply(v, out); },
                [this](const std::vector<std::uint32_t>& list, std::span<float> out) { rows(list, out); },
                [this](std::span<double> out) { diagonal(out); }};
    }
    double product_s = 0;

  private:
    Where& where_;
    const KernelOperator& k_;
    const double lambda_;
    const std::stop_token cancel_;
    std::vector<double> scaled_;
    std::vector<T> narrow_, result_;
};

}  // namespace weft::kernels
