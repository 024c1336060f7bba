// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients and their preconditioner over a dense matrix.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ops/kernel_operator/operator_solve.hpp"
#include "support/error_text.hpp"

namespace {

using namespace weft;
using namespace weft::kernels;

/// Values exp(-(i - j)^2 / (2 width^2)), which decay fast and leave K nearly singular.
struct Dense {
    std::size_t n;
    double width, lambda;
    mutable std::uint32_t products = 0;

    double value(std::size_t i, std::size_t j) const {
        const double apart = static_cast<double>(i) - static_cast<double>(j);
        return std::exp(-apart * apart / (2 * width * width));
    }
    void apply(std::span<const double> v, std::span<double> out) const {
        ++products;
        const std::size_t columns = v.size() / n;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t c = 0; c < columns; ++c) {
                double sum = lambda * v[i * columns + c];
                for (std::size_t j = 0; j < n; ++j) sum += value(i, j) * v[j * columns + c];
                out[i * columns + c] = sum;
            }
    }
    SolveKernel kernel() const {
        return {n, [this](std::span<const double> v, std::span<double> out) { apply(v, out); },
                [this](const std::vector<std::uint32_t>& rows, std::span<float> out) {
                    for (std::size_t r = 0; r < rows.size(); ++r)
                        for (std::size_t j = 0; j < n; ++j)
                            out[r * n + j] = static_cast<float>(value(rows[r], j));
                }};
    }
};

std::vector<double> right_sides(std::size_t n, std::size_t columns) {
    std::vector<double> y(n * columns);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::sin(0.37 * static_cast<double>(i * i % 101));
    return y;
}

/// |y - (K + lambda I) x| / |y| of a column.
double residual_of(const Dense& dense, const std::vector<double>& y, const std::vector<double>& x,
                   std::size_t column, std::size_t columns) {
    std::vector<double> image(y.size());
    dense.apply(x, image);
    double left = 0, all = 0;
    for (std::size_t i = column; i < y.size(); i += columns) {
        left += (y[i] - image[i]) * (y[i] - image[i]);
        all += y[i] * y[i];
    }
    return std::sqrt(left / all);
}

KernelSolveReport solve(const Dense& dense, const std::vector<double>& y, std::vector<double>& x,
                        const KernelSolveOptions& options) {
    KernelSolveReport report;
    const SolveKernel kernel = dense.kernel();
    const auto done = [](std::uint32_t) {};
    if (options.rank == 0) {
        conjugate_gradients(kernel, nullptr, y, x, options, done, report);
        return report;
    }
    const LowRankInverse inverse(kernel, options);
    report.rank = inverse.rank();
    conjugate_gradients(kernel, &inverse, y, x, options, done, report);
    return report;
}

}  // namespace

TEST_CASE("conjugate gradients reach the tolerance, and fewer iterations with a preconditioner") {
    const Dense dense{150, 6, 1e-3};
    for (const std::size_t columns : {1u, 3u}) {
        const std::vector<double> y = right_sides(dense.n, columns);
        std::uint32_t plain = 0;
        for (const std::uint32_t rank : {0u, 60u, 150u})
            for (const KernelPivots pivots : {KernelPivots::random, KernelPivots::residual}) {
                CAPTURE(rank);
                std::vector<double> x(y.size());
                const KernelSolveReport report = solve(dense, y, x,
                                                       {.lambda = dense.lambda,
                                                        .tolerance = 1e-8,
                                                        .max_iterations = 400,
                                                        .rank = rank,
                                                        .pivots = pivots});
                CHECK(report.converged);
                CHECK(report.residuals.size() == columns);
                for (std::size_t c = 0; c < columns; ++c) {
                    const double residual = residual_of(dense, y, x, c, columns);
                    CHECK(residual <= 1e-8);
                    CHECK(report.residuals[c] == doctest::Approx(residual));
                }
                if (rank == 0)
                    plain = report.iterations;
                else
                    CHECK(report.iterations < plain / 2);
            }
    }
}

TEST_CASE("a solve that does not converge says so, with its residual") {
    const Dense dense{150, 6, 1e-3};
    const std::vector<double> y = right_sides(dense.n, 1);
    std::vector<double> x(y.size());
    const KernelSolveReport report =
        solve(dense, y, x, {.lambda = dense.lambda, .tolerance = 1e-10, .max_iterations = 5, .rank = 0});
    CHECK_FALSE(report.converged);
    CHECK(report.iterations == 5);
    CHECK(report.residual() == doctest::Approx(residual_of(dense, y, x, 0, 1)));
    CHECK(report.residual() > 1e-10);
}

TEST_CASE("a right-hand side of zeros has a solution of zeros") {
    const Dense dense{40, 3, 0.1};
    std::vector<double> y = right_sides(dense.n, 2), x(y.size(), 7.0);
    for (std::size_t i = 0; i < y.size(); i += 2) y[i] = 0;
    const KernelSolveReport report = solve(dense, y, x, {.lambda = 0.1, .tolerance = 1e-9, .rank = 10});
    CHECK(report.converged);
    CHECK(report.residuals[0] == 0);
    for (std::size_t i = 0; i < x.size(); i += 2) CHECK(x[i] == 0);
    CHECK(residual_of(dense, y, x, 1, 2) <= 1e-9);
}

TEST_CASE("a preconditioner ends where nothing of K is left") {
    const Dense dense{200, 1e6, 0.5};  // K of ones
    const KernelSolveOptions options{.lambda = 0.5, .rank = 200};
    const LowRankInverse inverse(dense.kernel(), options);
    CHECK(inverse.rank() <= 64);
}

TEST_CASE("solves that cannot be made are refused") {
    std::vector<float> y(20), alpha(20);
    const KernelMatrixShape shape{10, 0, 2};
    const auto text = [&](const KernelMatrixShape& of, const ConstHostArray& right, const ConstHostArray& to,
                          const KernelSolveOptions& options) {
        return weft_test::error_text(Errc::invalid_argument,
                                     [&] { check_solve(of, kFloat32, right, to, options); });
    };
    CHECK(text({10, 5, 2}, y, alpha, {}).starts_with("kernel_solve: K of X with Y cannot be solved with"));
    CHECK(text(shape, std::vector<double>(20), alpha, {}).find("y is of another type") != std::string::npos);
    CHECK(text(shape, std::vector<float>(19), alpha, {}).find("y does not fit the shape") !=
          std::string::npos);
    CHECK(text(shape, y, std::vector<float>(10), {}).find("alpha and y differ in size") != std::string::npos);
    CHECK(text(shape, y, alpha, {.lambda = 0}).find("lambda out of range") != std::string::npos);
    CHECK(text(shape, y, alpha, {.tolerance = 0}).find("tolerance out of range") != std::string::npos);
    check_solve(shape, kFloat32, y, alpha, {});
}
