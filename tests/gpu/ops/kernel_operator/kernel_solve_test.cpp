// SPDX-License-Identifier: Apache-2.0
// Ridge regression over kernel operators against a dense solve in double, and predictions.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <weft/devices.hpp>
#include <weft/ops/kernel_solve.hpp>

#include "support/device_pair.hpp"
#include "support/gpu_fixture.hpp"
#include "support/operator_oracle.hpp"
#include "support/scratch_folder.hpp"

namespace {

using weft_test::eliminate;
using weft_test::OperatorOracle;
using weft_test::scattered;

constexpr std::uint32_t kQubits = 4;
constexpr std::size_t kSamples = 300;

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

TEST_CASE("a refused prediction names the argument that is wrong") {
    weft_test::on_device([](weft::Backend& backend) {
        constexpr std::uint64_t kNew = 3, kRows = 5;
        const std::vector<float> good_new(kNew * kQubits, 0.5f), good(kRows * kQubits, 0.5f), alpha(kRows);
        std::vector<float> bad_new = good_new, bad = good, out(kNew, 7.0f);
        bad_new[kQubits] = bad[2 * kQubits] = std::numeric_limits<float>::infinity();
        const std::vector<double> other_type(kRows * kQubits);
        const weft::KernelMatrixShape shape{kNew, kRows, kQubits};
        const struct {
            const char* text;
            weft::ConstHostArray x_new, x, alpha;
            weft::KernelMatrixShape shape;
        } cases[] = {
            {"kernel_predict: x_new: row 1 column 0", bad_new, good, alpha, shape},
            {"kernel_predict: x: row 2 column 0", good_new, bad, alpha, shape},
            {"kernel_predict: x_new does not fit the shape", good, good, alpha, shape},
            {"kernel_predict: x does not fit the shape", good_new, good_new, alpha, shape},
            {"kernel_predict: x is of another type than x_new", good_new, other_type, alpha, shape},
            {"kernel_predict: no samples (got 0 rows of x_new", good_new, good, alpha, {0, kRows, kQubits}},
            {"kernel_predict: no rows of x (got 0", good_new, good, alpha, {kNew, 0, kQubits}},
            {"kernel_predict: alpha does not fit the shape", good_new, good, good_new, shape},
            {"kernel_predict: alpha is of type uint32", good_new, good,
             weft::ConstHostArray{alpha.data(), kRows, weft::kUint32}, shape},
        };
        for (const auto& c : cases) {
            CAPTURE(c.text);
            weft_test::check_error(weft::Errc::invalid_argument, c.text, [&] {
                weft::kernel_predict(backend, {}, c.x_new, c.x, c.alpha, out, c.shape);
            });
        }
        const std::vector<std::complex<float>> states(kNew * 4, 0.5f);
        weft_test::check_error(weft::Errc::invalid_argument, "kernel_predict: x does not fit the shape", [&] {
            weft::kernel_predict(backend, states, states, alpha, out, {kNew, kRows, 2});
        });
        CHECK(out == std::vector<float>(kNew, 7.0f));
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

TEST_CASE("targets of any size are solved for, and solutions beyond their type are refused") {
    weft_test::on_device([](weft::Backend& backend) {
        const std::vector<float> x = scattered<float>(kSamples * kQubits, 1),
                                 y = scattered<float>(kSamples, 2);
        const weft::KernelOperator k{backend, {}, x, {kSamples, 0, kQubits}};
        std::vector<float> alpha(kSamples), scaled(kSamples), of_scaled(kSamples, 7.0f);
        const weft::KernelSolveOptions options{.lambda = 0.5, .rank = 20};
        weft::kernel_solve(backend, k, y, alpha, options);
        for (const int exponent : {-100, 100}) {
            for (std::size_t i = 0; i < kSamples; ++i) scaled[i] = std::ldexp(y[i], exponent);
            CHECK(weft::kernel_solve(backend, k, scaled, of_scaled, options).converged);
            for (std::size_t i = 0; i < kSamples; ++i)
                CHECK(std::abs(std::ldexp(of_scaled[i], -exponent) - alpha[i]) < 1e-4f);
        }
        of_scaled.assign(kSamples, 7.0f);
        const auto refused = [&](float factor, double lambda) {
            for (std::size_t i = 0; i < kSamples; ++i) scaled[i] = factor * y[i];
            weft_test::check_error(
                weft::Errc::invalid_argument, "kernel_solve: alpha is beyond its type",
                [&] { weft::kernel_solve(backend, k, scaled, of_scaled, {.lambda = lambda, .rank = 20}); });
            CHECK(of_scaled == std::vector<float>(kSamples, 7.0f));
        };
        refused(1.0f, 1e300);   // alpha would be 0
        refused(3e38f, 1e-3);   // infinite
        refused(1e-44f, 1e-1);  // a few bits
        if (!backend.device().shader_float64) return;
        const std::vector<double> wide_x(x.begin(), x.end());
        std::vector<double> wide_y(kSamples), wide(kSamples);
        for (std::size_t i = 0; i < kSamples; ++i) wide_y[i] = std::ldexp(static_cast<double>(y[i]), -1030);
        const weft::KernelOperator k64{backend, {}, wide_x, {kSamples, 0, kQubits}, {.type = weft::kFloat64}};
        CHECK(weft::kernel_solve(backend, k64, wide_y, wide, {.lambda = 1e-6, .rank = 300}).converged);
        CHECK(std::abs(wide[0]) > 0);
    });
}

TEST_CASE("the rank of a preconditioner is that of K where K has a low one") {
    weft_test::on_device([](weft::Backend& backend) {
        const std::vector<float> x = scattered<float>(kSamples * 2, 1), y = scattered<float>(kSamples, 2);
        const weft::KernelOperator k{backend, {}, x, {kSamples, 0, 2}};  // 4^2 features
        std::vector<float> alpha(kSamples);
        const weft::KernelSolveReport report =
            weft::kernel_solve(backend, k, y, alpha, {.lambda = 0.1, .rank = 200});
        CHECK(report.converged);
        CHECK(report.rank > 4);
        CHECK(report.rank <= 16);
    });
}

TEST_CASE("a solve that was cancelled continues to the same bits") {
    weft_test::on_device([](weft::Backend& backend) {
        const weft_test::ScratchFolder folder;
        const std::vector<float> x = scattered<float>(kSamples * kQubits, 1),
                                 y = scattered<float>(2 * kSamples, 2);
        const weft::KernelOperator k{backend, {}, x, {kSamples, 0, kQubits}};
        std::vector<float> want(y.size()), alpha(y.size(), 3.0f);
        weft::KernelSolveOptions options{.lambda = 1e-3, .tolerance = 1e-5, .max_iterations = 40, .rank = 8};
        const weft::KernelSolveReport whole = weft::kernel_solve(backend, k, y, want, options);
        options.checkpoint = folder.path() / "solve";
        options.checkpoint_every = 3;
        options.resume = true;
        for (const std::uint32_t stop : {2u, 8u, 26u}) {
            options.batch.progress = [&](const weft::Progress& progress) {
                if (progress.done >= stop) throw 1;
            };
            CHECK_THROWS_AS(weft::kernel_solve(backend, k, y, alpha, options), int);
            CHECK(alpha == std::vector<float>(y.size(), 3.0f));
        }
        // Another solve meanwhile, whose file it would be too.
        bool refused_meanwhile = false;
        options.batch.progress = [&](const weft::Progress&) {
            if (std::exchange(refused_meanwhile, true)) return;
            std::vector<float> other(y.size());
            weft::KernelSolveOptions same = options;
            same.batch.progress = {};
            weft_test::check_error(weft::Errc::io, "another solve, of this process or another",
                                   [&] { weft::kernel_solve(backend, k, y, other, same); });
        };
        const weft::KernelSolveReport report = weft::kernel_solve(backend, k, y, alpha, options);
        CHECK(refused_meanwhile);
        options.batch.progress = {};
        CHECK(report.resumed == 24);
        CHECK(report.iterations == whole.iterations);
        CHECK(report.residuals == whole.residuals);
        CHECK(alpha == want);
        const auto refused = [&](const std::string& text, const weft::KernelOperator& of,
                                 const std::vector<float>& right, const weft::KernelSolveOptions& with) {
            weft_test::check_error(weft::Errc::invalid_argument, text,
                                   [&] { weft::kernel_solve(backend, of, right, alpha, with); });
        };
        weft::KernelSolveOptions other = options;
        other.lambda = 2e-3;
        refused("another lambda (the checkpoint has 0.001, the call has 0.002)", k, y, other);
        other = options;
        other.rank = 9;
        refused("another rank", k, y, other);
        std::vector<float> moved = y;
        moved[5] += 1;
        refused("another y", k, moved, options);
        std::vector<float> elsewhere = x;
        elsewhere[7] += 1;
        const weft::KernelMatrixShape shape{kSamples, 0, kQubits};
        refused("another X", {backend, {}, elsewhere, shape}, y, options);
        refused("another scale (the checkpoint has 1, the call has 2)", {backend, {.scale = 2}, x, shape}, y,
                options);
        refused("another map", {backend, {.map = weft::FeatureMap::ry}, x, shape}, y, options);
        refused("resume needs a checkpoint", k, y, {.resume = true});
        CHECK(alpha == want);
    });
}

TEST_CASE("Nystroem features of landmarks stand for K") {
    weft_test::on_device([](weft::Backend& backend) {
        constexpr std::uint32_t kLandmarks = 80;  // more than one call has columns
        const std::vector<double> x = scattered<double>(kSamples * 2, 1);
        const weft::KernelOperatorOptions wide{.type = weft::kFloat64};
        const weft::KernelOperator k{backend, {}, x, {kSamples, 0, 2}, wide};
        const std::vector<double> dense = OperatorOracle{true, 2}.matrix(x, x);
        for (const weft::KernelPivots pivots : {weft::KernelPivots::random, weft::KernelPivots::residual}) {
            const std::vector<std::uint32_t> rows =
                weft::kernel_landmarks(backend, k, kLandmarks, {.pivots = pivots, .seed = 3});
            REQUIRE(rows.size() >= 16);
            REQUIRE(rows.size() <= kLandmarks);
            CHECK(rows == weft::kernel_landmarks(backend, k, kLandmarks, {.pivots = pivots, .seed = 3}));
            std::vector<double> of_rows;
            for (const std::uint32_t row : rows) of_rows.insert(of_rows.end(), {x[2 * row], x[2 * row + 1]});
            const std::size_t n = rows.size();
            const weft::KernelOperator inner{backend, {}, of_rows, {n, 0, 2}, wide},
                across{backend, {}, x, of_rows, {kSamples, n, 2}, wide};
            std::vector<double> root(n * n), features(kSamples * n);
            weft::kernel_inverse_root(backend, inner, root);
            CHECK(weft::kernel_features(backend, across, root, features).items == kSamples * n);
            // K has 16 features, so 80 rows have all of it.
            double most = 0;
            for (std::size_t i = 0; i < kSamples; ++i)
                for (std::size_t j = 0; j <= i; ++j) {
                    double sum = 0;
                    for (std::size_t f = 0; f < n; ++f) sum += features[i * n + f] * features[j * n + f];
                    most = std::max(most, std::abs(sum - dense[i * kSamples + j]));
                }
            CHECK(most < 1e-6);
        }
        std::vector<double> root(4);
        weft_test::check_error(weft::Errc::invalid_argument, "count out of range (got 301, need 1 to 300)",
                               [&] { weft::kernel_landmarks(backend, k, 301); });
        weft_test::check_error(weft::Errc::invalid_argument,
                               "kernel_inverse_root: out does not fit the shape",
                               [&] { weft::kernel_inverse_root(backend, k, root); });
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

TEST_CASE("several devices that share pairs solve to the same bits in every solve") {
    weft_test::on_devices(16, [](weft::Devices& devices) {
        if (!devices[0].device().shader_float64) return;
        const std::size_t samples = 1301;
        const std::vector<double> x = scattered<double>(samples * kQubits, 1),
                                  y = scattered<double>(samples, 2);
        const weft::KernelOperatorOptions options{
            .type = weft::kFloat64, .symmetric = weft::Choice::on, .low_rank = weft::Choice::off};
        const weft::KernelOperator k{devices, {}, x, {samples, 0, kQubits}, options};
        CHECK(k.estimate().symmetric);
        std::vector<double> first(samples), second(samples), image(samples);
        const weft::KernelSolveOptions solve{.lambda = 0.5, .tolerance = 1e-6};
        CHECK(weft::kernel_solve(devices, k, y, first, solve).converged);
        CHECK(weft::kernel_solve(devices, k, y, second, solve).converged);
        CHECK(first == second);
        const weft::OpReport report = weft::kernel_apply(devices, k, first, image, {.lambda = 0.5});
        for (const weft::DeviceReport& row : report.devices) CHECK(row.shares != 0);
        double apart = 0, size = 0;
        for (std::size_t i = 0; i < samples; ++i) {
            apart += (image[i] - y[i]) * (image[i] - y[i]);
            size += y[i] * y[i];
        }
        CHECK(std::sqrt(apart / size) < 1e-5);
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
