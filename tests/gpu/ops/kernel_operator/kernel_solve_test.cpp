// SPDX-License-Identifier: Apache-2.0
// Ridge regression over kernel operators against a dense solve in double, and predictions.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include <weft/devices.hpp>
#include <weft/ops/kernel_solve.hpp>

#include "support/device_pair.hpp"
#include "support/gpu_fixture.hpp"
#include "support/operator_oracle.hpp"

namespace {

using weft_test::OperatorOracle;
using weft_test::scattered;

constexpr std::uint32_t kQubits = 4;
constexpr std::size_t kSamples = 300;

/// Gaussian elimination of a positive definite matrix; `b` becomes the solution.
void eliminate(std::vector<double> a, std::vector<double>& b, std::size_t n, std::size_t columns) {
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = 0; i < n; ++i) {
            if (i == k) continue;
            const double factor = a[i * n + k] / a[k * n + k];
            for (std::size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
            for (std::size_t c = 0; c < columns; ++c) b[i * columns + c] -= factor * b[k * columns + c];
        }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < columns; ++c) b[i * columns + c] /= a[i * n + i];
}

}  // namespace

TEST_CASE("ridge regression agrees with a dense solve, and its predictions with the dense ones") {
    weft_test::on_device([](weft::Backend& backend) {
        const double lambda = 0.05;
        const std::size_t columns = 2, fresh = 40;
        const std::vector<float> x = scattered<float>(kSamples * kQubits, 1),
                                 y = scattered<float>(kSamples * columns, 2);
        const std::vector<float> x_new = scattered<float>(fresh * kQubits, 3);
        OperatorOracle oracle{true, kQubits};
        oracle.lambda = lambda;
        std::vector<double> want(y.begin(), y.end());
        eliminate(oracle.matrix(x, x), want, kSamples, columns);
        const weft::KernelOperator k{backend, {}, x, {kSamples, 0, kQubits}};
        std::vector<float> alpha(y.size());
        const weft::KernelSolveReport report =
            weft::kernel_solve(backend, k, y, alpha, {.lambda = lambda, .tolerance = 2e-4, .rank = 50});
        CHECK(report.converged);
        CHECK(report.residual() <= 2e-4);
        CHECK(report.rank == 50);
        CHECK(report.product_s > 0);
        for (std::size_t i = 0; i < alpha.size(); ++i)
            CHECK(std::abs(static_cast<double>(alpha[i]) - want[i]) < 2e-3 * (1 + std::abs(want[i])));

        std::vector<float> predicted(fresh * columns);
        weft::kernel_predict(backend, {}, x_new, x, alpha, predicted, {fresh, kSamples, kQubits});
        oracle.square = false;
        const std::vector<double> of_new =
            weft_test::oracle_product(oracle.matrix(x_new, x), fresh, kSamples,
                                      std::vector<double>(alpha.begin(), alpha.end()), columns);
        for (std::size_t i = 0; i < predicted.size(); ++i)
            CHECK(std::abs(static_cast<double>(predicted[i]) - of_new[i]) < 1e-4 * (1 + std::abs(of_new[i])));
    });
}

TEST_CASE("a preconditioner does not spoil what is solved without one") {
    weft_test::on_device([](weft::Backend& backend) {
        const std::vector<double> x = scattered<double>(kSamples * kQubits, 1),
                                  y = scattered<double>(4 * kSamples, 2);
        std::vector<double> alpha(y.size());
        // The jitter bounds the eigenvalues of K from below. Values for rows and columns, four columns of V.
        const weft::KernelOperator k{
            backend,
            {},
            x,
            {kSamples, 0, kQubits},
            {.type = weft::kFloat64, .normalize = true, .jitter = 0.1, .symmetric = weft::Choice::on}};
        for (const double lambda : {1e-3, 1e-5, 1e-8})
            for (const std::uint32_t rank : {0u, 20u, 300u}) {
                CAPTURE(lambda);
                CAPTURE(rank);
                CHECK(weft::kernel_solve(backend, k, y, alpha,
                                         {.lambda = lambda, .tolerance = 1e-6, .rank = rank})
                          .converged);
            }
    });
}

TEST_CASE("float64 operators reach residuals that float32 cannot, and float32 says what it reached") {
    weft_test::on_device([](weft::Backend& backend) {
        const std::vector<double> x = scattered<double>(kSamples * kQubits, 1),
                                  y = scattered<double>(kSamples, 2);
        const weft::KernelOperator k{backend, {}, x, {kSamples, 0, kQubits}, {.type = weft::kFloat64}};
        std::vector<double> alpha(y.size());
        const weft::KernelSolveOptions options{.lambda = 1e-3, .tolerance = 1e-10, .rank = 100};
        CHECK(weft::kernel_solve(backend, k, y, alpha, options).converged);
        const std::vector<float> narrow_x(x.begin(), x.end()), narrow_y(y.begin(), y.end());
        const weft::KernelOperator narrow{backend, {}, narrow_x, {kSamples, 0, kQubits}};
        std::vector<float> narrow_alpha(y.size());
        const weft::KernelSolveReport report =
            weft::kernel_solve(backend, narrow, narrow_y, narrow_alpha, options);
        CHECK_FALSE(report.converged);
        CHECK(report.residual() > 1e-10);
        CHECK(report.residual() < 1e-2);
    });
}

TEST_CASE("the largest eigenvalues of an operator") {
    weft_test::on_device([](weft::Backend& backend) {
        constexpr std::size_t kWanted = 3;
        const std::vector<float> x = scattered<float>(kSamples * kQubits, 1);
        const weft::KernelOperator k{backend, {}, x, {kSamples, 0, kQubits}};
        std::vector<float> values(kWanted), vectors(kSamples * kWanted);
        const weft::KernelEigenReport report = weft::kernel_eigen(backend, k, values, vectors);
        CHECK(report.converged);
        const std::vector<double> image =
            weft_test::oracle_product(OperatorOracle{true, kQubits}.matrix(x, x), kSamples, kSamples,
                                      std::vector<double>(vectors.begin(), vectors.end()), kWanted);
        for (std::size_t c = 0; c < kWanted; ++c) {
            double apart = 0;
            for (std::size_t i = c; i < image.size(); i += kWanted)
                apart +=
                    std::pow(image[i] - static_cast<double>(values[c]) * static_cast<double>(vectors[i]), 2);
            CHECK(std::sqrt(apart) <= 2e-4 * static_cast<double>(values[0]));
        }
    });
}

TEST_CASE("several devices solve together, and a solve can be cancelled") {
    weft_test::on_devices(4096, [](weft::Devices& devices) {
        const std::vector<float> x = scattered<float>(kSamples * kQubits, 1),
                                 y = scattered<float>(kSamples, 2);
        const weft::KernelOperator k{devices, {}, x, {kSamples, 0, kQubits}};
        std::vector<float> alpha(kSamples, 3.0f);
        weft::KernelSolveOptions options{.lambda = 0.1};
        weft::Progress last;
        options.batch.progress = [&](const weft::Progress& progress) { last = progress; };
        CHECK(weft::kernel_solve(devices, k, y, alpha, options).converged);
        CHECK(last.done > 0);
        std::stop_source stop;
        stop.request_stop();
        options.batch.cancel = stop.get_token();
        const std::vector<float> before = alpha;
        weft_test::check_error(weft::Errc::cancelled, "kernel_solve",
                               [&] { weft::kernel_solve(devices, k, y, alpha, options); });
        CHECK(alpha == before);
    });
}
