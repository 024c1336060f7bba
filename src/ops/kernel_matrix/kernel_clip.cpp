// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_matrix/kernel_clip.hpp"

#include <limits>

#include <Eigen/Eigenvalues>

#include <weft/error.hpp>

namespace weft::kernels {
namespace {

using Matrix = Eigen::MatrixXd;

template <class T>
std::uint64_t clip(std::span<T> k, std::uint64_t rows) {
    using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const auto n = static_cast<Eigen::Index>(rows);
    Eigen::Map<RowMajor> values(k.data(), n, n);
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(values.template cast<double>());
    if (solver.info() != Eigen::Success)
        throw Error(Errc::invalid_argument, "clip_kernel_matrix: the eigenvalues do not converge");
    const Eigen::VectorXd& eigenvalues = solver.eigenvalues();  // ascending
    // Rounding makes small numbers of either sign of eigenvalues that are 0.
    const double rounding = static_cast<double>(rows) * std::numeric_limits<double>::epsilon() *
                            eigenvalues.cwiseAbs().maxCoeff();
    const Eigen::Index negative = (eigenvalues.array() < -rounding).count();
    if (negative == 0) return 0;
    if (negative == n) {  // Eigen's products need at least one column
        values.setZero();
        return rows;
    }
    const auto kept = solver.eigenvectors().rightCols(n - negative);
    const Matrix scaled = kept * eigenvalues.tail(n - negative).cwiseMax(0.0).cwiseSqrt().asDiagonal();
    // A product with its own transpose, of which one triangle is computed and copied, so that it is symmetric
    // to the bit.
    Matrix clipped = Matrix::Zero(n, n);
    clipped.selfadjointView<Eigen::Lower>().rankUpdate(scaled);
    clipped.triangularView<Eigen::StrictlyUpper>() = clipped.transpose();
    values = clipped.cast<T>();
    return static_cast<std::uint64_t>(negative);
}

}  // namespace

std::uint64_t clip_eigenvalues(std::span<float> k, std::uint64_t rows) {
    return clip(k, rows);
}
std::uint64_t clip_eigenvalues(std::span<double> k, std::uint64_t rows) {
    return clip(k, rows);
}

}  // namespace weft::kernels
