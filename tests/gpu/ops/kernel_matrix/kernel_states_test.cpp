// SPDX-License-Identifier: Apache-2.0
// Kernel matrices that need states: circuits with re-upload, and states that are given.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

#include "support/gpu_fixture.hpp"
#include "support/kernel_oracle.hpp"
#include "support/kernel_published.hpp"
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

std::vector<Published> published() {
    const Table &x2 = two_qubit_rows(), &w2 = two_qubit_weights();
    const Table &x3 = three_qubit_rows(), &w3 = three_qubit_weights();
    Table x5(4, std::vector<double>(5)), w5(3, std::vector<double>(5));
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t q = 0; q < 5; ++q) x5[i][q] = std::sin(static_cast<double>(7 * i + 3 * q + 1));
    for (std::size_t l = 0; l < 3; ++l)
        for (std::size_t q = 0; q < 5; ++q) w5[l][q] = 0.1 * std::cos(static_cast<double>(5 * l + 2 * q));
    const std::vector<double> ryrz2{0.511382804912692, 0.314722519382784, 0.839342672523955};
    return {
        {"two qubits, ryrz", x2, reupload("ryrz", w2), ryrz2},
        {"the last layer cancels", x2, reupload("ryrz", {w2[0], {9, -5}}), ryrz2},
        {"the first does not",
         x2,
         reupload("ryrz", {{0.31, 0.7}, w2[1]}),
         {0.511514060207841, 0.317003229373116, 0.842259826899613}},
        {"two qubits, angle",
         x2,
         reupload("ry", w2),
         {0.664601061157782, 0.039084690723088, 0.114690246412488}},
        {"scale", x2, reupload("ryrz", w2, 0.5), {0.852935296647782, 0.225372883921087, 0.170381635467106}},
        {"three qubits, angle",
         x3,
         reupload("ry", w3),
         {0.877701797619603, 0.264097422717237, 0.130103270954013}},
        {"three qubits, ryrz",
         x3,
         reupload("ryrz", w3),
         {0.757765802420804, 0.438089651672432, 0.376842005852745}},
        {"one qubit", {{0.3}, {1.1}}, reupload("ryrz", {{0.5}, {0.25}}), {0.384437712527361}},
        {"five qubits, three layers",
         x5,
         reupload("ryrz", w5),
         {0.398574985334020, 0.580659497227801, 0.335569313097167, 0.749741890574208, 0.068016147399252,
          0.173079062017578}},
        {"five qubits, angle",
         x5,
         reupload("ry", w5),
         {0.581178674106956, 0.661638978769918, 0.321673460054243, 0.835421658757682, 0.041279841433195,
          0.211851385771533}},
    };
}

}  // namespace

TEST_CASE("published values of circuits with re-upload") {
    on_device([](weft::Backend& backend) {
        for (const Published& want : published()) check_published(backend, want);
    });
}

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

TEST_CASE("cross kernels with re-upload, and their transpose") {
    const Table y{{0, 0}, {0.3, -0.3}};
    const std::vector<double> want{0.936694574986341, 0.672936807780476, 0.671794441582328,
                                   0.958384037211097, 0.446075436160675, 0.776141729151221};
    on_device([&](weft::Backend& backend) {
        const OracleCircuit circuit = reupload("ryrz", two_qubit_weights());
        for (const KernelMatrixRoute& route : kernel_routes(backend)) {
            INFO("route: " << route.name());
            const double tolerance = route.wide_in ? route.tolerance() : 2e-6;
            check_close(kernel_by(backend, route, two_qubit_rows(), y, circuit), want, tolerance);
            const std::vector<double> turned = kernel_by(backend, route, y, two_qubit_rows(), circuit);
            for (std::size_t i = 0; i < 3; ++i)
                for (std::size_t j = 0; j < 2; ++j)
                    CHECK(std::abs(turned[3 * j + i] - want[2 * i + j]) <= tolerance);
        }
    });
}

TEST_CASE("states of every width are those of the oracle, in one pass and in several") {
    on_device([](weft::Backend& backend) {
        for (const std::size_t qubits : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u, 11u, 12u, 13u, 14u}) {
            CAPTURE(qubits);
            const std::size_t layers = qubits % 2 == 0 ? 3 : 2;
            const Table x = wave_rows(3, qubits, 1.2);
            const OracleCircuit circuit =
                reupload(qubits % 3 == 0 ? "ry" : "ryrz", wave_weights(layers, qubits));
            for (KernelMatrixRoute route : kernel_routes(backend)) {
                if (!route.wide_in || (route.resident && qubits > 12)) continue;
                INFO("route: " << route.name());
                const std::vector<double> k = kernel_by(backend, route, x, {}, circuit);
                check_close(k, oracle_kernel(x, circuit), route.wide_out ? 1e-12 : qubits > 10 ? 1e-5 : 2e-6);
                const weft::KernelMatrixShape shape{x.size(), 0, static_cast<std::uint32_t>(qubits)};
                check_symmetric(k, x.size(),
                                route.wide_out ? 1e-12 : diagonal_slack(backend, shape, circuit));
            }
        }
    });
}

TEST_CASE("every size around the tiles, whatever the tile of states and however often they are made") {
    struct Size {
        std::size_t rows, columns;  // no columns: square
    };
    on_device([](weft::Backend& backend) {
        const OracleCircuit circuit = reupload("ryrz", wave_weights(2, 3));
        for (const Size size : {Size{1, 0},
                                {15, 0},
                                {17, 0},
                                {33, 0},
                                {63, 0},
                                {64, 0},
                                {65, 0},
                                {100, 0},
                                {129, 0},
                                {257, 0},
                                {1, 70},
                                {70, 1},
                                {100, 130},
                                {200, 65}}) {
            const Table x = wave_rows(size.rows, 3), y = wave_rows(size.columns, 3, 1.5);
            const std::vector<double> want =
                size.columns == 0 ? oracle_kernel(x, circuit) : oracle_kernel(x, y, circuit);
            for (const bool resident : {false, true})
                for (const auto& [tile, bulk] :
                     {std::pair{-1, weft::Choice::automatic}, std::pair{64, weft::Choice::off},
                      std::pair{1, weft::Choice::off}, std::pair{100, weft::Choice::off}}) {
                    INFO(size.rows << " x " << size.columns << (resident ? " resident" : " streamed")
                                   << " tile " << tile);
                    KernelMatrixRoute route{resident, true, false};
                    route.options.state_tile = tile;
                    route.options.bulk_states = bulk;
                    const std::vector<double> k = kernel_by(backend, route, x, y, circuit);
                    check_close(k, want, 2e-6);
                    if (size.columns == 0) check_symmetric(k, size.rows, 2e-6);
                }
        }
    });
}

TEST_CASE("the state path agrees with the product path") {
    on_device([](weft::Backend& backend) {
        // Layers without rotations leave the ring alone, and twice the same row: |<x|y>|^2 of RY and RZ
        // twice.
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
            check(wk, square, 2e-6);
        }
        weft::Stream stream{backend};
        const weft::Buffer<weft::c32> bx(backend, x.size() + 3), by(backend, y.size());
        const weft::Buffer<float> bk(backend, square.size() + 5), bkc(backend, cross.size());
        // Views that begin where no binding may.
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

TEST_CASE("normalising takes the states' own norms out") {
    on_device([](weft::Backend& backend) {
        const std::vector<weft::c32> x{{2, 0}, {0, 0}, {1, 0}, {0, 1}, {0, 0}, {0, 0}}, y{{0, 3}, {0, 0}};
        std::vector<float> k(9), kc(3);
        // Norms 2, sqrt(2) and 0: values with themselves 16, 4 and 0.
        weft::kernel_matrix(backend, x, k, weft::KernelMatrixShape{3, 0, 1}, {.normalize = true, .jitter = 0.5});
        const double d0 = std::sqrt(16.5), d1 = std::sqrt(4.5);
        check_close(std::vector<double>(k.begin(), k.end()),
                    std::vector<double>{1, 4 / (d0 * d1), 0, 4 / (d0 * d1), 1, 0, 0, 0, 1}, 2e-6);
        weft::kernel_matrix(backend, x, y, kc, weft::KernelMatrixShape{3, 1, 1}, {.normalize = true, .jitter = 0.5});
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
        // Nearly equal rows: their rounding errors line up.
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
