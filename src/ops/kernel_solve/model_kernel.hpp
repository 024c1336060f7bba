// SPDX-License-Identifier: Apache-2.0
// An operator as the solvers of the host take it, whose vectors are double.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "ops/kernel_operator/operator_ranks.hpp"
#include "ops/kernel_solve/operator_models.hpp"
#include "ops/kernel_solve/operator_solve.hpp"
#include "ops/kernel_solve/solve_scales.hpp"

namespace weft::kernels {

class Watch {
  public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

  private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Products and rows of an operator whose type is T.
template <class T>
class ModelKernel {
  public:
    /// `k` and `ranks` must outlive it.
    ModelKernel(const ModelOperator& k, const KernelRanks& ranks, double lambda, std::stop_token cancel)
        : k_(k),
          ranks_(ranks),
          own_(kernel_rank_rows(k.shape().samples, ranks.rank, ranks.size)),
          lambda_(lambda),
          cancel_(std::move(cancel)) {}

    void apply(std::span<const double> v, std::span<double> out, std::uint32_t columns) {
        const Watch watch;
        const std::uint64_t samples = k_.shape().samples;
        // Columns of any size are within the range of T, to which a power of two brings them.
        const std::vector<int> exponents = exponents_of(maxima_of_all(v, columns));
        scaled_.assign(v.begin(), v.end());
        scale_columns(scaled_, exponents, -1);
        narrow_.resize(samples * columns);
        result_.resize(out.size());
        std::transform(scaled_.begin(), scaled_.end(),
                       narrow_.begin() + static_cast<std::ptrdiff_t>(own_.first * columns),
                       [](double value) { return static_cast<T>(value); });
        gather_rows(ranks_, samples, std::as_writable_bytes(std::span(narrow_)));
        KernelApplyHostOptions apply;
        apply.batch.cancel = cancel_;
        together(ranks_, [&] {
            if (!result_.empty()) k_.apply(narrow_, result_, {own_.first, own_.last}, apply);
        });
        std::copy(result_.begin(), result_.end(), out.begin());
        scale_columns(out, exponents, 1);
        for (std::size_t i = 0; i < out.size(); ++i) out[i] += lambda_ * v[i];
        product_s += watch.seconds();
    }
    void rows(const std::vector<std::uint32_t>& list, std::span<float> out) {
        const std::uint64_t samples = k_.shape().samples, count = own_.last - own_.first;
        together(ranks_, [&] {
            std::vector<T> values(list.size() * samples);
            k_.rows(list, values);
            for (std::size_t i = 0; i < list.size(); ++i)
                std::transform(&values[i * samples + own_.first], &values[i * samples + own_.first] + count,
                               out.begin() + static_cast<std::ptrdiff_t>(i * count),
                               [](T value) { return static_cast<float>(value); });
        });
    }
    void diagonal(std::span<double> out) {
        together(ranks_, [&] {
            std::vector<T> values(k_.shape().samples);
            k_.diagonal(values);
            std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(own_.first), out.size(), out.begin());
        });
    }
    SolveKernel kernel() {
        return {k_.shape().samples,
                [this](std::span<const double> v, std::span<double> out, std::uint32_t columns) {
                    apply(v, out, columns);
                },
                [this](const std::vector<std::uint32_t>& list, std::span<float> out) { rows(list, out); },
                ranks_, [this](std::span<double> out) { diagonal(out); }};
    }
    double product_s = 0;

  private:
    /// The largest values of the columns, of which `v` has the own rows.
    std::vector<double> maxima_of_all(std::span<const double> v, std::uint32_t columns) const {
        std::vector<double> maxima = column_maxima(v, columns);
        if (ranks_.size == 1) return maxima;
        // Each rank fills its row of a table of zeros.
        std::vector<double> table(std::size_t{ranks_.size} * columns, 0.0);
        std::copy(maxima.begin(), maxima.end(),
                  table.begin() + static_cast<std::ptrdiff_t>(std::size_t{ranks_.rank} * columns));
        sum(ranks_, table);
        return column_maxima(table, columns);
    }

    const ModelOperator& k_;
    const KernelRanks& ranks_;
    const KernelRankRows own_;
    const double lambda_;
    const std::stop_token cancel_;
    std::vector<double> scaled_;
    std::vector<T> narrow_, result_;
};

}  // namespace weft::kernels
