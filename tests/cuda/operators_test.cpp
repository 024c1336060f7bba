// SPDX-License-Identifier: Apache-2.0
// Kernel operators on several CUDA devices, and the models of the host over them, against dense matrices in
// double. Two places on one GPU serve where there is no second one; WEFT_TEST_CUDA_DEVICES names others.
#include <weft/cuda/kernel_solve.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stop_token>
#include <string>
#include <vector>

#include <weft/cuda/devices.hpp>
#include <weft/cuda/host.hpp>
#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/kernel_oracle.hpp"
#include "support/operator_oracle.hpp"
#include "support/scratch_folder.hpp"

namespace {

using namespace weft_test;
using weft::Choice;
using weft::Errc;
using weft::OpReport;
using weft::cuda::Devices;
using weft::cuda::KernelOperator;

std::string pair_of_devices() {
    const char* const set = std::getenv("WEFT_TEST_CUDA_DEVICES");
    return set != nullptr ? set : "0,0";
}

/// While it lives, shares are so small that all devices get some.
struct SmallShares {
    SmallShares() { weft::cuda::set_host_settings({.chunk_elements = 64}); }
    ~SmallShares() { weft::cuda::set_host_settings({}); }
};

const weft::KernelApplyHostOptions kFactors{.a = -2, .b = 3, .lambda = 0.5};

template <class T>
struct Problem {
    Problem(weft::FeatureMap map, std::uint32_t qubits, std::size_t samples, std::size_t columns)
        : shape{samples, 0, qubits},
          circuit{.map = map},
          x(scattered<float>(samples * qubits, 7)),
          v(scattered<T>(samples * columns, 9)),
          before(scattered<T>(samples * columns, 4)) {}
    weft::KernelOperatorOptions options(Choice symmetric) const {
        return {.type = weft::element_type<T>(), .symmetric = symmetric, .low_rank = Choice::off};
    }
    weft::KernelMatrixShape shape;
    weft::KernelMatrixCircuit circuit;
    std::vector<float> x;
    std::vector<T> v, before;
};

/// Rows of a product with kFactors that are far apart are within the bound of the plan.
template <class T>
void check_rows_of(const Problem<T>& p, const std::vector<T>& got, double bound) {
    const std::size_t samples = p.shape.samples, columns = p.v.size() / samples;
    OperatorOracle oracle{p.circuit.map == weft::FeatureMap::ryrz, p.shape.qubits};
    oracle.lambda = kFactors.lambda;
    const auto states = oracle.states(p.x);
    std::vector<double> sums(columns, 0.0);
    for (std::size_t i = 0; i < p.v.size(); ++i) sums[i % columns] += std::abs(static_cast<double>(p.v[i]));
    double most = 0;
    for (std::size_t i = 0; i < samples; i = i + 1 == samples ? samples : std::min(i + 1009, samples - 1))
        for (std::size_t c = 0; c < columns; ++c) {
            double want = kFactors.b * static_cast<double>(p.before[i * columns + c]);
            for (std::size_t j = 0; j < samples; ++j)
                want += kFactors.a * oracle.value(states, i, states, j) *
                        static_cast<double>(p.v[j * columns + c]);
            const double error = std::abs(static_cast<double>(got[i * columns + c]) - want);
            most = std::max(most, error / (2 * bound * sums[c] + 1e-6 * std::abs(want)));
        }
    CHECK(most <= 1);
}

template <class T>
std::vector<T> product_on(Devices& devices, const Problem<T>& p, const weft::KernelOperatorOptions& options,
                          OpReport* report = nullptr) {
    const KernelOperator k(devices, p.circuit, p.x, p.shape, options);
    std::vector<T> out = p.before;
    const OpReport made = weft::cuda::kernel_apply(devices, k, p.v, out, kFactors);
    if (report != nullptr) *report = made;
    check_rows_of(p, out, k.estimate(static_cast<std::uint32_t>(p.v.size() / p.shape.samples)).error);
    return out;
}

template <class T>
void check_pairs(const Problem<T>& p) {
    CAPTURE(p.shape.qubits);
    const std::size_t samples = p.shape.samples;
    Devices alone("0"), two(pair_of_devices()), three("0,0,0");
    const auto options = p.options(Choice::on);
    OpReport report;
    const std::vector<T> of_two = product_on(two, p, options, &report);
    const KernelOperator k(two, p.circuit, p.x, p.shape, options);
    const auto plan = k.estimate(static_cast<std::uint32_t>(p.v.size() / samples));
    CHECK(plan.symmetric);
    CHECK(report.items == plan.passes * (samples * (samples + 1) / 2));
    std::uint64_t items = 0;
    for (const weft::DeviceReport& row : report.devices) {
        CHECK(row.shares != 0);
        items += row.items;
    }
    CHECK(items == report.items);
    // The same bits however the work is shared, and in every call.
    CHECK(product_on(two, p, options) == of_two);
    CHECK(product_on(three, p, options) == of_two);
    CHECK(product_on(alone, p, options) == of_two);
}

}  // namespace

TEST_CASE("cuda operators: devices share the pairs of a square K, each of which is made once") {
    const SmallShares small;
    check_pairs(Problem<float>(weft::FeatureMap::ryrz, 8, 9001, 1));
    check_pairs(Problem<float>(weft::FeatureMap::ry, 11, 8193, 3));
    check_pairs(Problem<float>(weft::FeatureMap::ryrz, 6, 5000, 17));
    check_pairs(Problem<double>(weft::FeatureMap::ryrz, 5, 5001, 2));
}

TEST_CASE("cuda operators: devices share the rows of everything else") {
    const SmallShares small;
    Devices devices(pair_of_devices());
    const Problem<float> p(weft::FeatureMap::ryrz, 8, 9001, 3);
    OpReport report;
    const std::vector<float> rows = product_on(devices, p, p.options(Choice::off), &report);
    CHECK(report.items == 9001u * 9001u);
    for (const weft::DeviceReport& row : report.devices) CHECK(row.items != 0);
    // One device makes the same bits where it uses no symmetry.
    const KernelOperator single(p.circuit, p.x, p.shape, p.options(Choice::off));
    std::vector<float> alone = p.before;
    weft::cuda::kernel_apply(single, p.v, alone, {.a = -2, .b = 3, .lambda = 0.5});
    CHECK(alone == rows);
    // K of X with Y, turned, and by way of features.
    for (const Choice low_rank : {Choice::off, Choice::on}) {
        const std::vector<float> x = scattered<float>(5000 * 4, 1), y = scattered<float>(3000 * 4, 2);
        const weft::KernelMatrixShape shape{5000, 3000, 4};
        const weft::KernelOperatorOptions options{.low_rank = low_rank};
        const KernelOperator shared(devices, {}, x, y, shape, options), own({}, x, y, shape, options);
        const std::vector<float> v = scattered<float>(5000, 3);
        std::vector<float> got(3000), want(3000);
        const OpReport made = weft::cuda::kernel_apply(devices, shared, v, got, {.transpose = true});
        CHECK(made.method == (low_rank == Choice::on ? "low_rank" : "product"));
        weft::cuda::kernel_apply(own, v, want, {.transpose = true});
        CHECK(got == want);
    }
}

TEST_CASE("cuda operators: devices share products of states") {
    const SmallShares small;
    constexpr std::size_t kSamples = 3000;
    constexpr std::uint32_t kQubits = 6;
    Devices alone("0"), two(pair_of_devices()), three("0,0,0");
    const weft::KernelMatrixShape shape{kSamples, 0, kQubits};
    const std::vector<float> weights(2 * kQubits, 0.4f), x = scattered<float>(kSamples * kQubits, 5),
                                                         v = scattered<float>(kSamples * 3, 6);
    std::vector<weft::c32> states(kSamples << kQubits);
    weft::cuda::encode(weft::EncodeMethod::iqp_z, x, states, {kSamples, kQubits});
    for (weft::c32& amplitude : states) amplitude *= 1.5f;  // K is up to 5.1
    const weft::KernelMatrixCircuit circuit{.weights = weights, .reupload = true};
    for (const bool given : {false, true}) {
        CAPTURE(given);
        std::vector<std::vector<float>> results;
        for (Devices* devices : {&two, &three, &alone}) {
            const weft::KernelOperatorOptions options{.symmetric = Choice::on};
            const KernelOperator k = given ? KernelOperator(*devices, states, shape, options)
                                           : KernelOperator(*devices, circuit, x, shape, options);
            CHECK(k.estimate(3).symmetric);
            std::vector<float> out(v.size());
            const OpReport report = weft::cuda::kernel_apply(*devices, k, v, out);
            CHECK(report.method == "states");
            CHECK(report.items < kSamples * kSamples);
            results.push_back(out);
        }
        CHECK(results[1] == results[0]);
        // One device alone cuts K into the same blocks if its plan is one of several.
        const KernelOperator single =
            given ? KernelOperator(states, shape) : KernelOperator(circuit, x, shape);
        std::vector<float> want(v.size());
        weft::cuda::kernel_apply(single, v, want);
        double most = 0, size = 0;
        for (std::size_t i = 0; i < v.size(); ++i) {
            size += std::abs(static_cast<double>(v[i])) / 3;
            for (const std::vector<float>& got : results)
                most = std::max(most, std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i])));
        }
        CHECK(most <= 2 * 5.1 * single.estimate(3).error * size);
    }
}

TEST_CASE("cuda operators: states that do not fit together are made tile by tile, with the same values") {
    constexpr std::size_t kSamples = 700;
    constexpr std::uint32_t kQubits = 8;
    const std::vector<float> weights(2 * kQubits, 0.3f), x = scattered<float>(kSamples * kQubits, 5),
                                                         v = scattered<float>(kSamples * 2, 6);
    const weft::KernelMatrixCircuit circuit{.weights = weights, .reupload = true};
    const weft::KernelMatrixShape shape{kSamples, 0, kQubits};
    const KernelOperator all(circuit, x, shape);
    const double least = static_cast<double>(all.estimate(2).available_bytes) / 0.85;
    std::vector<float> want(v.size());
    weft::cuda::kernel_apply(all, v, want);
    // The smallest part of the memory that is still enough for tiles.
    bool tiles = false;
    for (double bytes = 2e6; bytes < 3e7 && !tiles; bytes *= 1.1) {
        const weft::KernelOperatorOptions options{.vram_fraction = bytes / least};
        const auto plan = weft::cuda::estimate_kernel_operator(circuit, shape, 2, options);
        if (!plan.fits || plan.sample_bytes >= all.estimate(2).sample_bytes) continue;
        tiles = true;
        const KernelOperator tiled(circuit, x, shape, options);
        std::vector<float> got(v.size());
        weft::cuda::kernel_apply(tiled, v, got);
        double most = 0;
        for (std::size_t i = 0; i < v.size(); ++i)
            most = std::max(most, std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i])));
        CHECK(most <= 2 * plan.error * kSamples);
        std::vector<float> row(kSamples), own(kSamples);
        weft::cuda::kernel_rows(tiled, {699}, row);
        weft::cuda::kernel_rows(all, {699}, own);
        for (std::size_t i = 0; i < kSamples; ++i) CHECK(std::abs(row[i] - own[i]) <= 1e-5f);
    }
    MESSAGE("tiles were tried: " << tiles);
}

TEST_CASE("cuda operators: values that have no place in totals, refusals, stops") {
    const SmallShares small;
    Devices devices(pair_of_devices());
    Problem<float> p(weft::FeatureMap::ryrz, 8, 5000, 1);
    const KernelOperator k(devices, p.circuit, p.x, p.shape, p.options(Choice::on));
    std::vector<float> v = p.v, out(5000, 7);
    v[17] = std::numeric_limits<float>::infinity();
    CHECK(weft::cuda::kernel_apply(devices, k, v, out).items == 5000u * 5000u);  // by rows
    CHECK_FALSE(std::isfinite(out[17]));
    out.assign(5000, 7);
    check_error(Errc::invalid_argument, "kernel_apply: BatchOptions::path does not apply", [&] {
        weft::cuda::kernel_apply(devices, k, p.v, out, {.batch = {.path = weft::Path::host}});
    });
    check_error(Errc::invalid_argument, "kernel_apply: v does not fit the shape",
                [&] { weft::cuda::kernel_apply(devices, k, std::span(p.v).first(99), out); });
    std::stop_source stop;
    check_error(Errc::cancelled, "kernel_apply: cancelled", [&] {
        weft::cuda::kernel_apply(devices, k, p.v, out,
                                 {.batch = {.progress = [&](const weft::Progress&) { stop.request_stop(); },
                                            .cancel = stop.get_token()}});
    });
    CHECK(out == std::vector<float>(5000, 7));
    std::uint64_t last = 0;
    weft::cuda::kernel_apply(devices, k, p.v, out,
                             {.batch = {.progress = [&](const weft::Progress& progress) {
                                  CHECK(progress.done > last);
                                  last = progress.done;
                                  CHECK(progress.total == 5000u * 5001u / 2);
                              }}});
    CHECK(last == 5000u * 5001u / 2);
    const auto plan =
        weft::cuda::estimate_kernel_operator(devices, p.circuit, p.shape, 1, p.options(Choice::on));
    CHECK(plan.symmetric);
    CHECK(plan.reasons.at(1).find("symmetric over 2 devices") == 0);
}

namespace {

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

constexpr std::uint32_t kQubits = 4;
constexpr std::size_t kSamples = 300;

template <class T>
void check_near(const std::vector<T>& got, const std::vector<double>& want, double bound) {
    double most = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
        most = std::max(most, std::abs(static_cast<double>(got[i]) - want[i]) / (1 + std::abs(want[i])));
    CHECK(most < bound);
}

}  // namespace

TEST_CASE(
    "cuda models: ridge regression and its predictions agree with dense ones, on one device and several") {
    Devices devices(pair_of_devices());
    const double lambda = 0.05;
    constexpr std::size_t kColumns = 2, kFresh = 40;
    const auto x = scattered<double>(kSamples * kQubits, 1), y = scattered<double>(kSamples * kColumns, 2),
               x_new = scattered<double>(kFresh * kQubits, 3);
    OperatorOracle oracle{true, kQubits};
    oracle.lambda = lambda;
    std::vector<double> want = y;
    eliminate(oracle.matrix(x, x), want, kSamples, kColumns);
    const weft::KernelMatrixShape shape{kSamples, 0, kQubits};
    const weft::KernelSolveOptions options{.lambda = lambda, .tolerance = 1e-10, .rank = 50};
    const KernelOperator single({}, x, shape, {.type = weft::kFloat64}),
        shared(devices, {}, x, shape, {.type = weft::kFloat64});
    std::vector<double> alpha(y.size()), of_devices(y.size());
    const weft::KernelSolveReport report = weft::cuda::kernel_solve(single, y, alpha, options);
    CHECK(report.converged);
    CHECK(report.rank == 50);
    CHECK(report.product_s > 0);
    CHECK(weft::cuda::kernel_solve(devices, shared, y, of_devices, options).residual() <= 1e-10);
    check_near(alpha, want, 1e-7);
    check_near(of_devices, want, 1e-7);
    std::vector<double> predicted(kFresh * kColumns);
    weft::cuda::kernel_predict({}, x_new, x, alpha, predicted, {kFresh, kSamples, kQubits});
    oracle.square = false;
    const std::vector<double> k = oracle.matrix(x_new, x);
    check_near(predicted, oracle_product(k, kFresh, kSamples, alpha, kColumns), 1e-11);
    check_error(Errc::invalid_argument, "kernel_predict: alpha does not fit the shape", [&] {
        weft::cuda::kernel_predict({}, x_new, x, std::span(alpha).first(7), predicted,
                                   {kFresh, kSamples, kQubits});
    });
}

TEST_CASE("cuda models: a solve that was cancelled continues to the same bits, and Vulkan's is another") {
    const ScratchFolder folder;
    const auto x = scattered<float>(kSamples * kQubits, 1), y = scattered<float>(kSamples, 2);
    const KernelOperator k({}, x, {kSamples, 0, kQubits});
    weft::KernelSolveOptions options{.lambda = 1e-2, .tolerance = 1e-6, .rank = 5};
    std::vector<float> want(kSamples), alpha(kSamples);
    const auto whole = weft::cuda::kernel_solve(k, y, want, options);
    options.checkpoint = folder.path() / "solve";
    options.checkpoint_every = 2;
    options.resume = true;
    std::stop_source stop;
    options.batch.cancel = stop.get_token();
    options.batch.progress = [&](const weft::Progress& progress) {
        if (progress.done == 5) stop.request_stop();
    };
    check_error(Errc::cancelled, "kernel_", [&] { weft::cuda::kernel_solve(k, y, alpha, options); });
    options.batch = {};
    const auto rest = weft::cuda::kernel_solve(k, y, alpha, options);
    CHECK(rest.resumed >= 4);
    CHECK(rest.iterations == whole.iterations);
    CHECK(alpha == want);
    on_device([&](weft::Backend& backend) {
        const weft::KernelOperator other(backend, {}, x, {kSamples, 0, kQubits});
        check_error(Errc::invalid_argument, "device",
                    [&] { weft::kernel_solve(backend, other, y, alpha, options); });
    });
}

TEST_CASE("cuda models: eigenvalues, landmarks and features are those of Vulkan") {
    Devices devices(pair_of_devices());
    const auto x = scattered<double>(kSamples * kQubits, 1);
    const weft::KernelMatrixShape shape{kSamples, 0, kQubits};
    const weft::KernelOperatorOptions wide{.type = weft::kFloat64};
    const KernelOperator k({}, x, shape, wide), shared(devices, {}, x, shape, wide);
    std::vector<double> values(5), vectors(5 * kSamples), of_devices(5);
    const weft::KernelEigenOptions options{.tolerance = 1e-9};
    CHECK(weft::cuda::kernel_eigen(k, values, vectors, options).converged);
    CHECK(weft::cuda::kernel_eigen(devices, shared, of_devices, vectors, options).converged);
    check_near(of_devices, values, 1e-8);
    const std::vector<std::uint32_t> rows = weft::cuda::kernel_landmarks(k, 20);
    std::vector<double> landmarks;
    for (const std::uint32_t row : rows)
        for (std::size_t q = 0; q < kQubits; ++q) landmarks.push_back(x[row * kQubits + q]);
    const auto count = static_cast<std::uint64_t>(rows.size());
    const KernelOperator of_landmarks({}, landmarks, {count, 0, kQubits}, wide),
        cross({}, x, landmarks, {kSamples, count, kQubits}, wide);
    std::vector<double> root(count * count), features(kSamples * count), by_vulkan(features.size());
    weft::cuda::kernel_inverse_root(of_landmarks, root);
    weft::cuda::kernel_features(cross, root, features);
    on_device([&](weft::Backend& backend) {
        if (!backend.device().shader_float64) return;
        const weft::KernelOperator other(backend, {}, x, shape, wide);
        std::vector<double> of_vulkan(5);
        weft::kernel_eigen(backend, other, of_vulkan, vectors, options);
        check_near(values, of_vulkan, 1e-8);
        CHECK(weft::kernel_landmarks(backend, other, 20) == rows);
        const weft::KernelOperator between(backend, {}, x, landmarks, {kSamples, count, kQubits}, wide);
        weft::kernel_features(backend, between, root, by_vulkan);
        check_near(features, by_vulkan, 1e-9);
    });
}
