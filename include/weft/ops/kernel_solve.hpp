// SPDX-License-Identifier: Apache-2.0
// Models over quantum kernels that are never stored: ridge regression and Gaussian-process means by conjugate
// gradients, and their predictions.
//
// Example:
//     weft::Backend backend;
//     const std::vector<float> x(5000 * 8, 0.5f), y(5000, 1.0f);
//     std::vector<float> alpha(5000);
//     const weft::KernelOperator k(backend, {}, x, {.samples = 5000, .qubits = 8});
//     const weft::KernelSolveReport report = weft::kernel_solve(backend, k, y, alpha, {.lambda = 1e-3});
//     std::printf("residual %.1e after %u iterations\n", report.residual(), report.iterations);
#pragma once

#include <cstdint>
#include <vector>

#include <weft/ops/kernel_operator.hpp>

namespace weft {

/// How the rows of a low-rank preconditioner are chosen.
enum class KernelPivots {
    random,    ///< all equally likely: the Nystroem method
    residual,  ///< by the diagonal that earlier rows leave: randomly pivoted Cholesky (Chen et al.,
               ///< arXiv:2207.06503)
};

struct KernelSolveOptions {
    double lambda = 1e-3;     ///< added to the diagonal of K, above 0
    double tolerance = 1e-4;  ///< of |y - (K + lambda I) alpha| / |y| in every column
    std::uint32_t max_iterations = 200;
    /// Of the preconditioner, which takes 4 bytes x samples x rank of host memory; 0: none.
    std::uint32_t rank = 200;
    KernelPivots pivots = KernelPivots::residual;
    std::uint64_t seed = 1;  ///< of the choice of rows
    /// `progress` counts iterations of max_iterations. `cancel` applies too. The other members must keep
    /// their defaults.
    BatchOptions batch = {};
};

struct KernelSolveReport {
    bool converged = false;
    std::uint32_t iterations = 0;  ///< products with K + lambda I in the recurrence
    std::uint32_t rank = 0;        ///< of the preconditioner, which ends early where nothing of K is left
    /// |y - (K + lambda I) alpha| / |y| of each column, computed anew from the returned solution; 0 if y is
    /// 0.
    std::vector<double> residuals;
    double preconditioner_s = 0;  ///< making the preconditioner
    double product_s = 0;         ///< products with K
    double wall_s = 0;

    double residual() const noexcept;  ///< the largest
};

/// alpha with (K + lambda I) alpha = y, for each column of y.
///
///   k       a square operator
///   y       [samples, n] of the operator's type, n from 1 to 64
///   alpha   [samples, n] of the same type; must not overlap y
///
/// Preconditioned conjugate gradients; all columns share the products with K. Scalars and vectors are
/// float64; the products are of the operator's type. Residuals are recomputed from time to time, so that they
/// do not drift from the true ones. A solution that has not converged is returned with its residuals: a
/// float32 operator cannot reach residuals below about 2^-24 |K| |alpha| / |y|, which grows as lambda becomes
/// small. Errors: invalid_argument - types, sizes, options, an operator of X with Y, values of y that are not
/// finite; as kernel_apply. After cancelled and what `progress` throws, alpha is untouched.
KernelSolveReport kernel_solve(Backend& backend, const KernelOperator& k, const ConstHostArray& y,
                               const HostArray& alpha, const KernelSolveOptions& options = {});
KernelSolveReport kernel_solve(Devices& devices, const KernelOperator& k, const ConstHostArray& y,
                               const HostArray& alpha, const KernelSolveOptions& options = {});

/// Predictions K(x_new, x) alpha, for rows that need not fit the device together.
///
///   x_new   [rows, qubits], x [samples, qubits]: features of the same type
///   alpha   [samples, n], float32 or float64, which is the type of the arithmetic; n from 1 to 64
///   out     [rows, n] of the type of alpha
///   shape   samples: rows of x_new, others: rows of x
///
/// Errors: as KernelOperator and kernel_apply.
OpReport kernel_predict(Backend& backend, const KernelMatrixCircuit& circuit, const ConstHostArray& x_new,
                        const ConstHostArray& x, const ConstHostArray& alpha, const HostArray& out,
                        const KernelMatrixShape& shape, const BatchOptions& batch = {});

}  // namespace weft
