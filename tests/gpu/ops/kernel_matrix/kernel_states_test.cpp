// SPDX-License-Identifier: Apache-2.0
// Kernel matrices of states on Vulkan: deliberate mistakes that tests must detect, views, norms, progress.
// The table of circuits is in tests/conformance.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

#include "support/gpu_fixture.hpp"
#include "support/kernel_oracle.hpp"
#include "support/kernel_routes.hpp"

namespace {

using namespace weft_test;

OracleCircuit reupload(const char* map, const Table& weights, double scale = 1) {
    return {map, weights, true, scale, {}};
}

Table wave_weights(std::size_t layers, std::size_t qubits) {
    Table rows(layers, std::vector<double>(qubits));
    for (std::size_t l = 0; l < layers; ++l)
        for (std::size_t q = 0; q < qubits; ++q)
            rows[l][q] = 1.3 * std::cos(static_cast<double>(5 * l + 2 * q) * 0.6);
    return rows;
}

}  // namespace

TEST_CASE("values of circuits built wrongly do not appear") {
    struct Wrong {
        const char* what;
        KernelMistake mistake;
        const Table& rows;
        const Table& weights;
        std::array<double, 3> values;
    };
    const std::vector<Wrong> wrongs{
        {"RZ before RY",
         {.rz_first = true},
         three_qubit_rows(),
         three_qubit_weights(),
         {0.797007404628, 0.343862294419, 0.197300229290}},
        {"open chain",
         {.open_chain = true},
         three_qubit_rows(),
         three_qubit_weights(),
         {0.741092942098, 0.216921856374, 0.431957405465}},
        {"CNOTs reversed",
         {.reversed_cnot = true},
         three_qubit_rows(),
         three_qubit_weights(),
         {0.758843825118, 0.370549077870, 0.360428228895}},
        {"two CNOTs on two wires",
         {.two_cnots = true},
         two_qubit_rows(),
         two_qubit_weights(),
         {0.845614065578, 0.015060070340, 0.123766903859}},
    };
    on_device([&](weft::Backend& backend) {
        for (const Wrong& wrong : wrongs) {
            INFO("mistake: " << std::string(wrong.what));
            OracleCircuit circuit = reupload("ryrz", wrong.weights);
            const std::vector<double> k =
                upper(kernel_by(backend, {.wide_in = true}, wrong.rows, {}, circuit), 3);
            circuit.mistake = wrong.mistake;
            check_close(upper(oracle_kernel(wrong.rows, circuit), 3), wrong.values, 1e-11);
            double apart = 0;
            for (std::size_t i = 0; i < 3; ++i) apart = std::max(apart, std::abs(k[i] - wrong.values[i]));
            CHECK(apart > 1e-3);
        }
    });
}

TEST_CASE("the state path agrees with the product path") {
    on_device([](weft::Backend& backend) {
        // Layers without rotations consist of the ring only, and the row is encoded twice: the result is
        // |<x|y>|^2 of RY and RZ applied twice.
        const Table x = wave_rows(30, 10, 0.9);
        const OracleCircuit once{"ryrz", {}, false, 1, {}};
        for (const bool wide : {false, true}) {
            if (wide && !backend.device().shader_float64) continue;
            const KernelMatrixRoute route{false, true, wide};
            const std::vector<double> product = kernel_by(backend, route, x, {}, once);
            std::vector<weft::c64> states;
            for (const auto& row : x)
                for (const Amplitude& a : oracle_state(row, once)) states.push_back(a);
            std::vector<double> k(900, std::nan(""));
            weft::kernel_matrix(backend, states, k, weft::KernelMatrixShape{30, 0, 10});
            check_close(product, k, wide ? 1e-13 : 2e-6);
        }
    });
}

TEST_CASE("given states: resident and on the host, of either type, square and cross") {
    on_device([](weft::Backend& backend) {
        const bool wide = backend.device().shader_float64;
        const OracleCircuit circuit = reupload("ryrz", wave_weights(2, 6));
        std::vector<weft::c32> x, y;
        std::vector<weft::c64> wide_x, wide_y;
        std::vector<double> square, cross;
        std::vector<State> a, b;
        for (const auto& row : wave_rows(70, 6)) a.push_back(oracle_state(row, circuit));
        for (const auto& row : wave_rows(9, 6, 0.4)) b.push_back(oracle_state(row, circuit));
        for (const State& s : a)
            for (const Amplitude& value : s) wide_x.push_back(value);
        for (const State& s : b)
            for (const Amplitude& value : s) wide_y.push_back(value);
        for (const Amplitude& value : wide_x) x.emplace_back(value);
        for (const Amplitude& value : wide_y) y.emplace_back(value);
        for (const State& s : a) {
            for (const State& t : a) square.push_back(overlap(s, t));
            for (const State& t : b) cross.push_back(overlap(s, t));
        }
        const auto check = [&](const auto& k, const std::vector<double>& want, double tolerance) {
            check_close(std::vector<double>(k.begin(), k.end()), want, tolerance);
        };
        std::vector<float> k(square.size(), std::nanf("")), kc(cross.size(), std::nanf(""));
        weft::kernel_matrix(backend, x, k, weft::KernelMatrixShape{70, 0, 6});
        check(k, square, 2e-6);
        weft::kernel_matrix(backend, x, y, kc, weft::KernelMatrixShape{70, 9, 6});
        check(kc, cross, 2e-6);
        if (wide) {
            std::vector<double> wk(square.size(), std::nan("")), wkc(cross.size(), std::nan(""));
            weft::kernel_matrix(backend, wide_x, wk, weft::KernelMatrixShape{70, 0, 6}, {.state_tile = 1});
            check(wk, square, 1e-12);
            weft::kernel_matrix(backend, wide_x, wide_y, wkc, weft::KernelMatrixShape{70, 9, 6});
            check(wkc, cross, 1e-12);
            weft::kernel_matrix(backend, x, wk, weft::KernelMatrixShape{70, 0, 6}, {.normalize = true});
            check(wk, square, 2e-6);  // the states were rounded
        }
        weft::Stream stream{backend};
        const weft::Buffer<weft::c32> bx(backend, x.size() + 3), by(backend, y.size());
        const weft::Buffer<float> bk(backend, square.size() + 5), bkc(backend, cross.size());
        // Views that begin at offsets where a binding must not begin.
        stream.upload(std::span<const weft::c32>(x), bx.view(3, x.size()));
        stream.upload(y, by);
        weft::kernel_matrix(stream, bx.view(3, x.size()), bk.view(5, square.size()), weft::StateShape{70, 6});
        weft::kernel_matrix(stream, bx.view(3, x.size()), by, bkc, weft::KernelMatrixShape{70, 9, 6});
        std::vector<float> out(square.size());
        stream.download<float>(bk.view(5, out.size()), std::span<float>(out));
        check(out, square, 2e-6);
        check(stream.download(bkc), cross, 2e-6);
    });
}

TEST_CASE("given states of complex64 with a K of float64 are computed in float64") {
    on_device([](weft::Backend& backend) {
        if (!backend.device().shader_float64) return;
        const std::uint64_t rows = 70, size = 64;
        const double modulus = 1 / 8.0, step = 0.37;
        std::vector<weft::c32> x(rows * size);
        for (std::uint64_t i = 0; i < x.size(); ++i)
            x[i] = weft::c32(std::polar(modulus, step * static_cast<double>(i * i % 1021)));
        std::vector<double> want;
        for (std::uint64_t i = 0; i < rows; ++i)
            for (std::uint64_t j = 0; j < rows; ++j) {
                std::complex<long double> sum = 0;
                for (std::uint64_t a = 0; a < size; ++a)
                    sum += std::complex<long double>(x[i * size + a]) *
                           std::conj(std::complex<long double>(x[j * size + a]));
                want.push_back(static_cast<double>(std::norm(sum)));
            }
        const weft::KernelMatrixShape shape{rows, 0, 6};
        CHECK(weft::estimate_kernel_matrix(backend, weft::kComplex64, shape, weft::kFloat64).float64);
        CHECK(!weft::estimate_kernel_matrix(backend, weft::kComplex64, shape, weft::kFloat32).float64);
        for (const std::int64_t tile : {-1, 64}) {
            std::vector<double> k(want.size(), std::nan(""));
            weft::kernel_matrix(backend, x, k, shape, {.state_tile = tile, .bulk_states = weft::Choice::off});
            check_close(k, want, 1e-14);
        }
        // At an offset that is no multiple of a complex128.
        weft::Stream stream{backend};
        const weft::Buffer<weft::c32> states(backend, x.size() + 3);
        const weft::Buffer<double> k(backend, want.size());
        stream.upload(std::span<const weft::c32>(x), states.view(3, x.size()));
        weft::kernel_matrix(stream, states.view(3, x.size()), k, shape);
        check_close(stream.download(k), want, 1e-14);
    });
}

TEST_CASE("normalising removes the norms of the states") {
    on_device([](weft::Backend& backend) {
        const std::vector<weft::c32> x{{2, 0}, {0, 0}, {1, 0}, {0, 1}, {0, 0}, {0, 0}}, y{{0, 3}, {0, 0}};
        std::vector<float> k(9), kc(3);
        // Norms 2, sqrt(2) and 0: values with themselves 16, 4 and 0.
        weft::kernel_matrix(backend, x, k, weft::KernelMatrixShape{3, 0, 1},
                            {.normalize = true, .jitter = 0.5});
        const double d0 = std::sqrt(16.5), d1 = std::sqrt(4.5);
        check_close(std::vector<double>(k.begin(), k.end()),
                    std::vector<double>{1, 4 / (d0 * d1), 0, 4 / (d0 * d1), 1, 0, 0, 0, 1}, 2e-6);
        weft::kernel_matrix(backend, x, y, kc, weft::KernelMatrixShape{3, 1, 1}, {.normalize = true});
        check_close(std::vector<double>(kc.begin(), kc.end()), std::vector<double>{1, 0.5, 0}, 2e-6);

        const std::array want{0.506319608824447, 0.311606454834439, 0.831032349033618};
        for (KernelMatrixRoute route : kernel_routes(backend))
            for (const int tile : {-1, 1}) {
                route.options.normalize = true;
                route.options.jitter = 0.01;
                route.options.state_tile = tile;
                INFO("route: " << route.name());
                const std::vector<double> n =
                    kernel_by(backend, route, two_qubit_rows(), {}, reupload("ryrz", two_qubit_weights()));
                check_close(upper(n, 3), want, route.wide_in ? route.tolerance() : 2e-6);
                for (std::size_t i = 0; i < 3; ++i) CHECK(n[4 * i] == 1);
            }
        // Over several tiles and blocks.
        KernelMatrixRoute route{false, true, false};
        route.options.normalize = true;
        route.options.state_tile = 64;
        route.options.bulk_states = weft::Choice::off;
        const Table rows = wave_rows(200, 3);
        const OracleCircuit circuit = reupload("ryrz", wave_weights(2, 3));
        const std::vector<double> n = kernel_by(backend, route, rows, {}, circuit);
        check_close(n, oracle_kernel(rows, circuit), 2e-6);
        check_symmetric(n, 200, 0);
    });
}

TEST_CASE("sixteen qubits in float32 keep two digits more than a running sum") {
    on_device([](weft::Backend& backend) {
        // Rows are nearly equal, so their rounding errors add up.
        Table x = wave_rows(3, 16, 0.7);
        x[1] = x[0];
        x[1][3] += 0.01;
        const OracleCircuit circuit = reupload("ryrz", wave_weights(2, 16));
        const KernelMatrixRoute route{false, true, false};
        const std::vector<double> k = kernel_by(backend, route, x, {}, circuit);
        check_close(k, oracle_kernel(x, circuit), 2e-5);
        const double slack = diagonal_slack(backend, {3, 0, 16}, circuit);
        for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(k[4 * i] - 1) <= slack);
    });
}

TEST_CASE("progress ends with all pairs, and a stop token or a callback ends the call") {
    on_device([](weft::Backend& backend) {
        const OracleCircuit circuit = reupload("ryrz", wave_weights(2, 3));
        for (const bool states : {false, true}) {
            OracleCircuit c = circuit;
            c.reupload = states;
            KernelMatrixRoute route{false, true, false};
            std::vector<std::uint64_t> told;
            route.batch.progress = [&](const weft::Progress& p) {
                told.push_back(p.done);
                CHECK(p.total == 150 * 151 / 2);
                CHECK(p.remaining_s() >= 0);
            };
            const Table x = wave_rows(150, 3);
            kernel_by(backend, route, x, {}, c);
            REQUIRE(!told.empty());
            CHECK(std::is_sorted(told.begin(), told.end()));
            CHECK(told.back() == 150 * 151 / 2);

            std::stop_source stop;
            route.batch.cancel = stop.get_token();
            route.batch.progress = [&](const weft::Progress&) { stop.request_stop(); };
            if (states) {
                route.options.state_tile = 64;
                route.options.bulk_states = weft::Choice::off;
                check_error(weft::Errc::cancelled, "kernel_matrix: cancelled",
                            [&] { kernel_by(backend, route, x, {}, c); });
            }
            stop.request_stop();
            check_error(weft::Errc::cancelled, "kernel_matrix: cancelled",
                        [&] { kernel_by(backend, route, x, {}, c); });
            route.batch.cancel = {};
            route.batch.progress = [](const weft::Progress&) { throw 42; };
            CHECK_THROWS_AS(kernel_by(backend, route, x, {}, c), int);
        }
    });
}
