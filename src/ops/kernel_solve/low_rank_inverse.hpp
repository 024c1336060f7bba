// SPDX-License-Identifier: Apache-2.0
// What solves and samples of rows need of K, and the preconditioner that they make of it. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <weft/ops/kernel_solve.hpp>

#include "ops/kernel_operator/operator_ranks.hpp"

namespace weft::kernels {

/// What a solve needs of K. Matrices are row by row. A rank has its own rows of all vectors, and its own
/// columns of rows of K.
struct SolveKernel {
    std::uint64_t samples = 0;  ///< of all ranks
    /// (K + lambda I) times [own samples, columns].
    std::function<void(std::span<const double> v, std::span<double> out, std::uint32_t columns)> apply;
    /// Rows of K, [rows, own samples].
    std::function<void(const std::vector<std::uint32_t>& rows, std::span<float> out)> rows;
    KernelRanks ranks{};
    /// The own rows of the diagonal of K; empty: it is 1.
    std::function<void(std::span<double> out)> diagonal = {};

    KernelRankRows own() const { return kernel_rank_rows(samples, ranks.rank, ranks.size); }
};

/// (F F^T + s I)^-1 with a low-rank F F^T that is near K, and s of at least lambda.
class LowRankInverse {
  public:
    /// Sums depend on the number of `threads` in their last bits; 0: as many as there are cores.
    LowRankInverse(const SolveKernel& kernel, const KernelSolveOptions& options, std::uint32_t threads = 0);
    ~LowRankInverse();
    /// Directions of K that F has, beyond the rounding of float32.
    std::uint32_t rank() const noexcept;
    /// The rows in which F F^T agrees with K, in the order in which they were drawn.
    const std::vector<std::uint32_t>& rows() const noexcept;
    /// Of `columns` vectors, of which this rank has its rows.
    void apply(std::span<const double> v, std::span<double> out, std::uint32_t columns) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace weft::kernels
