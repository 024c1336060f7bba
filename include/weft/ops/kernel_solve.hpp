// SPDX-License-Identifier: Apache-2.0
// Models over quantum kernels that are never stored: ridge regression and Gaussian-process means by conjugate
// gradients, their predictions, the largest eigenvalues, and Nystroem features.
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
#include <filesystem>
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
    /// A file that takes the state of the solve after every `checkpoint_every` iterations: 24 bytes for each
    /// value of y. It stays when the solve has ended. Empty: none.
    std::filesystem::path checkpoint = {};
    std::uint32_t checkpoint_every = 10;
    /// Continues from `checkpoint` if that file is there. The solution has the same bits as without
    /// interruption, on the same device. max_iterations may be another.
    bool resume = false;
    /// `progress` counts iterations of max_iterations. `cancel` applies too. The other members must keep
    /// their defaults.
    BatchOptions batch = {};
};

struct KernelSolveReport {
    bool converged = false;
    std::uint32_t iterations = 0;  ///< products with K + lambda I in the recurrence
    std::uint32_t resumed = 0;     ///< of them, those that the checkpoint had
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
/// finite, a solution beyond the range of alpha's type, a checkpoint of another operator, y, option or
/// device, which the text names; io - a checkpoint that is damaged, cannot be written, or is a file of
/// another kind; as kernel_apply. After an error alpha is untouched, and the last checkpoint is whole.
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

/// The same for states that are given.
OpReport kernel_predict(Backend& backend, const ConstHostArray& states_new, const ConstHostArray& states,
                        const ConstHostArray& alpha, const HostArray& out, const KernelMatrixShape& shape,
                        const BatchOptions& batch = {});

inline constexpr std::uint32_t kMostEigenvalues = 48;

struct KernelEigenOptions {
    /// Of |K v - value v| in units of the largest eigenvalue, for every vector.
    double tolerance = 1e-4;
    std::uint32_t max_products = 100;  ///< products of K with a block of vectors, 1 or more
    std::uint64_t seed = 1;            ///< of the first block
    /// `progress` counts products of max_products. `cancel` applies too. The other members must keep their
    /// defaults.
    BatchOptions batch = {};
};

struct KernelEigenReport {
    bool converged = false;
    std::uint32_t products = 0;
    /// |K v - value v| of each vector in units of the largest eigenvalue, by a product of its own.
    std::vector<double> residuals;
    double product_s = 0;  ///< products with K
    double wall_s = 0;
};

/// The largest eigenvalues of K in descending order, and their vectors of norm 1: the principal components of
/// the kernel, before centring.
///
///   k         a square operator
///   values    [n] of the operator's type, n from 1 to kMostEigenvalues
///   vectors   [samples, n] of the same type
///
/// By a block Krylov space with restarts, which takes up to 650 n bytes of host memory for each sample. What
/// has not converged is returned with its residuals. Errors: invalid_argument - types, sizes, options, an
/// operator of X with Y; as kernel_apply. After cancelled and what `progress` throws, both arrays are
/// untouched.
KernelEigenReport kernel_eigen(Backend& backend, const KernelOperator& k, const HostArray& values,
                               const HostArray& vectors, const KernelEigenOptions& options = {});
KernelEigenReport kernel_eigen(Devices& devices, const KernelOperator& k, const HostArray& values,
                               const HostArray& vectors, const KernelEigenOptions& options = {});

struct KernelLandmarkOptions {
    KernelPivots pivots = KernelPivots::residual;
    std::uint64_t seed = 1;  ///< of the choice
};

/// Different rows of a square K that stand for the others, `count` or, where nothing of K is left, fewer.
/// With KernelPivots::residual it takes 4 bytes x samples x count of host memory. Errors: invalid_argument -
/// options, a count beyond 1 to samples, an operator of X with Y; as kernel_rows.
std::vector<std::uint32_t> kernel_landmarks(Backend& backend, const KernelOperator& k, std::uint32_t count,
                                            const KernelLandmarkOptions& options = {});

/// K^(-1/2) of a small square operator, by eigenvalues on the host. Eigenvalues that are rounding errors
/// count as 0, in the result too.
///
///   k     a square operator, of the landmarks
///   out   [samples, samples] of the operator's type
///
/// Errors: invalid_argument - type, size, an operator of X with Y, more than 16384 samples; as kernel_rows.
void kernel_inverse_root(Backend& backend, const KernelOperator& k, const HostArray& out);

/// Nystroem features F = K root of rows: F F^T is near their kernel.
///
///   k      an operator of the rows with the landmarks
///   root   [landmarks, landmarks], as kernel_inverse_root makes it
///   out    [rows, landmarks] of the operator's type
///
/// Errors: invalid_argument - types, sizes; as kernel_apply.
OpReport kernel_features(Backend& backend, const KernelOperator& k, const ConstHostArray& root,
                         const HostArray& out, const BatchOptions& batch = {});

}  // namespace weft
