// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_solve/low_rank_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <random>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/QR>

#include "host/cpu_set.hpp"
#include "host/thread_parts.hpp"

namespace weft::kernels {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowsOfFloats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Index = Eigen::Index;

/// Calls work(part, first, count) for consecutive samples, on all cores; `parts` is how many there may be.
template <class Work>
void each_part(Index samples, std::uint32_t parts, const Work& work) {
    constexpr std::uint64_t kLeast = 4096;  // samples that are worth a thread
    std::vector<std::exception_ptr> failed(parts);
    in_parts(static_cast<std::uint64_t>(samples), kLeast, parts,
             [&](std::uint64_t part, std::uint64_t first, std::uint64_t last) {
                 try {
                     work(part, static_cast<Index>(first), static_cast<Index>(last - first));
                 } catch (...) {
                     failed[part] = std::current_exception();
                 }
             });
    for (const std::exception_ptr& failure : failed)
        if (failure) std::rethrow_exception(failure);
}

/// Adds up over the ranks.
template <class Matrix>
void sum_over(const KernelRanks& ranks, Matrix& numbers) {
    sum(ranks, std::span(numbers.data(), static_cast<std::size_t>(numbers.size())));
}
double sum_over(const KernelRanks& ranks, double number) {
    sum(ranks, std::span(&number, 1));
    return number;
}

using Ring = std::pair<double, std::uint32_t>;  // the time, and the row

void keep_first(std::vector<Ring>& rings, std::size_t count) {
    const std::size_t kept = std::min(count, rings.size());
    std::partial_sort(rings.begin(), rings.begin() + static_cast<std::ptrdiff_t>(kept), rings.end());
    rings.resize(kept);
}

/// The first of all ranks.
std::vector<Ring> first_of_all(const KernelRanks& ranks, const std::vector<Ring>& own, std::size_t count) {
    // Each rank fills its places of a table of zeros. Row 0 is stored as 1.
    std::vector<double> table(2 * count * ranks.size);
    for (std::size_t i = 0; i < own.size(); ++i) {
        table[2 * (count * ranks.rank + i)] = own[i].first;
        table[2 * (count * ranks.rank + i) + 1] = own[i].second + 1.0;
    }
    sum(ranks, table);
    std::vector<Ring> rings;
    for (std::size_t i = 0; i < table.size(); i += 2)
        if (table[i + 1] != 0) rings.emplace_back(table[i], static_cast<std::uint32_t>(table[i + 1] - 1));
    keep_first(rings, count);
    return rings;
}

/// Different rows, drawn with these weights of own rows. Rows of weight 0 are not drawn.
std::vector<std::uint32_t> draw(const SolveKernel& kernel, const Eigen::VectorXd& weights,
                                std::uint32_t count, std::mt19937_64& random) {
    // Exponential clocks: the first `count` that ring are a draw without replacement. All ranks draw the
    // numbers of all rows, so that the rows do not depend on the number of ranks.
    const KernelRankRows own = kernel.own();
    std::vector<Ring> rings;
    for (std::uint64_t i = 0; i < kernel.samples; ++i) {
        const double uniform = (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
        if (i < own.first || i >= own.last) continue;
        const double weight = weights[static_cast<Index>(i - own.first)];
        if (weight > 0) rings.emplace_back(-std::log(uniform) / weight, static_cast<std::uint32_t>(i));
    }
    keep_first(rings, count);
    if (kernel.ranks.size > 1) rings = first_of_all(kernel.ranks, rings, count);
    std::vector<std::uint32_t> rows;
    for (const Ring& ring : rings) rows.push_back(ring.second);
    return rows;
}

}  // namespace

struct LowRankInverse::Impl {
    explicit Impl(const SolveKernel& of) : ranks(of.ranks), own(of.own()) {}

    const KernelRanks ranks;
    const KernelRankRows own;
    double shift = 0;
    std::uint32_t threads = 1;
    Eigen::MatrixXf factor;  // own rows of F
    Index rank = 0;
    Index directions = 0;               // of F^T F, beyond rounding
    std::vector<std::uint32_t> chosen;  // rows, in order
    Eigen::LLT<Eigen::MatrixXd> inner;  // of F^T F + shift I

    /// The place of each of these rows that are own ones, as use(i, place).
    template <class Use>
    void each_own(const std::vector<std::uint32_t>& rows, const Use& use) const {
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (rows[i] >= own.first && rows[i] < own.last)
                use(static_cast<Index>(i), static_cast<Index>(rows[i] - own.first));
    }
    /// Adds columns to F so that K - F F^T is 0 in these rows; returns how many.
    Index take_rows(const SolveKernel& kernel, const std::vector<std::uint32_t>& rows, Eigen::VectorXd& left);
    void factorize(double lambda, double mean_left);
};

Index LowRankInverse::Impl::take_rows(const SolveKernel& kernel, const std::vector<std::uint32_t>& rows,
                                      Eigen::VectorXd& left) {
    const auto count = static_cast<Index>(rows.size()), samples = factor.rows();
    RowsOfFloats values(count, samples);
    kernel.rows(rows, std::span(values.data(), static_cast<std::size_t>(values.size())));
    if (rank != 0) {
        Eigen::MatrixXd taken = Eigen::MatrixXd::Zero(count, rank);
        each_own(rows, [&](Index i, Index row) { taken.row(i) = factor.row(row).head(rank).cast<double>(); });
        sum_over(ranks, taken);
        const Eigen::MatrixXf of_rows = taken.cast<float>();
        each_part(samples, threads, [&](std::uint64_t, Index first, Index some) {
            values.middleCols(first, some).noalias() -=
                of_rows * factor.block(first, 0, some, rank).transpose();
        });
    }
    Eigen::MatrixXd square = Eigen::MatrixXd::Zero(count, count);
    each_own(rows, [&](Index j, Index row) { square.col(j) = values.col(row).cast<double>(); });
    sum_over(ranks, square);
    square = (square + square.transpose().eval()) / 2;
    // Kernel values are rounded to float32; what lies below that is noise.
    square.diagonal().array() += 1e-6 * static_cast<double>(count);
    const Eigen::LLT<Eigen::MatrixXd> small(square);
    if (small.info() != Eigen::Success) return 0;
    const Eigen::MatrixXf lower = small.matrixL().toDenseMatrix().cast<float>();
    each_part(samples, threads, [&](std::uint64_t, Index first, Index some) {
        const Eigen::MatrixXf part = values.middleCols(first, some);
        factor.block(first, rank, some, count) = lower.triangularView<Eigen::Lower>().solve(part).transpose();
        left.segment(first, some) -=
            factor.block(first, rank, some, count).rowwise().squaredNorm().cast<double>();
    });
    left = left.cwiseMax(0.0);
    each_own(rows, [&](Index, Index row) { left[row] = 0; });
    rank += count;
    chosen.insert(chosen.end(), rows.begin(), rows.end());
    return count;
}

/// The largest eigenvalue, nearly: powers of a matrix that has no negative ones.
double largest_eigenvalue(const Eigen::MatrixXd& matrix) {
    Eigen::VectorXd v = Eigen::VectorXd::Ones(matrix.rows());
    double value = 0;
    for (int i = 0; i < 12 && v.norm() > 0; ++i) {
        v.normalize();
        v = matrix.selfadjointView<Eigen::Lower>() * v;
        value = v.norm();
    }
    return value;
}

/// The rank of F^T F, of which the lower half is there, without what rounding of F adds.
Index directions_of(const Eigen::MatrixXd& gram) {
    if (gram.rows() == 0) return 0;
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> factors(gram.selfadjointView<Eigen::Lower>());
    factors.setThreshold(1e-7);
    return factors.rank();
}

void LowRankInverse::Impl::factorize(double lambda, double mean_left) {
    std::vector<Eigen::MatrixXd> grams(threads, Eigen::MatrixXd::Zero(rank, rank));
    each_part(factor.rows(), threads, [&](std::uint64_t part, Index first, Index some) {
        constexpr Index kChunk = 1024;
        for (Index row = first; row < first + some; row += kChunk) {
            const Eigen::MatrixXd chunk =
                factor.block(row, 0, std::min(kChunk, first + some - row), rank).cast<double>();
            grams[part].selfadjointView<Eigen::Lower>().rankUpdate(chunk.transpose());
        }
    });
    Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(rank, rank);
    for (const Eigen::MatrixXd& part : grams) gram += part;
    sum_over(ranks, gram);
    directions = directions_of(gram);
    // What F leaves of K is about its mean diagonal, which `normalize` with jitter gives every direction. F
    // has float32: a shift far below its rounding would leave nothing but that.
    constexpr double kRounding = 0x1p-19;
    shift = std::max(lambda + mean_left, kRounding * largest_eigenvalue(gram));
    gram.diagonal().array() += shift;
    inner.compute(gram);
}

LowRankInverse::LowRankInverse(const SolveKernel& kernel, const KernelSolveOptions& options,
                               std::uint32_t threads)
    : impl_(new Impl(kernel)) {
    const auto samples = static_cast<Index>(impl_->own.last - impl_->own.first);
    const auto all = static_cast<double>(kernel.samples);
    const auto most = static_cast<Index>(std::min<std::uint64_t>(options.rank, kernel.samples));
    impl_->threads = threads != 0 ? threads : core::usable_cores();
    impl_->factor.resize(samples, most);
    std::mt19937_64 random(options.seed);
    Eigen::VectorXd left = Eigen::VectorXd::Ones(samples);
    if (kernel.diagonal) kernel.diagonal(std::span(left.data(), static_cast<std::size_t>(samples)));
    double of_all = all;          // what F leaves of the diagonal
    constexpr Index kBlock = 64;  // rows that are drawn together
    while (impl_->rank < most && of_all > 1e-6 * all) {
        const auto count = static_cast<std::uint32_t>(std::min(kBlock, most - impl_->rank));
        const Eigen::VectorXd weights = options.pivots == KernelPivots::residual
                                            ? left
                                            : Eigen::VectorXd((left.array() > 0).cast<double>());
        if (impl_->take_rows(kernel, draw(kernel, weights, count, random), left) == 0) break;
        of_all = sum_over(impl_->ranks, left.sum());
    }
    impl_->factorize(options.lambda, of_all / all);
}
LowRankInverse::~LowRankInverse() = default;

std::uint32_t LowRankInverse::rank() const noexcept {
    return static_cast<std::uint32_t>(impl_->directions);
}
const std::vector<std::uint32_t>& LowRankInverse::rows() const noexcept {
    return impl_->chosen;
}

void LowRankInverse::apply(std::span<const double> v, std::span<double> out, std::uint32_t columns) const {
    const Index samples = impl_->factor.rows();
    const Eigen::Map<const Rows> in(v.data(), samples, columns);
    Eigen::Map<Rows> to(out.data(), samples, columns);
    const Index rank = impl_->rank;
    std::vector<Eigen::MatrixXd> sums(impl_->threads, Eigen::MatrixXd::Zero(rank, columns));
    each_part(samples, impl_->threads, [&](std::uint64_t part, Index first, Index some) {
        const Eigen::MatrixXf values = in.middleRows(first, some).cast<float>();
        sums[part] = (impl_->factor.block(first, 0, some, rank).transpose() * values).cast<double>();
    });
    Eigen::MatrixXd inside = Eigen::MatrixXd::Zero(rank, columns);
    for (const Eigen::MatrixXd& part : sums) inside += part;
    sum_over(impl_->ranks, inside);
    const Eigen::MatrixXf solved = impl_->inner.solve(inside).cast<float>();
    each_part(samples, impl_->threads, [&](std::uint64_t, Index first, Index some) {
        const Eigen::MatrixXf taken = impl_->factor.block(first, 0, some, rank) * solved;
        to.middleRows(first, some) = (in.middleRows(first, some) - taken.cast<double>()) / impl_->shift;
    });
}

}  // namespace weft::kernels
