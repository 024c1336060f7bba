// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_solve/operator_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include <weft/error.hpp>

#include "base/refusal.hpp"

namespace weft::kernels {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Matrix = Eigen::MatrixXd;
using Index = Eigen::Index;

/// A Krylov space that grows by blocks, and begins again from its best vectors when it is full. Of vectors it
/// has the rows of this rank.
class BlockSpace {
  public:
    BlockSpace(const SolveKernel& kernel, Index wanted, std::uint64_t seed)
        : kernel_(kernel),
          all_(static_cast<Index>(kernel.samples)),
          samples_(static_cast<Index>(kernel.own().last - kernel.own().first)),
          wanted_(wanted),
          // Some vectors more than are wanted, so that the last wanted one converges too.
          block_(std::min<Index>({wanted + std::max<Index>(wanted / 4, 4), all_, 64})),
          most_(std::min(4 * block_, all_)) {
        std::mt19937_64 random(seed);
        std::normal_distribution<double> normal;
        // All ranks draw the numbers of all rows, so that the block does not depend on their number.
        next_.resize(samples_, block_);
        const auto first = static_cast<Index>(kernel.own().first);
        for (Index j = 0; j < block_; ++j)
            for (Index i = 0; i < all_; ++i) {
                const double number = normal(random);
                if (i >= first && i < first + samples_) next_(i - first, j) = number;
            }
        space_.resize(samples_, 0);
        image_.resize(samples_, 0);
    }

    /// Adds the next block and finds the best vectors of the space. Returns false if no block is left.
    bool grow() {
        if (!orthogonalize()) return false;
        const Matrix image = times(next_);
        append(space_, next_);
        append(image_, image);
        Matrix small = inner(space_, image_);
        small = (small + small.transpose().eval()) / 2;
        const Eigen::SelfAdjointEigenSolver<Matrix> solver(small);
        // Descending.
        const Matrix best = solver.eigenvectors().rowwise().reverse();
        values_ = solver.eigenvalues().reverse();
        const Index held = std::min(block_, best.cols());
        const Matrix vectors = space_ * best.leftCols(held);
        next_ = image_ * best.leftCols(held) - vectors * values_.head(held).asDiagonal();
        residuals_ = norms(next_);
        if (space_.cols() + block_ > most_) {
            const Matrix image_of_best = image_ * best.leftCols(held);
            space_ = vectors;
            image_ = image_of_best;
        }
        vectors_ = vectors;
        return true;
    }
    bool converged(double tolerance) const {
        return values_.size() >= wanted_ &&
               (residuals_.head(wanted_).array() <= tolerance * values_[0]).all();
    }
    const Eigen::VectorXd& values() const noexcept { return values_; }
    const Matrix& vectors() const noexcept { return vectors_; }
    Matrix times(const Matrix& v) const {
        const Rows in = v;
        Rows out(samples_, v.cols());
        const auto size = static_cast<std::size_t>(in.size());
        kernel_.apply(std::span(in.data(), size), std::span(out.data(), size),
                      static_cast<std::uint32_t>(v.cols()));
        return out;
    }
    /// Of the columns.
    Eigen::VectorXd norms(const Matrix& v) const {
        Eigen::VectorXd squares = v.colwise().squaredNorm();
        sum(kernel_.ranks, std::span(squares.data(), static_cast<std::size_t>(squares.size())));
        return squares.cwiseSqrt();
    }

  private:
    /// a^T b.
    Matrix inner(const Matrix& a, const Matrix& b) const {
        Matrix product = a.transpose() * b;
        sum(kernel_.ranks, std::span(product.data(), static_cast<std::size_t>(product.size())));
        return product;
    }
    /// Makes the next block orthonormal to the space; columns that lie in it are dropped.
    bool orthogonalize() {
        const Eigen::VectorXd lengths = norms(next_);
        for (Index j = 0; j < next_.cols(); ++j)
            if (lengths[j] > 0) next_.col(j) /= lengths[j];
        for (int twice = 0; twice < 2; ++twice)
            if (space_.cols() != 0) next_ -= space_ * inner(space_, next_);
        if (!make_orthonormal(std::min(next_.cols(), all_ - space_.cols()))) return false;
        if (space_.cols() != 0) next_ -= space_ * inner(space_, next_);
        return true;
    }
    /// Replaces the next block by an orthonormal one of the same columns, with at most `most` of them.
    bool make_orthonormal(Index most) {
        // Each rank factors its rows; the factors R of all ranks, one below the other, have the rank and the
        // pivots of the whole block.
        const Index columns = next_.cols(), rows = std::min(samples_, columns);
        const Eigen::HouseholderQR<Matrix> own(next_);
        const auto ranks = static_cast<Index>(kernel_.ranks.size), place = kernel_.ranks.rank * columns;
        Matrix stacked = Matrix::Zero(ranks * columns, columns);
        stacked.middleRows(place, rows) = own.matrixQR().topRows(rows).triangularView<Eigen::Upper>();
        sum(kernel_.ranks, std::span(stacked.data(), static_cast<std::size_t>(stacked.size())));
        const Eigen::ColPivHouseholderQR<Matrix> factors(stacked);
        constexpr double kLeast = 1e-7;  // of a unit vector, that is left outside of the space
        Index rank = 0;
        while (rank < most && std::abs(factors.matrixR()(rank, rank)) > kLeast) ++rank;
        if (rank == 0) return false;
        const Matrix of_stacked = factors.householderQ() * Matrix::Identity(stacked.rows(), rank);
        Matrix padded = Matrix::Zero(samples_, rank);
        padded.topRows(rows) = of_stacked.middleRows(place, rows);
        next_ = own.householderQ() * padded;
        return true;
    }
    static void append(Matrix& to, const Matrix& columns) {
        const Index before = to.cols();
        to.conservativeResize(columns.rows(), before + columns.cols());
        to.rightCols(columns.cols()) = columns;
    }

    const SolveKernel& kernel_;
    const Index all_, samples_, wanted_, block_, most_;
    Matrix space_, image_;  // orthonormal vectors, and K times them
    Matrix next_;           // the next block: residuals of the best vectors
    Matrix vectors_;
    Eigen::VectorXd values_, residuals_;
};

}  // namespace

void largest_eigenvalues(const SolveKernel& kernel, std::span<double> values, std::span<double> vectors,
                         const KernelEigenOptions& options, const IterationDone& done,
                         KernelEigenReport& report) {
    const auto wanted = static_cast<Index>(values.size());
    BlockSpace space(kernel, wanted, options.seed);
    while (report.products < options.max_products && space.grow()) {
        done(++report.products);
        if (space.converged(options.tolerance)) break;
    }
    const Matrix best = space.vectors().leftCols(wanted);
    const Eigen::VectorXd apart =
        space.norms(space.times(best) - best * space.values().head(wanted).asDiagonal());
    const double largest = space.values()[0];
    report.residuals.clear();
    for (Index i = 0; i < wanted; ++i) {
        values[static_cast<std::size_t>(i)] = space.values()[i];
        report.residuals.push_back(apart[i] == 0 ? 0 : apart[i] / largest);  // K may be 0
    }
    const KernelRankRows own = kernel.own();
    Eigen::Map<Rows>(vectors.data() + own.first * values.size(), static_cast<Index>(own.last - own.first),
                     wanted) = best;
    report.converged =
        *std::max_element(report.residuals.begin(), report.residuals.end()) <= options.tolerance;
}

void check_eigen(const KernelMatrixShape& shape, ElementType type, const ConstHostArray& values,
                 const ConstHostArray& vectors, const KernelEigenOptions& options) {
    const auto text = [](const auto& value) { return std::to_string(value); };
    if (!shape.square())
        core::refuse("kernel_eigen", "K of X with Y has no eigenvalues (need a square operator)");
    const std::uint64_t most = std::min<std::uint64_t>(kMostEigenvalues, shape.samples);
    if (values.size == 0 || values.size > most)
        core::refuse("kernel_eigen", "number of eigenvalues out of range (got " + text(values.size) +
                                         ", need 1 to " + text(most) + ")");
    for (const auto& [what, array] : {std::pair("values", &values), std::pair("vectors", &vectors)})
        if (array->type != type)
            core::refuse("kernel_eigen", std::string(what) + " are of another type than the operator (got " +
                                             to_string(array->type) + ", need " + to_string(type) + ")");
    if (vectors.size != values.size * shape.samples)
        core::refuse("kernel_eigen", "vectors do not fit the shape (got " + text(vectors.size) +
                                         " numbers, need " + text(values.size * shape.samples) + ")");
    if (!(options.tolerance > 0) || !(options.tolerance < 1))
        core::refuse("kernel_eigen",
                     "tolerance out of range (got " + text(options.tolerance) + ", need above 0, below 1)");
    if (options.max_products == 0)
        core::refuse("kernel_eigen", "max_products out of range (got 0, need 1 or more)");
}

}  // namespace weft::kernels
