// SPDX-License-Identifier: Apache-2.0
// Largest eigenvalues on the host, over any way to multiply with K. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "ops/kernel_solve/operator_solve.hpp"

namespace weft::kernels {

/// The values.size() largest eigenvalues, in descending order, and their vectors, [samples, values.size()];
/// fills in converged, products and residuals. A rank fills in its rows of the vectors. Of `kernel` only
/// apply() is used, without a lambda.
void largest_eigenvalues(const SolveKernel& kernel, std::span<double> values, std::span<double> vectors,
                         const KernelEigenOptions& options, const IterationDone& done,
                         KernelEigenReport& report);

/// Errors: invalid_argument.
void check_eigen(const KernelMatrixShape& shape, ElementType type, const ConstHostArray& values,
                 const ConstHostArray& vectors, const KernelEigenOptions& options);

}  // namespace weft::kernels
