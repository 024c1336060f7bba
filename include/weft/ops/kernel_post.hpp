// SPDX-License-Identifier: Apache-2.0
// What follows a kernel matrix, in host memory: alignment with labels, centring, projection onto the positive
// semidefinite matrices, normalisation. Arithmetic is float64 for matrices of any type.
//
// Example:
//     std::vector<double> k{2, 0, 0, 2};
//     weft::normalize_kernel_matrix(k, 2);
//     const std::vector<double> labels{1, -1};
//     const double alignment = weft::kernel_alignment(std::span<const double>(k), labels);
//     std::printf("%.2f\n", alignment);
#pragma once

#include <cstdint>
#include <span>

namespace weft {

/// sum over i, j of y_i y_j K[i, j], labels y of +1 and -1. With `rescale_labels` each label is divided by
/// the number of rows of its class first.
///
///   k        [labels, labels], row-major
///   labels   one a row, 1 or -1
///
/// Errors: invalid_argument - sizes differ, no rows, or a label that is neither.
double kernel_polarity(std::span<const float> k, std::span<const double> labels, bool rescale_labels = true);
double kernel_polarity(std::span<const double> k, std::span<const double> labels, bool rescale_labels = true);

/// The polarity over the Frobenius norms of K and of y y^T, at most 1 for any scale of K. 0 for a matrix of
/// zeros, NaN if a value is not finite.
double kernel_alignment(std::span<const float> k, std::span<const double> labels, bool rescale_labels = true);
double kernel_alignment(std::span<const double> k, std::span<const double> labels,
                        bool rescale_labels = true);

/// In place: H K H with H = 1 - (matrix of ones) / rows, so that rows and columns sum to 0.
/// Errors: invalid_argument - not rows x rows numbers, no rows.
void center_kernel_matrix(std::span<float> k, std::uint64_t rows);
void center_kernel_matrix(std::span<double> k, std::uint64_t rows);

/// In place: the nearest positive semidefinite matrix in the Frobenius norm: negative eigenvalues become 0.
/// Only the lower triangle is read. Returns how many were negative by more than rounding, which is rows x
/// 2^-52 of the largest absolute eigenvalue; if none were, nothing is changed. Takes 16 bytes x rows^2 and
/// time of rows^3. Errors: invalid_argument - not rows x rows numbers, no rows, values of that triangle that
/// are not finite.
std::uint64_t clip_kernel_matrix(std::span<float> k, std::uint64_t rows);
std::uint64_t clip_kernel_matrix(std::span<double> k, std::uint64_t rows);

/// In place, as KernelMatrixOptions::normalize: K[i, j] / sqrt(d_i d_j) with d_i = max(K[i, i] + jitter,
/// 1e-12), and a diagonal of 1 where it was not NaN. Errors: invalid_argument - not rows x rows numbers, no
/// rows, jitter below 0.
void normalize_kernel_matrix(std::span<float> k, std::uint64_t rows, double jitter = 0);
void normalize_kernel_matrix(std::span<double> k, std::uint64_t rows, double jitter = 0);

}  // namespace weft
