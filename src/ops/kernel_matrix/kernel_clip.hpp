// SPDX-License-Identifier: Apache-2.0
// Projection onto the positive semidefinite matrices; in a file of its own because Eigen takes long to
// compile.
#pragma once

#include <cstdint>
#include <span>

namespace weft::kernels {

/// Negative eigenvalues become 0; returns how many there were. Reads the lower triangle of finite numbers.
std::uint64_t clip_eigenvalues(std::span<float> k, std::uint64_t rows);
std::uint64_t clip_eigenvalues(std::span<double> k, std::uint64_t rows);

}  // namespace weft::kernels
