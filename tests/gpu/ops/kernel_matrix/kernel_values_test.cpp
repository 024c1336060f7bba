// SPDX-License-Identifier: Apache-2.0
// Kernel matrices of circuits: published values, and every route against gate-by-gate simulation.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "support/gpu_fixture.hpp"
#include "support/kernel_oracle.hpp"
#include "support/kernel_published.hpp"
#include "support/kernel_routes.hpp"

namespace {

using namespace weft_test;

constexpr double kPi = 3.14159265358979323846;

OracleCircuit circuit(const char* map, const Table& weights, bool reupload, double scale = 1) {
    return {map, weights, reupload, scale, {}};
}

Table wave_of_five() {
    Table rows(4, std::vector<double>(5));
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t q = 0; q < 5; ++q) rows[i][q] = std::sin(static_cast<double>(7 * i + 3 * q + 1));
    return rows;
}
Table weights_of_five() {
    Table rows(3, std::vector<double>(5));
    for (std::size_t l = 0; l < 3; ++l)
        for (std::size_t q = 0; q < 5; ++q) rows[l][q] = 0.1 * std::cos(static_cast<double>(5 * l + 2 * q));
    return rows;
}
Table ramp_of_ten() {
    Table rows(3, std::vector<double>(10));
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t q = 0; q < 10; ++q) rows[i][q] = 0.05 * static_cast<double>((i + 1) * (q + 1));
    return rows;
}

std::vector<Published> product_values() {
    const Table &x2 = two_qubit_rows(), &w2 = two_qubit_weights();
    const Table &x3 = three_qubit_rows(), &w3 = three_qubit_weights();
    const std::vector<double> ryrz2{0.881398184544714, 0.219039574114769, 0.401203388635380};
    const std::vector<double> ryrz5{0.802539453948416, 0.843764270589859, 0.706822932969637,
                                    0.923041137824143, 0.449863623169179, 0.628640458356351};
    return {
        {"two qubits, ryrz", x2, circuit("ryrz", w2, false), ryrz2},
        {"other weights cancel", x2, circuit("ryrz", {{1.9, -2.2}, {0.01, 3.0}, {0.7, 0.7}}, false), ryrz2},
        {"no layers", x2, circuit("ryrz", {}, false), ryrz2},
        {"two qubits, ry",
         x2,
         circuit("ry", w2, false),
         {0.876645262691814, 0.313294196676095, 0.123266245085645}},
        {"two qubits, angle",
         x2,
         circuit("ry", w2, false),
         {0.876645262691814, 0.313294196676095, 0.123266245085645}},
        {"scale 2",
         x2,
         circuit("ryrz", w2, false, 2),
         {0.633910695216884, 0.091240923362661, 0.175938948298043}},
        {"three qubits, angle",
         x3,
         circuit("ry", w3, false),
         {0.934489718581650, 0.527412824531324, 0.380415466260578}},
        {"three qubits, ryrz",
         x3,
         circuit("ryrz", w3, false),
         {0.928077709802020, 0.583213263111870, 0.571560239570174}},
        {"one qubit", {{0}, {kPi / 2}, {kPi}}, circuit("ry", {{0.5}}, false), {0.5, 0, 0.5}},
        {"five qubits", wave_of_five(), circuit("ryrz", weights_of_five(), false), ryrz5},
        {"one layer with re-upload", wave_of_five(), circuit("ryrz", {weights_of_five()[0]}, true), ryrz5},
        {"ten qubits, ryrz",
         ramp_of_ten(),
         circuit("ryrz", {}, false),
         {0.731827707611461, 0.247576525520468, 0.668081259468536}},
        {"ten qubits, angle",
         ramp_of_ten(),
         circuit("ry", {}, false),
         {0.784823754805054, 0.371443786375792, 0.784823754805054}},
    };
}

}  // namespace

TEST_CASE("published values of circuits that cancel") {
    on_device([](weft::Backend& backend) {
        for (const Published& want : product_values()) check_published(backend, want);
    });
}

TEST_CASE("orthogonal states give zero, and equal ones exactly one") {
    on_device([](weft::Backend& backend) {
        for (const KernelMatrixRoute& route : kernel_routes(backend)) {
            INFO("route: " << route.name());
            const std::vector<double> k =
                kernel_by(backend, route, {{0}, {kPi}, {0}}, {}, circuit("ry", {}, false));
            CHECK(k[1] <= (route.wide_in && route.wide_out ? 1e-15 : 1e-13));
            CHECK(k[0] == 1);
            CHECK(k[2] == 1);
            CHECK(k[6] == 1);
        }
    });
}

TEST_CASE("cross kernels, and their transpose") {
    const Table y{{0, 0}, {0.3, -0.3}};
    const std::vector<double> want{0.987560267580271, 0.932715311625405, 0.901737655666900,
                                   0.985867520056119, 0.224827593488711, 0.333371957286263};
    on_device([&](weft::Backend& backend) {
        for (const KernelMatrixRoute& route : kernel_routes(backend)) {
            INFO("route: " << route.name());
            const OracleCircuit c = circuit("ryrz", two_qubit_weights(), false);
            const std::vector<double> k = kernel_by(backend, route, two_qubit_rows(), y, c);
            check_close(k, want, route.wide_in ? route.tolerance() : 2e-6);
            const std::vector<double> turned = kernel_by(backend, route, y, two_qubit_rows(), c);
            for (std::size_t i = 0; i < 3; ++i)
                for (std::size_t j = 0; j < 2; ++j) CHECK(k[2 * i + j] == turned[3 * j + i]);
        }
    });
}

TEST_CASE("product kernels of every size around the tiles are those of the oracle") {
    on_device([](weft::Backend& backend) {
        for (const char* map : {"ry", "ryrz"})
            for (const std::size_t rows : {1u, 15u, 16u, 17u, 63u, 64u, 65u, 100u, 130u, 257u}) {
                const Table x = wave_rows(rows, 5);
                CAPTURE(rows);
                for (const KernelMatrixRoute& route : kernel_routes(backend)) {
                    INFO("route: " << route.name() << " " << std::string(map));
                    const std::vector<double> want =
                        oracle_kernel(seen_by(route, x), circuit(map, {}, false));
                    const std::vector<double> k = kernel_by(backend, route, x, {}, circuit(map, {}, false));
                    check_close(k, want, route.tolerance());
                    check_symmetric(k, rows, route.tolerance());
                }
            }
    });
}

TEST_CASE("product cross kernels of odd shapes are those of the oracle") {
    struct Size {
        std::size_t rows, columns, qubits;
    };
    on_device([](weft::Backend& backend) {
        for (const Size size :
             {Size{1, 1, 1}, {1, 200, 3}, {200, 1, 4}, {65, 63, 9}, {33, 129, 2}, {64, 64, 8}}) {
            const Table x = wave_rows(size.rows, size.qubits), y = wave_rows(size.columns, size.qubits, 1.5);
            for (const KernelMatrixRoute& route : kernel_routes(backend)) {
                INFO("route: " << route.name() << ", " << size.rows << " x " << size.columns);
                const OracleCircuit c = circuit("ryrz", {}, false, 0.7);
                check_close(kernel_by(backend, route, x, y, c),
                            oracle_kernel(seen_by(route, x), seen_by(route, y), c), route.tolerance());
            }
        }
    });
}

TEST_CASE("as many samples as qubits do not turn X around") {
    on_device([](weft::Backend& backend) {
        for (const KernelMatrixRoute& route : kernel_routes(backend)) {
            const std::vector<double> k = kernel_by(backend, route, three_qubit_rows(), {},
                                                    circuit("ryrz", three_qubit_weights(), false));
            CHECK(std::abs(k[1] - 0.928077709802020) <= 2e-6);
        }
    });
}

TEST_CASE("equal rows have equal kernels, and one with each other") {
    on_device([](weft::Backend& backend) {
        Table x = wave_rows(140, 12);
        x[131] = x[3];
        for (const KernelMatrixRoute& route : kernel_routes(backend)) {
            INFO("route: " << route.name());
            const std::vector<double> k = kernel_by(backend, route, x, {}, circuit("ryrz", {}, false));
            CHECK(k[3 * 140 + 131] == 1);
            std::size_t differences = 0;
            for (std::size_t j = 0; j < 140; ++j) differences += k[3 * 140 + j] != k[131 * 140 + j] ? 1 : 0;
            CHECK(differences == 0);
        }
    });
}

TEST_CASE("turns added to features change nothing") {
    on_device([](weft::Backend& backend) {
        const Table x = wave_rows(20, 6);
        Table shifted = x;
        for (std::size_t i = 0; i < x.size(); ++i) {
            shifted[i][i % 6] += 2 * kPi;
            shifted[i][(i + 1) % 6] -= 2 * kPi;
        }
        for (const KernelMatrixRoute& route : kernel_routes(backend)) {
            if (!route.wide_in) continue;
            INFO("route: " << route.name());
            check_close(kernel_by(backend, route, shifted, {}, circuit("ryrz", {}, false)),
                        kernel_by(backend, route, x, {}, circuit("ryrz", {}, false)), route.tolerance());
        }
    });
}

namespace {

// Every qubit of a pair deviates alike, the worst case for rounding that adds up; K = cos^2n(d / 2).
void check_equal_features(weft::Backend& backend, std::size_t qubits, const std::vector<double>& at) {
    Table x;
    for (const double t : at) x.emplace_back(qubits, t);
    for (const KernelMatrixRoute& route : kernel_routes(backend)) {
        INFO("route: " << route.name());
        const std::vector<double> k = kernel_by(backend, route, x, {}, circuit("ry", {}, false));
        const Table seen = seen_by(route, x);
        const double twice = 2.0 * static_cast<double>(qubits);
        std::vector<double> want;
        for (const auto& a : seen)
            for (const auto& b : seen)
                want.push_back(std::exp(twice * std::log(std::abs(std::cos((a[0] - b[0]) / 2)))));
        check_close(k, want, route.wide_out ? 1e-11 : 4e-6);
        check_symmetric(k, x.size(), 0);
    }
}

}  // namespace

TEST_CASE("thousands of qubits keep their digits") {
    on_device([](weft::Backend& backend) {
        check_equal_features(backend, 2500, {0.3, 0.3004, 0.31, 0.34, 0.3, 2.0});
    });
}

// Mesa's software devices end loops of an invocation after 65535 turns in all: with the values they have
// then.
TEST_CASE("more qubits than turns of a loop that a software device makes") {
    on_device([](weft::Backend& backend) {
        check_equal_features(backend, 66000, {0.3, 0.3001, 0.301, 0.304});
    });
}

TEST_CASE("one row against thousands, of many qubits: a workgroup has few tiles") {
    on_device([](weft::Backend& backend) {
        constexpr std::uint64_t kOthers = 4096;
        constexpr std::uint32_t kQubits = 1500;
        std::vector<float> x(kQubits, 0.3f), y(kOthers * kQubits), k(kOthers, -1);
        for (std::uint64_t i = 0; i < y.size(); ++i) y[i] = 0.3f + 1e-5f * static_cast<float>(i / kQubits);
        weft::kernel_matrix(backend, {.map = weft::FeatureMap::ry}, std::span<const float>(x), std::span<const float>(y), std::span<float>(k), {1, kOthers, kQubits});
        std::uint64_t wrong = 0;
        for (std::uint64_t j = 0; j < kOthers; ++j) {
            const double apart = (static_cast<double>(x[0]) - static_cast<double>(y[j * kQubits])) / 2;
            const double want = std::exp(2.0 * kQubits * std::log(std::cos(apart)));
            if (!(std::abs(static_cast<double>(k[j]) - want) <= 4e-6)) ++wrong;
        }
        CHECK(wrong == 0);
    });
}

TEST_CASE("normalising divides by the jitter and sets the diagonal") {
    on_device([](weft::Backend& backend) {
        for (KernelMatrixRoute route : kernel_routes(backend)) {
            INFO("route: " << route.name());
            route.options.normalize = true;
            route.options.jitter = 0.01;
            const OracleCircuit c = circuit("ryrz", {}, false);
            const std::vector<double> k = kernel_by(backend, route, two_qubit_rows(), {}, c);
            for (std::size_t i = 0; i < 3; ++i) CHECK(k[4 * i] == 1);
            check_close(
                upper(k, 3),
                std::array{0.881398184544714 / 1.01, 0.219039574114769 / 1.01, 0.401203388635380 / 1.01},
                route.wide_in ? route.tolerance() : 2e-6);
            // Of a cross kernel both rows' own values are 1.
            check_close(kernel_by(backend, route, two_qubit_rows(), {{0, 0}}, c),
                        std::array{0.987560267580271, 0.901737655666900, 0.224827593488711},
                        route.wide_in ? route.tolerance() : 2e-6);
            route.options.normalize = false;  // and the jitter means nothing
            check_close(upper(kernel_by(backend, route, two_qubit_rows(), {}, c), 3),
                        std::array{0.881398184544714, 0.219039574114769, 0.401203388635380},
                        route.wide_in ? route.tolerance() : 2e-6);
        }
    });
}
