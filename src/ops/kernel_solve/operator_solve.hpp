// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients on the host, over any way to multiply with K. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "ops/kernel_solve/low_rank_inverse.hpp"
#include "ops/kernel_solve/rank_checkpoint.hpp"

namespace weft::kernels {

/// Called after each iteration with their number; may throw.
using IterationDone = std::function<void(std::uint32_t iterations)>;

/// x with (K + lambda I) x = y; fills in iterations, residuals and converged. `inverse` and `checkpoint` may
/// be null. y and x have all rows, of which a rank reads and writes its own.
void conjugate_gradients(const SolveKernel& kernel, const LowRankInverse* inverse, std::span<const double> y,
                         std::span<double> x, const KernelSolveOptions& options, const IterationDone& done,
                         KernelSolveReport& report, RankCheckpoint* checkpoint = nullptr);

/// Errors: invalid_argument.
void check_solve(const KernelMatrixShape& shape, ElementType type, const ConstHostArray& y,
                 const ConstHostArray& alpha, const KernelSolveOptions& options);

}  // namespace weft::kernels
