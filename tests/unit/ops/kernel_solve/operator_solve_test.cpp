// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients and their preconditioner over a dense matrix.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ops/kernel_solve/operator_eigen.hpp"
#include "ops/kernel_solve/operator_solve.hpp"
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
        return {n, [this](std::span<const double> v, std::span<double> out, std::uint32_t) { apply(v, out); },
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

TEST_CASE("the largest eigenvalues are found, with vectors of norm 1") {
    // K of a product of cosines has few eigenvalues that are not small; this one is checked by its trace and
    // by its own residuals.
    const Dense dense{120, 8, 0};
    constexpr std::size_t kWanted = 5;
    std::vector<double> values(kWanted), vectors(kWanted * dense.n);
    KernelEigenReport report;
    largest_eigenvalues(
        dense.kernel(), values, vectors, {.tolerance = 1e-9}, [](std::uint32_t) {}, report);
    CHECK(report.converged);
    std::vector<double> images(vectors.size());
    dense.apply(vectors, images);
    for (std::size_t k = 0; k < kWanted; ++k) {
        double norm = 0, apart = 0;
        for (std::size_t i = 0; i < dense.n; ++i) {
            const double v = vectors[i * kWanted + k];
            norm += v * v;
            apart += std::pow(images[i * kWanted + k] - values[k] * v, 2);
        }
        CHECK(norm == doctest::Approx(1));
        CHECK(std::sqrt(apart) <= 1e-9 * values[0]);
        if (k > 0) CHECK(values[k] <= values[k - 1]);
    }
    // The power method finds the same largest one.
    std::vector<double> v(dense.n, 1.0), next(dense.n);
    double largest = 0;
    for (int i = 0; i < 3000; ++i) {
        dense.apply(v, next);
        largest = 0;
        for (const double value : next) largest = std::max(largest, std::abs(value));
        for (std::size_t j = 0; j < dense.n; ++j) v[j] = next[j] / largest;
    }
    CHECK(values[0] == doctest::Approx(largest).epsilon(1e-6));
}

TEST_CASE("all eigenvalues of a small matrix add up to its trace") {
    const Dense dense{20, 1.5, 0};
    std::vector<double> values(20), vectors(400);
    KernelEigenReport report;
    largest_eigenvalues(
        dense.kernel(), values, vectors, {.tolerance = 1e-10}, [](std::uint32_t) {}, report);
    CHECK(report.converged);
    double trace = 0;
    for (const double value : values) trace += value;
    CHECK(trace == doctest::Approx(20));
}

TEST_CASE("eigenvalues that did not converge are returned with their residuals") {
    const Dense dense{150, 1, 0};
    std::vector<double> values(4), vectors(600);
    KernelEigenReport report;
    largest_eigenvalues(
        dense.kernel(), values, vectors, {.tolerance = 1e-12, .max_products = 1}, [](std::uint32_t) {},
        report);
    CHECK_FALSE(report.converged);
    CHECK(report.products == 1);
    CHECK(report.residuals.size() == 4);
    CHECK(report.residuals[0] > 1e-12);
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
    const std::vector<float> values(3), vectors(30);
    const auto eigen_text = [&](const KernelMatrixShape& of, const ConstHostArray& some,
                                const ConstHostArray& all, const KernelEigenOptions& options) {
        return weft_test::error_text(Errc::invalid_argument,
                                     [&] { check_eigen(of, kFloat32, some, all, options); });
    };
    CHECK(eigen_text({10, 5, 2}, values, vectors, {})
              .starts_with("kernel_eigen: K of X with Y has no eigenvalues"));
    CHECK(eigen_text(shape, std::vector<float>(11), vectors, {}).find("(got 11, need 1 to 10)") !=
          std::string::npos);
    CHECK(eigen_text(shape, values, std::vector<float>(29), {}).find("(got 29 numbers, need 30)") !=
          std::string::npos);
    CHECK(eigen_text(shape, values, vectors, {.max_products = 0}).find("max_products") != std::string::npos);
    check_eigen(shape, kFloat32, values, vectors, {});
}
