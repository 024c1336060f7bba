// SPDX-License-Identifier: Apache-2.0
// Kernel operators: rows, the diagonal, several devices, progress, cancellation, and calls that are refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stop_token>
#include <vector>

#include <weft/devices.hpp>
#include <weft/ops/encode.hpp>
#include <weft/ops/kernel_operator.hpp>

#include "support/gpu_fixture.hpp"
#include "support/operator_oracle.hpp"

namespace {

using weft_test::OperatorOracle;
using weft_test::scattered;

constexpr std::uint32_t kQubits = 3;
constexpr std::size_t kSamples = 50;

std::vector<float> features(std::size_t samples = kSamples) {
    return scattered<float>(samples * kQubits, 7);
}

}  // namespace

TEST_CASE("rows of K and its diagonal") {
    weft_test::on_device([](weft::Backend& backend) {
        const std::vector<float> x = features(), y = scattered<float>(20 * kQubits, 8);
        const weft::KernelOperator square{
            backend, {}, x, {kSamples, 0, kQubits}, {.normalize = true, .jitter = 0.5}};
        const weft::KernelOperator pair{backend, {}, x, y, {kSamples, 20, kQubits}};
        const std::vector<std::uint32_t> rows{49, 0, 7, 7};
        OperatorOracle oracle{true, kQubits};
        oracle.shrink = 1 / 1.5;
        const auto of_x = oracle.states(x), of_y = oracle.states(y);
        std::vector<float> got(rows.size() * kSamples);
        weft::kernel_rows(backend, square, rows, got);
        for (std::size_t r = 0; r < rows.size(); ++r)
            for (std::size_t j = 0; j < kSamples; ++j)
                CHECK(std::abs(static_cast<double>(got[r * kSamples + j]) -
                               oracle.value(of_x, rows[r], of_x, j)) < 3e-6);
        oracle.square = false;
        oracle.shrink = 1;
        got.resize(rows.size() * 20);
        weft::kernel_rows(backend, pair, rows, got);
        for (std::size_t r = 0; r < rows.size(); ++r)
            for (std::size_t j = 0; j < 20; ++j)
                CHECK(std::abs(static_cast<double>(got[r * 20 + j]) - oracle.value(of_x, rows[r], of_y, j)) <
                      3e-6);
        std::vector<float> diagonal(kSamples);
        weft::kernel_diagonal(backend, square, diagonal);
        CHECK(std::count(diagonal.begin(), diagonal.end(), 1.0f) == kSamples);
        weft_test::check_error(weft::Errc::invalid_argument, "K of X with Y has no diagonal",
                               [&] { weft::kernel_diagonal(backend, pair, diagonal); });
        weft_test::check_error(weft::Errc::invalid_argument, "no such row (got 50, need below 50)", [&] {
            std::vector<float> one(20);
            weft::kernel_rows(backend, pair, {50}, one);
        });
    });
}

TEST_CASE("a resident feature that is not finite makes its row and column NaN") {
    weft_test::on_device([](weft::Backend& backend) {
        std::vector<float> x = features();
        x[5 * kQubits + 1] = std::numeric_limits<float>::infinity();
        weft::Stream stream{backend};
        weft::Buffer<float> resident{backend, x.size()}, diagonal{backend, kSamples}, row{backend, kSamples};
        stream.upload(x, resident);
        const weft::KernelOperator k{stream, {}, resident, {kSamples, 0, kQubits}};
        weft::kernel_diagonal(stream, k, diagonal);
        weft::kernel_rows(stream, k, {0}, row);
        const std::vector<float> on_diagonal = stream.download(diagonal), first = stream.download(row);
        for (std::size_t i = 0; i < kSamples; ++i) {
            CHECK(std::isnan(on_diagonal[i]) == (i == 5));
            CHECK(std::isnan(first[i]) == (i == 5));
        }
        weft_test::check_error(
            weft::Errc::invalid_argument, "KernelOperator: x: row 5 column 1 is infinite", [&] {
                weft::KernelOperator(backend, {}, x, weft::KernelMatrixShape{kSamples, 0, kQubits});
            });
    });
}

TEST_CASE("several devices share the rows of a product") {
    if (!weft_test::make_backend()) return;
    weft::Devices devices{"cpu,cpu"};
    const std::size_t samples = 5000;
    const std::vector<float> x = features(samples), v = scattered<float>(samples * 2, 9);
    const weft::KernelMatrixShape shape{samples, 0, kQubits};
    const weft::KernelOperatorOptions options{.symmetric = weft::Choice::off};
    const weft::KernelOperator shared{devices, {}, x, shape, options};
    std::vector<float> out(samples * 2, 1.0f), alone(samples * 2, 1.0f);
    const weft::OpReport report = weft::kernel_apply(devices, shared, v, out, {.a = 2, .b = 3, .lambda = 1});
    CHECK(report.items == samples * samples);
    CHECK(report.devices.size() == 2);
    const weft::KernelOperator single{devices[0], {}, x, shape, options};
    weft::kernel_apply(devices[0], single, v, alone, {.a = 2, .b = 3, .lambda = 1});
    CHECK(out == alone);
    weft_test::check_error(weft::Errc::invalid_argument,
                           "kernel_apply: the operator was made on another backend",
                           [&] { weft::kernel_apply(devices[1], single, v, alone); });
}

TEST_CASE("progress counts pairs, and a product can be cancelled") {
    weft_test::on_device([](weft::Backend& backend) {
        const std::size_t samples = 300;
        const std::vector<float> x = features(samples), v = scattered<float>(samples, 9);
        const weft::KernelOperator k{backend, {}, x, {samples, 0, kQubits}};
        std::vector<float> out(samples);
        weft::Progress last;
        weft::BatchOptions batch;
        batch.progress = [&](const weft::Progress& progress) { last = progress; };
        const weft::OpReport report = weft::kernel_apply(backend, k, v, out, {.batch = batch});
        CHECK(last.done == last.total);
        CHECK(last.total == report.items);
        std::stop_source stop;
        stop.request_stop();
        batch.cancel = stop.get_token();
        const std::vector<float> before = out;
        weft_test::check_error(weft::Errc::cancelled, "kernel_apply",
                               [&] { weft::kernel_apply(backend, k, v, out, {.batch = batch}); });
        CHECK(out == before);
    });
}

TEST_CASE("products that cannot be made leave the output as it is") {
    weft_test::on_device([](weft::Backend& backend) {
        const std::vector<float> x = features();
        const weft::KernelOperator k{backend, {}, x, {kSamples, 0, kQubits}};
        std::vector<float> v(kSamples, 1.0f), out(kSamples, 5.0f);
        weft_test::check_error(weft::Errc::invalid_argument, "out overlaps v",
                               [&] { weft::kernel_apply(backend, k, v, v); });
        weft_test::check_error(weft::Errc::invalid_argument, "v does not fit the shape", [&] {
            weft::kernel_apply(backend, k, std::vector<float>(kSamples + 1), out);
        });
        weft_test::check_error(weft::Errc::invalid_argument, "v is of another type than the operator",
                               [&] { weft::kernel_apply(backend, k, std::vector<double>(kSamples), out); });
        weft_test::check_error(weft::Errc::invalid_argument, "BatchOptions", [&] {
            weft::KernelApplyHostOptions options;
            options.batch.ring_slots = 2;
            weft::kernel_apply(backend, k, v, out, options);
        });
        CHECK(std::count(out.begin(), out.end(), 5.0f) == kSamples);
    });
}
