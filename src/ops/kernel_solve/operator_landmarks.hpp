// SPDX-License-Identifier: Apache-2.0
// Landmarks of Nystroem features, and the root of their kernel, on the host. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/kernel_solve/low_rank_inverse.hpp"

namespace weft::kernels {

/// Rows that stand for all of K, or fewer where nothing of K is left. With KernelPivots::random `kernel`
/// needs nothing but the number of samples.
std::vector<std::uint32_t> choose_landmarks(const SolveKernel& kernel, std::uint32_t count,
                                            const KernelLandmarkOptions& options);
/// K^(-1/2) of a symmetric K; eigenvalues within `rounding` of the largest one count as 0. In place.
void inverse_root(std::span<double> k, std::size_t samples, double rounding);

/// Errors: invalid_argument.
void check_landmarks(const KernelMatrixShape& shape, std::uint32_t count,
                     const KernelLandmarkOptions& options);
void check_inverse_root(const KernelMatrixShape& shape, ElementType type, const ConstHostArray& out);
void check_features_of(const KernelMatrixShape& shape, ElementType type, const ConstHostArray& root,
                       const ConstHostArray& out);

}  // namespace weft::kernels
