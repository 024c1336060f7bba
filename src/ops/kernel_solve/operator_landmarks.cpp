// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_solve/operator_landmarks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>

#include <Eigen/Eigenvalues>

#include <weft/error.hpp>

#include "base/refusal.hpp"

namespace weft::kernels {
namespace {

void check_array(const char* function, const char* what, const ConstHostArray& array, ElementType type,
                 std::uint64_t size) {
    if (array.type != type)
        core::refuse(function, std::string(what) + " is of another type than the operator (got " +
                                   to_string(array.type) + ", need " + to_string(type) + ")");
    if (array.size != size)
        core::refuse(function, std::string(what) + " does not fit the shape (got " +
                                   std::to_string(array.size) + " values, need " + std::to_string(size) +
                                   ")");
}

}  // namespace

std::vector<std::uint32_t> choose_landmarks(const SolveKernel& kernel, std::uint32_t count,
                                            const KernelLandmarkOptions& options) {
    if (options.pivots == KernelPivots::residual) {
        KernelSolveOptions solve;
        solve.lambda = 1;  // the inverse is not used
        solve.rank = count;
        solve.seed = options.seed;
        return LowRankInverse(kernel, solve).rows();
    }
    std::mt19937_64 random(options.seed);
    std::vector<std::uint32_t> rows(kernel.samples);
    std::iota(rows.begin(), rows.end(), 0u);
    // The first `count` of a shuffle. The remainder favours no row by more than 2^-32.
    for (std::uint32_t i = 0; i < count; ++i)
        std::swap(rows[i], rows[i + static_cast<std::size_t>(random() % (rows.size() - i))]);
    rows.resize(count);
    return rows;
}

void inverse_root(std::span<double> k, std::size_t samples, double rounding) {
    const auto n = static_cast<Eigen::Index>(samples);
    Eigen::Map<Eigen::MatrixXd> matrix(k.data(), n, n);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver((matrix + matrix.transpose()) / 2);
    const Eigen::VectorXd& values = solver.eigenvalues();  // ascending
    const double least = values[n - 1] * static_cast<double>(samples) * rounding;
    const Eigen::VectorXd roots =
        values.unaryExpr([&](double value) { return value > least ? 1 / std::sqrt(value) : 0.0; });
    matrix = solver.eigenvectors() * roots.asDiagonal() * solver.eigenvectors().transpose();
}

void check_landmarks(const KernelMatrixShape& shape, std::uint32_t count,
                     const KernelLandmarkOptions& options) {
    constexpr const char* kFunction = "kernel_landmarks";
    if (!shape.square()) core::refuse(kFunction, "K of X with Y has no landmarks (need a square operator)");
    if (count == 0 || count > shape.samples)
        core::refuse(kFunction, "count out of range (got " + std::to_string(count) + ", need 1 to " +
                                    std::to_string(shape.samples) + ")");
    if (static_cast<unsigned>(options.pivots) > static_cast<unsigned>(KernelPivots::residual))
        core::refuse(kFunction, "no such pivots (got " + std::to_string(static_cast<int>(options.pivots)) +
                                    ", need 0 or 1)");
}

void check_inverse_root(const KernelMatrixShape& shape, ElementType type, const ConstHostArray& out) {
    constexpr const char* kFunction = "kernel_inverse_root";
    constexpr std::uint64_t kMost = 16384;
    if (!shape.square()) core::refuse(kFunction, "K of X with Y has no root (need a square operator)");
    if (shape.samples > kMost)
        core::refuse(kFunction, "too many samples (got " + std::to_string(shape.samples) + ", need at most " +
                                    std::to_string(kMost) + ")");
    check_array(kFunction, "out", out, type, shape.samples * shape.samples);
}

void check_features_of(const KernelMatrixShape& shape, ElementType type, const ConstHostArray& root,
                       const ConstHostArray& out) {
    constexpr const char* kFunction = "kernel_features";
    check_array(kFunction, "root", root, type, shape.columns() * shape.columns());
    check_array(kFunction, "out", out, type, shape.samples * shape.columns());
}

}  // namespace weft::kernels
