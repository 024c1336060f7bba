// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_solve/operator_solve.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <Eigen/Core>

#include <weft/error.hpp>

#include "base/refusal.hpp"

namespace weft {

double KernelSolveReport::residual() const noexcept {
    return residuals.empty() ? 0 : *std::max_element(residuals.begin(), residuals.end());
}

namespace kernels {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowOfNumbers = Eigen::Array<double, 1, Eigen::Dynamic>;
using Index = Eigen::Index;

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
        take_residual(Rows(residual_));
    }

  private:
    /// The scalar products of the columns of two matrices.
    template <class A, class B>
    RowOfNumbers dots(const A& a, const B& b) const {
        RowOfNumbers products = (a.array() * b.array()).colwise().sum();
        sum(kernel_.ranks, std::span(products.data(), static_cast<std::size_t>(products.size())));
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
                         KernelSolveReport& report, RankCheckpoint* checkpoint) {
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
        if (checkpoint->of_other_ranks()) state.restart();
    }
    const auto save = [&] {
        SolveState kept{report.iterations, is_true, last_true, {}, {}, {}, {}};
        state.put_into(kept);
        checkpoint->save(std::move(kept));
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
    if (!shape.square())
        core::refuse("kernel_solve", "K of X with Y cannot be solved with (need a square operator)");
    for (const ConstHostArray* array : {&y, &alpha}) {
        const std::string what = array == &y ? "y" : "alpha";
        if (array->type != type)
            core::refuse("kernel_solve", what + " is of another type than the operator (got " +
                                             to_string(array->type) + ", need " + to_string(type) + ")");
        if (array->size == 0 || array->size % shape.samples != 0 || array->size / shape.samples > 64)
            core::refuse("kernel_solve", what + " does not fit the shape (got " + in_text(array->size) +
                                             " values, need 1 to 64 times " + in_text(shape.samples) + ")");
    }
    if (alpha.size != y.size)
        core::refuse("kernel_solve", "alpha and y differ in size (got " + in_text(alpha.size) + " and " +
                                         in_text(y.size) + " values)");
    if (!(options.lambda > 0) || !std::isfinite(options.lambda))
        core::refuse("kernel_solve",
                     "lambda out of range (got " + in_text(options.lambda) + ", need above 0)");
    if (!(options.tolerance > 0) || !(options.tolerance < 1))
        core::refuse("kernel_solve", "tolerance out of range (got " + in_text(options.tolerance) +
                                         ", need above 0, below 1)");
    if (options.checkpoint_every == 0)
        core::refuse("kernel_solve", "checkpoint_every out of range (got 0, need 1 or more)");
    if (options.resume && options.checkpoint.empty())
        core::refuse("kernel_solve", "resume needs a checkpoint (got an empty name)");
    if (static_cast<unsigned>(options.pivots) > static_cast<unsigned>(KernelPivots::residual))
        core::refuse("kernel_solve",
                     "no such pivots (got " + in_text(static_cast<int>(options.pivots)) + ", need 0 or 1)");
}

}  // namespace kernels
}  // namespace weft
