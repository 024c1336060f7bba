// SPDX-License-Identifier: Apache-2.0
// The Gram product, compared with sums in extended precision on the host.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

#include "ops_vulkan/gram/gram.hpp"
#include "ops_vulkan/gram/gram_device.hpp"
#include "support/gpu_fixture.hpp"
#include "support/gram_states.hpp"

namespace {

using namespace weft::kernels;
using weft_test::States;

constexpr std::uint32_t kUntouched = 0x7fc00abcu;  // a NaN
constexpr std::uint64_t kGuard = 40;

struct Case {
    std::uint64_t rows, columns, amplitudes;
    bool symmetric = true;
    GramOptions options{};
    std::uint64_t extra = 0;  // of the leading dimension
};

std::string describe(const Case& c, const GramPlan& plan) {
    return std::to_string(c.rows) + " x " + std::to_string(c.columns) + " of " +
           std::to_string(c.amplitudes) + (c.symmetric ? " symmetric " : " ") + to_string(plan.method) +
           ", tile " + std::to_string(plan.tile.rows) + " x " + std::to_string(plan.tile.columns) +
           ", stages " + std::to_string(plan.tile.stages) + ", split " + std::to_string(plan.split);
}

template <class Real, class Output>
GramProblem problem_of(const Case& c) {
    GramProblem problem{c.rows, c.columns, c.amplitudes, c.symmetric};
    problem.precision = std::is_same_v<Real, double> ? GramReal::float64 : GramReal::float32;
    problem.output = std::is_same_v<Output, double> ? GramReal::float64 : GramReal::float32;
    problem.leading = c.columns + c.extra;
    problem.unit_rows = true;
    return problem;
}

template <class Output>
bool untouched(Output value) {
    std::uint32_t words[sizeof(Output) / 4];
    std::memcpy(words, &value, sizeof value);
    return std::all_of(std::begin(words), std::end(words), [](std::uint32_t w) { return w == kUntouched; });
}

/// Compares every element with that of the host, and checks that no word beyond K was written. Returns the
/// largest error.
template <class Real, class Output>
double check_matrix(const Case& c, const States<Real>& x, const States<Real>& y, const std::vector<Output>& k,
                    double bound) {
    const std::uint64_t leading = c.columns + c.extra;
    double worst = 0;
    std::uint64_t wrong = 0, touched = 0, unequal = 0;
    for (std::uint64_t i = 0; i < c.rows; ++i) {
        for (std::uint64_t j = 0; j < leading; ++j) {
            const Output value = k[i * leading + j];
            if (j >= c.columns) {
                touched += untouched(value) ? 0 : 1;
                continue;
            }
            if (c.symmetric && std::memcmp(&value, &k[j * leading + i], sizeof value) != 0) ++unequal;
            if (c.symmetric && j > i) continue;
            const double error =
                std::abs(static_cast<double>(value) - weft_test::exact_kernel(x, y, i, j, c.amplitudes));
            worst = std::max(worst, error);
            if (!(error <= bound)) ++wrong;
        }
    }
    for (std::uint64_t i = c.rows * leading; i < k.size(); ++i) touched += untouched(k[i]) ? 0 : 1;
    CHECK(wrong == 0);
    CHECK(touched == 0);
    CHECK(unequal == 0);
    CHECK(worst <= bound);
    return worst;
}

template <class Real, class Output = float>
double run_case(weft::Backend& backend, const GramDevice& device, const Case& c, double bound) {
    const GramPlan plan = plan_gram(problem_of<Real, Output>(c), device, c.options);
    const std::string text = describe(c, plan);
    CAPTURE(text);
    const States<Real> x = weft_test::structured_states<Real>(c.rows, c.amplitudes);
    const States<Real> y = c.symmetric ? x : weft_test::structured_states<Real>(c.columns, c.amplitudes, 31);
    weft::Stream stream(backend);
    GramProduct product(stream, plan);
    weft::Buffer<std::complex<Real>> states_x(backend, x.size()), states_y(backend, y.size());
    weft::Buffer<std::uint32_t> planes_x(backend, plan.packed_bytes(c.rows) / 4);
    weft::Buffer<std::uint32_t> planes_y(backend, plan.packed_bytes(c.columns) / 4);
    weft::Buffer<Output> k(backend, c.rows * (c.columns + c.extra) + kGuard);
    stream.upload(x, states_x);
    stream.upload(y, states_y);
    // Memory that packing does not write holds NaN, which would appear in every sum.
    stream.fill(planes_x.view(), kUntouched);
    stream.fill(planes_y.view(), kUntouched);
    stream.fill(k.view(), kUntouched);
    product.pack(stream, states_x, c.rows, planes_x);
    if (!c.symmetric) product.pack(stream, states_y, c.columns, planes_y);
    const GramTarget target{k, {plan.problem.leading}};
    if (c.symmetric)
        product.square(stream, {planes_x, 0, c.rows}, target);
    else
        product.multiply(stream, {planes_x, 0, c.rows}, {planes_y, 0, c.columns}, target);
    return check_matrix<Real, Output>(c, x, y, stream.download(k), bound);
}

constexpr double kBound32 = 2e-6, kBound64 = 1e-12;

}  // namespace

TEST_CASE("every edge of a tile, in every method and tile") {
    weft_test::on_device([](weft::Backend& backend) {
        const GramDevice device = gram_limits(backend);
        for (const GramMethod method : {GramMethod::fp32_4m, GramMethod::fp32_3m})
            for (const GramTile& tile : gram_tiles(device, method)) {
                for (const std::uint64_t rows : {1, 15, 16, 17, 31, 33, 50, 63, 64, 65, 100, 129})
                    run_case<float>(backend, device, {rows, rows, 24, true, {method, tile}}, kBound32);
                for (const std::uint64_t amplitudes : {1, 2, 7, 8, 16, 17, 100, 256, 1024})
                    run_case<float>(backend, device, {33, 33, amplitudes, true, {method, tile}}, kBound32);
                run_case<float>(backend, device, {70, 131, 100, false, {method, tile}, 5}, kBound32);
            }
        run_case<float>(backend, device, {257, 257, 64, true, {GramMethod::fp32_3m}, 3}, kBound32);
    });
}

TEST_CASE("rectangles are not symmetric, and elements may be double") {
    weft_test::on_device([](weft::Backend& backend) {
        const GramDevice device = gram_limits(backend);
        for (const GramMethod method : {GramMethod::fp32_4m, GramMethod::fp32_3m}) {
            run_case<float>(backend, device, {1, 129, 16, false, {method}}, kBound32);
            run_case<float>(backend, device, {129, 1, 16, false, {method}, 2}, kBound32);
            run_case<float, double>(backend, device, {65, 40, 64, false, {method}, 1}, kBound32);
            run_case<float, double>(backend, device, {65, 65, 64, true, {method}}, kBound32);
        }
    });
}

TEST_CASE("double states are multiplied in double") {
    weft_test::on_device([](weft::Backend& backend) {
        const GramDevice device = gram_limits(backend);
        if (!device.float64) return;
        for (const GramTile& tile : gram_tiles(device, GramMethod::fp64)) {
            for (const std::uint64_t rows : {1, 17, 31, 33, 64, 65, 129})
                run_case<double, double>(backend, device, {rows, rows, 50, true, {GramMethod::fp64, tile}},
                                         kBound64);
            run_case<double, double>(backend, device, {37, 70, 1024, false, {GramMethod::fp64, tile}, 3},
                                     kBound64);
            run_case<double, float>(backend, device, {33, 65, 16, false, {GramMethod::fp64, tile}}, 1e-7);
        }
        run_case<double, double>(backend, device, {9, 9, 65536}, kBound64);
    });
}

TEST_CASE("sums in parts are the same sums") {
    weft_test::on_device([](weft::Backend& backend) {
        const GramDevice device = gram_limits(backend);
        for (const std::uint32_t split : {2u, 3u, 7u}) {
            GramOptions options{.method = GramMethod::fp32_3m, .split = split};
            run_case<float>(backend, device, {33, 33, 1000, true, options}, kBound32);
            run_case<float>(backend, device, {70, 20, 257, false, options, 3}, kBound32);
            options.method = GramMethod::fp64;
            if (device.float64)
                run_case<double, double>(backend, device, {40, 40, 300, true, options}, kBound64);
        }
    });
}

TEST_CASE("16 qubits: sums of sums keep what one running sum loses") {
    weft_test::on_device([](weft::Backend& backend) {
        const GramDevice device = gram_limits(backend);
        for (const GramMethod method : {GramMethod::fp32_4m, GramMethod::fp32_3m}) {
            const double error = run_case<float>(backend, device, {6, 6, 65536, true, {method}}, 2e-5);
            // Shows that the test detects this: a single sum is much worse.
            GramOptions one{.method = method, .flush = 65536, .split = 1};
            const double lost = run_case<float>(backend, device, {6, 6, 65536, true, one}, 1e-2);
            CHECK(lost > 10 * error);
        }
    });
}

TEST_CASE("bindings smaller than states and K: panels give the same bits") {
    weft_test::on_device([](weft::Backend& backend) {
        GramDevice device = gram_limits(backend);
        const Case symmetric{200, 200, 64, true, {GramMethod::fp32_3m}}, rectangle{150, 200, 64, false};
        run_case<float>(backend, device, symmetric, kBound32);
        device.limits.max_storage_buffer_range = 64 * 1024;
        run_case<float>(backend, device, {200, 200, 64, true, {GramMethod::fp32_3m}, 7}, kBound32);
        run_case<float>(backend, device, rectangle, kBound32);
    });
}

TEST_CASE("blocks are stored at the requested place, mirrored or not") {
    weft_test::on_device([](weft::Backend& backend) {
        const std::uint64_t n = 192, d = 32, leading = 200;
        const Case c{n, n, d, true, {GramMethod::fp32_4m}, leading - n};
        const GramPlan plan = plan_gram(problem_of<float, float>(c), gram_limits(backend), c.options);
        weft::Stream stream(backend);
        GramProduct product(stream, plan);
        const States<float> x = weft_test::structured_states<float>(n, d);
        weft::Buffer<weft::c32> states(backend, x.size());
        weft::Buffer<std::uint32_t> planes(backend, plan.packed_bytes(n) / 4);
        weft::Buffer<float> k(backend, n * leading + kGuard);
        stream.upload(x, states);
        stream.fill(k.view(), kUntouched);
        product.pack(stream, states.view(0, 128 * d), 128, planes);
        product.pack(stream, states.view(128 * d, 64 * d), 64, planes, 128);
        for (std::uint64_t i = 0; i < n; i += 64) {
            product.square(stream, {planes, i, 64}, {k, {leading, i * leading + i}});
            for (std::uint64_t j = 0; j < i; j += 64)
                product.multiply(stream, {planes, i, 64}, {planes, j, 64},
                                 {k, {leading, i * leading + j, true, j * leading + i}});
        }
        check_matrix<float, float>(c, x, x, stream.download(k), kBound32);
    });
}

TEST_CASE("a product refuses what does not fit it") {
    weft_test::on_device([](weft::Backend& backend) {
        const GramPlan plan = plan_gram({64, 64, 16, true}, gram_limits(backend));
        weft::Stream stream(backend);
        GramProduct product(stream, plan);
        weft::Buffer<weft::c32> states(backend, 64 * 16);
        weft::Buffer<std::uint32_t> planes(backend, plan.packed_bytes(64) / 4);
        weft::Buffer<float> k(backend, 64 * 64);
        using weft_test::check_error;
        constexpr weft::Errc kInvalid = weft::Errc::invalid_argument;
        check_error(kInvalid, "states is too small",
                    [&] { product.pack(stream, states.view(0, 5), 64, planes); });
        check_error(kInvalid, "planes is too small", [&] { product.pack(stream, states, 64, planes, 64); });
        check_error(kInvalid, "a multiple of 64", [&] { product.pack(stream, states, 64, planes, 3); });
        check_error(kInvalid, "output is too small", [&] {
            product.square(stream, {planes, 0, 64}, {k.view(0, 64 * 64 - 1), {64}});
        });
        check_error(kInvalid, "rows begin within 64", [&] {
            product.square(stream, {planes, 8, 8}, {k, {64}});
        });
        check_error(kInvalid, "rows are more than planned", [&] {
            product.square(stream, {planes, 0, 65}, {k, {64}});
        });
        check_error(kInvalid, "factors of rows are too few", [&] {
            GramProblem problem{64, 64, 16, true};
            problem.scaled = true;
            GramProduct scaled(stream, plan_gram(problem, gram_limits(backend)));
            scaled.square(stream, {planes, 0, 64, GramFactors{k.view(0, 63), 0}}, {k, {64}});
        });
        check_error(kInvalid, "leading is too small", [&] {
            product.multiply(stream, {planes, 0, 4}, {planes, 0, 64}, {k, {63}});
        });
    });
}

namespace {

/// The device with each extension of its matrix units; none if no extension passed the check.
std::vector<GramDevice> matrix_devices(weft::Backend& backend) {
    const GramDevice device = gram_device(backend);
    std::vector<GramDevice> devices;
    if (!device.matrix_exact) {
        MESSAGE("no matrix units: " << device.matrix_reason);
        return devices;
    }
    if (device.matrix_khr) devices.push_back(device);
    if (device.matrix_nv) {
        devices.push_back(device);
        devices.back().matrix_khr = false;
    }
    return devices;
}

constexpr double kBoundSplit = 5e-6;

}  // namespace

TEST_CASE("matrix units: every edge of a tile") {
    weft_test::on_device([](weft::Backend& backend) {
        constexpr GramMethod method = GramMethod::matrix_split;
        for (const GramDevice& device : matrix_devices(backend)) {
            for (const GramTile& tile : gram_tiles(device, method)) {
                for (const std::uint64_t rows : {1, 15, 16, 17, 31, 33, 50, 63, 64, 65, 100, 129, 257})
                    run_case<float>(backend, device, {rows, rows, 24, true, {method, tile}}, kBoundSplit);
                for (const std::uint64_t amplitudes : {1, 2, 7, 8, 16, 17, 100, 256, 1024})
                    run_case<float>(backend, device, {33, 33, amplitudes, true, {method, tile}}, kBoundSplit);
                run_case<float>(backend, device, {70, 131, 100, false, {method, tile}, 5}, kBoundSplit);
                run_case<float, double>(backend, device, {150, 131, 100, false, {method, tile}, 5},
                                        kBoundSplit);
            }
            GramOptions parts{.method = method, .split = 5};
            run_case<float>(backend, device, {70, 20, 257, false, parts, 3}, kBoundSplit);
            run_case<float>(backend, device, {130, 130, 400, true, parts}, kBoundSplit);
        }
    });
}

TEST_CASE("matrix units: low parts are used, sums are flushed") {
    weft_test::on_device([](weft::Backend& backend) {
        for (const GramDevice& device : matrix_devices(backend)) {
            for (const std::uint64_t amplitudes : {1024, 65536}) {
                const Case split{12, 12, amplitudes, true, {.method = GramMethod::matrix_split}};
                run_case<float>(backend, device, split, 2e-5);
            }
        }
    });
}

namespace {

/// 70 rows in blocks of 64 and 6, factors from the third on.
template <class Real>
void check_scaled(weft::Backend& backend, const GramDevice& device, const GramOptions& options,
                  double bound) {
    const std::uint64_t n = 70, d = 200;
    const Case c{n, n, d, true, options};
    GramProblem problem = problem_of<Real, Real>(c);
    problem.scaled = true;
    const GramPlan plan = plan_gram(problem, device, options);
    const std::string text = describe(c, plan);
    CAPTURE(text);
    weft::Stream stream(backend);
    GramProduct product(stream, plan);
    const States<Real> x = weft_test::structured_states<Real>(n, d);
    States<Real> scaled = x;
    std::vector<Real> factors(n + 3, Real(77));
    for (std::uint64_t i = 0; i < n; ++i) {
        const Real root = Real(0.5) + static_cast<Real>(i % 7) / 16;  // exact, and so is its square
        factors[i + 3] = root * root;
        for (std::uint64_t k = 0; k < d; ++k) scaled[i * d + k] *= root;
    }
    weft::Buffer<std::complex<Real>> states(backend, x.size());
    weft::Buffer<Real> held(backend, factors.size()), k(backend, n * n + kGuard);
    weft::Buffer<std::uint32_t> planes(backend, plan.packed_bytes(n) / 4);
    stream.upload(x, states);
    stream.upload(factors, held);
    stream.fill(k.view(), kUntouched);
    product.pack(stream, states, n, planes);
    const GramRows first{planes, 0, 64, GramFactors{held, 3}}, rest{planes, 64, 6, GramFactors{held, 67}};
    product.square(stream, first, {k, {n}});
    product.square(stream, rest, {k, {n, 64 * n + 64}});
    product.multiply(stream, rest, first, {k, {n, 64 * n, true, 64}});
    check_matrix<Real, Real>(c, scaled, scaled, stream.download(k), bound);
}

}  // namespace

TEST_CASE("a scaled product has every value times the factors of its row and column") {
    weft_test::on_device([](weft::Backend& backend) {
        const GramDevice device = gram_limits(backend);
        for (const std::uint32_t split : {1u, 3u}) {
            for (const GramMethod method : {GramMethod::fp32_4m, GramMethod::fp32_3m})
                for (const GramTile& tile : gram_tiles(device, method))
                    check_scaled<float>(backend, device, {.method = method, .tile = tile, .split = split},
                                        kBound32);
            for (const GramDevice& units : matrix_devices(backend))
                check_scaled<float>(backend, units, {.method = GramMethod::matrix_split, .split = split},
                                    kBoundSplit);
            if (device.float64)
                check_scaled<double>(backend, device, {.method = GramMethod::fp64, .split = split}, kBound64);
        }
    });
}

TEST_CASE("matrix units are for rows of norm 1, on devices that passed") {
    weft_test::on_device([](weft::Backend& backend) {
        GramDevice device = gram_limits(backend);
        device.matrix_khr = device.matrix_nv = true;
        device.matrix_exact = false;
        GramProblem problem{64, 64, 16, true};
        CHECK(plan_gram(problem, device).method != GramMethod::matrix_split);
        problem.unit_rows = true;
        CHECK(plan_gram(problem, device).method != GramMethod::matrix_split);  // not judged, or failed
        device.matrix_exact = true;
        CHECK(plan_gram(problem, device).method == GramMethod::matrix_split);
    });
}
