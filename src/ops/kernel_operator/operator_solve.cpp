// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_operator/operator_solve.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <random>
#include <string>

#include <Eigen/Cholesky>
#include <Eigen/QR>

#include <weft/error.hpp>

#include "host/cpu_set.hpp"
#include "host/thread_parts.hpp"

namespace weft {

double KernelSolveReport::residual() const noexcept {
    return residuals.empty() ? 0 : *std::max_element(residuals.begin(), residuals.end());
}

namespace kernels {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowsOfFloats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowOfNumbers = Eigen::Array<double, 1, Eigen::Dynamic>;
using Index = Eigen::Index;

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Errc::invalid_argument, "kernel_solve: " + what);
}

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
LowRankInverse::LowRankInverse(const SolveKernel& kernel, const KernelSolveOptions& options,
                               SolveCheckpoint* checkpoint)
    : LowRankInverse(kernel, options,
                     checkpoint == nullptr
                         ? 0
                         : static_cast<std::uint32_t>(checkpoint->pinned("threads", core::usable_cores()))) {}
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

namespace {

/// The state of all columns, in the rows of this rank.
class Recurrence {
  public:
    Recurrence(const SolveKernel& kernel, const LowRankInverse* inverse, std::span<const double> y,
               std::span<double> x, double tolerance)
        : kernel_(kernel),
          inverse_(inverse),
          samples_(static_cast<Index>(kernel.own().last - kernel.own().first)),
          columns_(static_cast<Index>(y.size() / kernel.samples)),
          y_(y.data() + static_cast<Index>(kernel.own().first) * columns_, samples_, columns_),
          x_(x.data() + static_cast<Index>(kernel.own().first) * columns_, samples_, columns_),
          tolerance_(tolerance),
          norms_(dots(y_, y_).sqrt()) {
        x_.setZero();
        take_residual(y_);
        restart();
    }

    /// The recurrence begins again from the residual at hand.
    void restart() {
        precondition();
        direction_ = preconditioned_;
        product_ = dots(residual_, preconditioned_);
    }
    /// `replace`: the new residual is the true one, at the cost of another product; the direction is kept.
    void step(bool replace) {
        apply(direction_, image_);
        const RowOfNumbers curvature = dots(direction_, image_);
        // Columns that have converged, or whose curvature is lost in rounding, stay as they are.
        const RowOfNumbers length =
            (curvature > 0 && product_ > 0 && relative_ > 0).select(product_ / curvature, 0.0);
        x_.array() += direction_.array().rowwise() * length;
        if (replace)
            replace_residual();
        else
            take_residual((residual_.array() - image_.array().rowwise() * length).matrix());
        precondition();
        const RowOfNumbers next = dots(residual_, preconditioned_);
        const RowOfNumbers kept = (product_ > 0).select(next / product_, 0.0);
        direction_ = preconditioned_ + (direction_.array().rowwise() * kept).matrix();
        product_ = next;
    }
    /// Replaces the residual by the true one.
    void replace_residual() {
        apply(x_, image_);
        take_residual(y_ - image_);
    }
    const RowOfNumbers& relative() const noexcept { return relative_; }
    bool small_enough() const { return (relative_ <= tolerance_).all(); }

    /// What a checkpoint has of it.
    void put_into(SolveState& state) const {
        const auto copy = [](const auto& from, std::vector<double>& to) {
            to.assign(from.data(), from.data() + from.size());
        };
        copy(x_, state.solution);
        copy(residual_, state.residual);
        copy(direction_, state.direction);
        copy(product_, state.product);
    }
    void take_from(const SolveState& state) {
        const auto copy = [](const std::vector<double>& from, auto& to) {
            std::copy(from.begin(), from.end(), to.data());
        };
        copy(state.solution, x_);
        copy(state.residual, residual_);
        copy(state.direction, direction_);
        copy(state.product, product_);
    }

  private:
    /// The scalar products of the columns of two matrices.
    template <class A, class B>
    RowOfNumbers dots(const A& a, const B& b) const {
        RowOfNumbers products = (a.array() * b.array()).colwise().sum();
        sum_over(kernel_.ranks, products);
        return products;
    }
    template <class Residual>
    void take_residual(const Residual& residual) {
        residual_ = residual;
        relative_ = (norms_ > 0).select(dots(residual_, residual_).sqrt() / norms_, 0.0);
    }
    void apply(const Rows& v, Rows& out) const {
        out.resize(samples_, columns_);
        const auto size = static_cast<std::size_t>(v.size());
        kernel_.apply(std::span(v.data(), size), std::span(out.data(), size),
                      static_cast<std::uint32_t>(columns_));
    }
    void precondition() {
        preconditioned_.resize(samples_, columns_);
        const auto size = static_cast<std::size_t>(residual_.size());
        if (inverse_ == nullptr)
            preconditioned_ = residual_;
        else
            inverse_->apply(std::span<const double>(residual_.data(), size),
                            std::span(preconditioned_.data(), size), static_cast<std::uint32_t>(columns_));
    }

    const SolveKernel& kernel_;
    const LowRankInverse* inverse_;
    const Index samples_, columns_;
    const Eigen::Map<const Rows> y_;
    Eigen::Map<Rows> x_;
    const double tolerance_;
    const RowOfNumbers norms_;
    Rows residual_, preconditioned_, direction_, image_;
    RowOfNumbers product_;   // residual times preconditioned residual
    RowOfNumbers relative_;  // norm of the residual, divided by that of y
};

}  // namespace

void conjugate_gradients(const SolveKernel& kernel, const LowRankInverse* inverse, std::span<const double> y,
                         std::span<double> x, const KernelSolveOptions& options, const IterationDone& done,
                         KernelSolveReport& report, SolveCheckpoint* checkpoint) {
    constexpr std::uint32_t kReplaceEvery = 25;
    Recurrence state(kernel, inverse, y, x, options.tolerance);
    double last_true = 1;
    bool is_true = true;  // the residual at hand is the true one
    bool exhausted = false;
    if (checkpoint != nullptr && checkpoint->found()) {
        const SolveState& found = *checkpoint->found();
        state.take_from(found);
        report.iterations = report.resumed = found.iterations;
        is_true = found.is_true;
        last_true = found.last_true;
    }
    const auto save = [&] {
        SolveState kept{report.iterations, is_true, last_true, {}, {}, {}, {}};
        state.put_into(kept);
        checkpoint->save(kept);
    };
    // Also a file that cannot be written is found before the work begins.
    if (checkpoint != nullptr && !checkpoint->found()) save();
    while (report.iterations < options.max_iterations && !(is_true && state.small_enough())) {
        if (checkpoint != nullptr && checkpoint->due(report.iterations)) save();
        is_true = (report.iterations + 1) % kReplaceEvery == 0;
        state.step(is_true);
        done(++report.iterations);
        if (is_true || !state.small_enough()) continue;
        state.replace_residual();
        is_true = true;
        const double now = state.relative().maxCoeff();
        // The recurrence promises more than the arithmetic of K can give.
        exhausted = now > options.tolerance && now > last_true / 2;
        if (exhausted) break;
        last_true = now;
        state.restart();
    }
    // A later call may have more iterations.
    if (checkpoint != nullptr && !exhausted && checkpoint->saved() != report.iterations) save();
    if (!is_true) state.replace_residual();
    const RowOfNumbers residuals = state.relative();
    report.residuals.assign(residuals.begin(), residuals.end());
    report.converged = state.small_enough();
}

void check_solve(const KernelMatrixShape& shape, ElementType type, const ConstHostArray& y,
                 const ConstHostArray& alpha, const KernelSolveOptions& options) {
    const auto in_text = [](const auto& value) { return std::to_string(value); };
    if (!shape.square()) refuse("K of X with Y cannot be solved with (need a square operator)");
    for (const ConstHostArray* array : {&y, &alpha}) {
        const std::string what = array == &y ? "y" : "alpha";
        if (array->type != type)
            refuse(what + " is of another type than the operator (got " + to_string(array->type) + ", need " +
                   to_string(type) + ")");
        if (array->size == 0 || array->size % shape.samples != 0 || array->size / shape.samples > 64)
            refuse(what + " does not fit the shape (got " + in_text(array->size) +
                   " values, need 1 to 64 times " + in_text(shape.samples) + ")");
    }
    if (alpha.size != y.size)
        refuse("alpha and y differ in size (got " + in_text(alpha.size) + " and " + in_text(y.size) +
               " values)");
    if (!(options.lambda > 0) || !std::isfinite(options.lambda))
        refuse("lambda out of range (got " + in_text(options.lambda) + ", need above 0)");
    if (!(options.tolerance > 0) || !(options.tolerance < 1))
        refuse("tolerance out of range (got " + in_text(options.tolerance) + ", need above 0, below 1)");
    if (options.checkpoint_every == 0) refuse("checkpoint_every out of range (got 0, need 1 or more)");
    if (options.resume && options.checkpoint.empty()) refuse("resume needs a checkpoint (got an empty name)");
    if (static_cast<unsigned>(options.pivots) > static_cast<unsigned>(KernelPivots::residual))
        refuse("no such pivots (got " + in_text(static_cast<int>(options.pivots)) + ", need 0 or 1)");
}

}  // namespace kernels
}  // namespace weft
