// SPDX-License-Identifier: Apache-2.0
// Projection onto the positive semidefinite matrices. It has a file of its own because Eigen takes long to
// compile.
#pragma once

#include <cstdint>
#include <span>

namespace weft::kernels {

/// Makes negative eigenvalues 0 and returns how many there were. Reads the lower triangle, which must be
/// finite.
std::uint64_t clip_eigenvalues(std::span<float> k, std::uint64_t rows);
std::uint64_t clip_eigenvalues(std::span<double> k, std::uint64_t rows);

}  // namespace weft::kernels
