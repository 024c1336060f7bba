// SPDX-License-Identifier: Apache-2.0
// Kernel operators on several devices, and options that are refused. Products, rows and what all back ends
// refuse are in tests/conformance/kernel_operator_test.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <stop_token>
#include <vector>

#include <weft/devices.hpp>
#include <weft/ops/kernel_operator.hpp>

#include "support/device_pair.hpp"
#include "support/gpu_fixture.hpp"
#include "support/operator_oracle.hpp"

namespace {

using weft_test::scattered;

constexpr std::uint32_t kQubits = 3;

std::vector<float> features(std::size_t samples) {
    return scattered<float>(samples * kQubits, 7);
}

}  // namespace

TEST_CASE("several devices share the rows of a product") {
    weft_test::on_devices(512, [](weft::Devices& devices) {
        const std::size_t samples = 9000;
        const std::vector<float> x = features(samples), v = scattered<float>(samples * 2, 9);
        const weft::KernelMatrixShape shape{samples, 0, kQubits};
        const weft::KernelOperatorOptions options{.symmetric = weft::Choice::off,
                                                  .low_rank = weft::Choice::off};
        const weft::KernelOperator shared{devices, {}, x, shape, options};
        std::vector<float> out(samples * 2, 1.0f), alone(samples * 2, 1.0f);
        const weft::OpReport report =
            weft::kernel_apply(devices, shared, v, out, {.a = 2, .b = 3, .lambda = 1});
        CHECK(report.items == samples * samples);
        std::uint64_t items = 0;
        for (const weft::DeviceReport& row : report.devices) items += row.items;
        CHECK(items == report.items);
        CHECK(report.devices.size() == devices.size());
        const weft::KernelOperator single{devices[0], {}, x, shape, options};
        weft::kernel_apply(devices[0], single, v, alone, {.a = 2, .b = 3, .lambda = 1});
        CHECK(out == alone);
        weft_test::check_error(weft::Errc::invalid_argument,
                               "kernel_apply: the operator was made on another backend",
                               [&] { weft::kernel_apply(devices[1], single, v, alone); });
    });
}

TEST_CASE("a product over as many qubits as pixels of a small picture") {
    weft_test::on_device([](weft::Backend& backend) {
        constexpr std::size_t samples = 1500, qubits = 784;
        std::vector<float> x = scattered<float>(samples * qubits, 7);
        for (float& angle : x) angle *= 0.05f;  // so that values of K are not tiny
        const std::vector<float> v = scattered<float>(samples, 9);
        std::vector<float> out(samples);
        const weft::KernelOperator k{backend, {}, x, {samples, 0, qubits}};
        weft::kernel_apply(backend, k, v, out);
        for (const std::size_t row : {std::size_t{0}, std::size_t{701}, samples - 1}) {
            double want = 0, all = 0;
            for (std::size_t j = 0; j < samples; ++j) {
                double value = 1;
                for (std::size_t q = 0; q < qubits; ++q) {
                    const double own = x[row * qubits + q], other = x[j * qubits + q];
                    const double apart = std::cos((own - other) / 2), together = std::cos((own + other) / 2);
                    const double same = apart * apart;
                    value *= same * same + (1 - same) * together * together;
                }
                want += value * double{v[j]};
                all += std::abs(double{v[j]});
            }
            CAPTURE(row);
            CHECK(std::abs(double{out[row]} - want) <= 1e-4 * all);
        }
    });
}

TEST_CASE("a product by way of features stays on one device") {
    weft_test::on_devices(std::nullopt, [](weft::Devices& devices) {
        const std::size_t samples = 30000;  // in closed form enough for two shares
        const std::vector<float> x = features(samples), v = scattered<float>(samples, 9);
        const weft::KernelMatrixShape shape{samples, 0, kQubits};
        const weft::KernelOperatorOptions options{.symmetric = weft::Choice::off,
                                                  .low_rank = weft::Choice::on};
        std::vector<float> out(samples), alone(samples);
        const weft::OpReport report =
            weft::kernel_apply(devices, weft::KernelOperator{devices, {}, x, shape, options}, v, out);
        CHECK(report.method == "low_rank");
        const auto took_part = [](const weft::DeviceReport& row) { return row.shares != 0; };
        CHECK(std::count_if(report.devices.begin(), report.devices.end(), took_part) == 1);
        weft::kernel_apply(devices[0], weft::KernelOperator{devices[0], {}, x, shape, options}, v, alone);
        CHECK(out == alone);
    });
}

namespace {

/// A square K whose pairs are shared, and what its products are.
template <class T>
struct Shared {
    Shared(weft::FeatureMap map, std::uint32_t qubits, std::size_t samples, bool normalize)
        : shape{samples, 0, qubits},
          circuit{.map = map, .scale = 0.7},
          options{.type = weft::element_type<T>(),
                  .normalize = normalize,
                  .jitter = normalize ? 0.25 : 0,
                  .symmetric = weft::Choice::on,
                  .low_rank = weft::Choice::off},
          x(scattered<float>(samples * qubits, 7)),
          v(scattered<T>(samples * kMost, 9)) {}
    /// Some rows of the dense K, those next to the end among them.
    void make_dense() {
        weft_test::OperatorOracle oracle{circuit.map == weft::FeatureMap::ryrz, shape.qubits, circuit.scale};
        oracle.shrink = options.normalize ? 1 / (1 + options.jitter) : 1;
        const auto states = oracle.states(x);
        for (std::size_t i = 0; i < shape.samples; ++i) {
            if (i % 17 != 0 && i + 2 < shape.samples) continue;
            rows.push_back(i);
            for (std::size_t j = 0; j < shape.samples; ++j) k.push_back(oracle.value(states, i, states, j));
        }
    }
    weft::KernelOperator on(weft::Devices& devices) const { return {devices, circuit, x, shape, options}; }
    weft::KernelOperator on(weft::Backend& backend) const { return {backend, circuit, x, shape, options}; }
    /// The first columns of V, side by side.
    std::vector<T> some(std::size_t columns) const {
        std::vector<T> some;
        for (std::size_t i = 0; i < v.size(); ++i)
            if (i % kMost < columns) some.push_back(v[i]);
        return some;
    }
    static constexpr std::size_t kMost = 64;
    weft::KernelMatrixShape shape;
    weft::KernelMatrixCircuit circuit;
    weft::KernelOperatorOptions options;
    std::vector<float> x;
    std::vector<T> v;
    std::vector<std::size_t> rows;
    std::vector<double> k;  // these rows
};

/// A product by shares of pairs, compared with the dense matrix. Returns it.
template <class T>
std::vector<T> check_pairs(weft::Devices& devices, const Shared<T>& problem, std::size_t columns,
                           const weft::KernelApplyHostOptions& options) {
    CAPTURE(columns);
    CAPTURE(problem.shape.qubits);
    const std::size_t samples = problem.shape.samples;
    const weft::KernelOperator k = problem.on(devices);
    const weft::KernelOperatorEstimate plan = k.estimate(static_cast<std::uint32_t>(columns));
    CHECK(plan.symmetric);
    CHECK(plan.reasons.at(1).find("symmetric over ") == 0);
    const std::vector<T> v = problem.some(columns), before = scattered<T>(v.size(), 4);
    const std::vector<double> product = weft_test::oracle_product(
        problem.k, problem.rows.size(), samples, std::vector<double>(v.begin(), v.end()), columns);
    std::vector<double> sums(columns, 0.0);
    for (std::size_t i = 0; i < v.size(); ++i) sums[i % columns] += std::abs(static_cast<double>(v[i]));
    std::vector<T> out = before;
    const weft::OpReport report = weft::kernel_apply(devices, k, v, out, options);
    // Each pair is made once in a pass, by all devices together.
    CHECK(report.items == plan.passes * (samples * (samples + 1) / 2));
    std::uint64_t items = 0, busy = 0;
    for (const weft::DeviceReport& row : report.devices) items += row.items, busy += row.items != 0;
    CHECK(items == report.items);
    CHECK(busy > 1);
    const double unit = std::ldexp(1.0, sizeof(T) == 4 ? -24 : -53);
    double most = 0;
    for (std::size_t at = 0; at < product.size(); ++at) {
        const std::size_t i = problem.rows[at / columns] * columns + at % columns;
        const double of_v = options.a * (product[at] + options.lambda * static_cast<double>(v[i]));
        const double want = of_v + (options.b == 0 ? 0 : options.b * static_cast<double>(before[i]));
        const double allowed = std::abs(options.a) * plan.error * sums[i % columns] +
                               4 * unit * (std::abs(options.b) + std::abs(options.lambda) + std::abs(want));
        const double error = std::abs(static_cast<double>(out[i]) - want) / allowed;
        if (!(error <= most)) most = error;  // also NaN
    }
    CHECK(most <= 1);
    return out;
}

const weft::KernelApplyHostOptions kFactors{.a = -2, .b = 3, .lambda = 0.5, .transpose = true};

}  // namespace

TEST_CASE("several devices share the pairs of a square K, each of which is made once") {
    Shared<float> ryrz(weft::FeatureMap::ryrz, 20, 1301, false), ry(weft::FeatureMap::ry, 30, 1281, true);
    Shared<double> wide(weft::FeatureMap::ryrz, 12, 1100, true);
    ryrz.make_dense(), ry.make_dense(), wide.make_dense();
    std::vector<float> of_two;
    weft_test::on_devices(16, [&](weft::Devices& devices) {
        for (const std::size_t columns : {1u, 16u, 64u}) check_pairs(devices, ryrz, columns, {});
        check_pairs(devices, ry, 3, kFactors);
        if (devices[0].device().shader_float64) check_pairs(devices, wide, 3, kFactors);
        of_two = check_pairs(devices, ryrz, 3, kFactors);
        // One device alone sums up in another order.
        const std::vector<float> v = ryrz.some(3);
        std::vector<float> alone = scattered<float>(v.size(), 4);
        const weft::KernelOperator single = ryrz.on(devices[0]);
        weft::kernel_apply(devices[0], single, v, alone, kFactors);
        double most = 0;
        for (std::size_t i = 0; i < v.size(); ++i)
            most = std::max(most, std::abs(static_cast<double>(alone[i]) - static_cast<double>(of_two[i])));
        CHECK(most <= 2 * 2 * single.estimate(3).error * static_cast<double>(ryrz.shape.samples));
        // All values, where symmetry is turned off.
        Shared<float> off = ryrz;
        off.options.symmetric = weft::Choice::off;
        CHECK(weft::kernel_apply(devices, off.on(devices), v, alone).items == 1301u * 1301u);
    });
    weft_test::on_devices(
        16,
        [&](weft::Devices& devices) {
            // The same bits however the work is shared, and in every call.
            for (int i = 0; i < 2; ++i) CHECK(check_pairs(devices, ryrz, 3, kFactors) == of_two);
        },
        1);
}

TEST_CASE("shares of pairs report progress, can be stopped, and leave what has no place in totals to rows") {
    const Shared<float> problem(weft::FeatureMap::ry, 30, 1281, false);
    weft_test::on_devices(16, [&](weft::Devices& devices) {
        const weft::KernelOperator k = problem.on(devices);
        std::vector<float> v = problem.some(1), out(v.size(), 5.0f);
        std::uint64_t last = 0;
        weft::KernelApplyHostOptions options;
        options.batch.progress = [&](const weft::Progress& progress) {
            CHECK(progress.done > last);
            CHECK(progress.total == 1281u * 1282u / 2);
            last = progress.done;
        };
        weft::kernel_apply(devices, k, v, out, options);
        CHECK(last == 1281u * 1282u / 2);
        std::stop_source stop;
        out.assign(v.size(), 5.0f);
        options.batch.cancel = stop.get_token();
        options.batch.progress = [&](const weft::Progress&) { stop.request_stop(); };
        weft_test::check_error(weft::Errc::cancelled, "kernel_apply",
                               [&] { weft::kernel_apply(devices, k, v, out, options); });
        CHECK(std::count(out.begin(), out.end(), 5.0f) == 1281);
        for (const float none : {std::numeric_limits<float>::quiet_NaN(), 3e38f}) {
            v[7] = v[8] = none;
            CHECK(weft::kernel_apply(devices, k, v, out).items == 1281u * 1281u);
        }
        v.assign(v.size(), 0.0f);
        weft::kernel_apply(devices, k, v, out);
        CHECK(std::count(out.begin(), out.end(), 0.0f) == 1281);
    });
}

TEST_CASE("rows in host memory come part by part, report progress and end when they are cancelled") {
    weft_test::on_device([](weft::Backend& backend) {
        constexpr std::size_t kSamples = 3000;  // 36 MB of values, more than one part
        const std::vector<float> x = features(kSamples), weights(2 * kQubits, 0.5f);
        const weft::KernelMatrixCircuit closed{}, layers{.weights = weights, .reupload = true};
        std::vector<std::uint32_t> rows(kSamples);
        for (std::uint32_t i = 0; i < kSamples; ++i) rows[i] = (i * 7 + 5) % kSamples;  // each row once
        for (const weft::KernelMatrixCircuit& circuit : {closed, layers}) {
            const weft::KernelOperator k{backend, circuit, x, {kSamples, 0, kQubits}};
            std::vector<float> out(kSamples * kSamples, 5.0f), some(kSamples);
            std::uint64_t last = 0;
            weft::BatchOptions batch{.progress = [&](const weft::Progress& progress) {
                CHECK(progress.done > last);
                CHECK(progress.total == kSamples * kSamples);
                last = progress.done;
            }};
            CHECK(weft::kernel_rows(backend, k, rows, out, batch).chunks > 1);
            CHECK(last == kSamples * kSamples);
            for (const std::size_t place : {std::size_t{0}, std::size_t{1234}, kSamples - 1}) {
                weft::kernel_rows(backend, k, {rows[place]}, some);
                CHECK(std::equal(some.begin(), some.end(),
                                 out.begin() + static_cast<std::ptrdiff_t>(place * kSamples)));
            }
            std::stop_source stop;
            out.assign(out.size(), 5.0f);
            batch = {.progress = [&](const weft::Progress&) { stop.request_stop(); },
                     .cancel = stop.get_token()};
            weft_test::check_error(weft::Errc::cancelled, "kernel_rows",
                                   [&] { weft::kernel_rows(backend, k, rows, out, batch); });
            CHECK(std::count(out.begin(), out.end(), 5.0f) > static_cast<std::ptrdiff_t>(kSamples));
            std::vector<float> diagonal(kSamples, 5.0f);
            weft_test::check_error(weft::Errc::cancelled, "kernel_diagonal",
                                   [&] { weft::kernel_diagonal(backend, k, diagonal, batch); });
            CHECK(diagonal == std::vector<float>(kSamples, 5.0f));
            weft_test::check_error(weft::Errc::invalid_argument, "kernel_rows: BatchOptions::ring_slots",
                                   [&] { weft::kernel_rows(backend, k, rows, out, {.ring_slots = 2}); });
        }
    });
}

TEST_CASE("options of batches that do not apply are refused, and the output stays as it is") {
    weft_test::on_device([](weft::Backend& backend) {
        const std::vector<float> x = features(50), v(50, 1.0f);
        const weft::KernelOperator k{backend, {}, x, {50, 0, kQubits}};
        std::vector<float> out(50, 5.0f);
        weft_test::check_error(weft::Errc::invalid_argument, "BatchOptions", [&] {
            weft::KernelApplyHostOptions options;
            options.batch.ring_slots = 2;
            weft::kernel_apply(backend, k, v, out, options);
        });
        CHECK(std::count(out.begin(), out.end(), 5.0f) == 50);
    });
}
