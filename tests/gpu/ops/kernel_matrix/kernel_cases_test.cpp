// SPDX-License-Identifier: Apache-2.0
// What must hold of quantum kernel matrices, case by case, and where each is tested:
//
//    1  layers cancel without re-upload         kernel_values: published values of circuits that cancel
//    2  re-upload: the last layer cancels       kernel_states: published values of circuits with re-upload
//    3  three qubits; mistakes would show       both; kernel_states: values of circuits built wrongly do not
//    appear 4  cross kernels, and their transpose      both: cross kernels .. 5  scale both: published values
//    6  one qubit                               both; kernel_values: orthogonal states give zero ..
//    7  five qubits, three layers               both: published values
//    8  ten qubits; both paths agree            both; kernel_states: the state path agrees with the product
//    path 9  equal rows                              kernel_values: equal rows ..; here, with re-upload
//   10  every edge of a tile; N = n             both: every size ..; kernels/gram; kernel_values: as many
//   samples .. 11  symmetric bits, ones, eigenvalues       every check_symmetric; here, eigenvalues 12  turns
//   added to features                 kernel_values: turns ..; here, with re-upload 13  normalize and jitter
//   both: normalising .. 14  what is refused                         kernel_errors; here, weights;
//   tools/kernel_command_test: options 15  float32 at 16 qubits                    kernel_states: sixteen
//   qubits .. 16  memory plans, and what does not fit     unit/kernel_plan 17  alignment, polarity,
//   projection         unit/kernel_alignment 18  rates, peaks, balance; pairs of 20000   unit/profile_report;
//   here, pairs 19  tiles that are kept                     unit/gram_tuning, kernel_tuning 20  CUDA
//   tests/cuda
//
// Outputs are NaN beforehand in all of them (support/kernel_routes.hpp).
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/gpu_fixture.hpp"
#include "support/kernel_oracle.hpp"
#include "support/kernel_published.hpp"
#include "support/kernel_routes.hpp"

namespace {

using namespace weft_test;

OracleCircuit reupload(std::size_t qubits) {
    Table weights(2, std::vector<double>(qubits));
    for (std::size_t l = 0; l < 2; ++l)
        for (std::size_t q = 0; q < qubits; ++q)
            weights[l][q] = 1.1 * std::cos(static_cast<double>(5 * l + 2 * q));
    return {"ryrz", weights, true, 1, {}};
}

/// Whether K + shift * 1 has a Cholesky factor: its smallest eigenvalue is above -shift.
bool positive(std::vector<double> k, std::size_t rows, double shift) {
    for (std::size_t i = 0; i < rows; ++i) k[i * rows + i] += shift;
    for (std::size_t j = 0; j < rows; ++j) {
        for (std::size_t m = 0; m < j; ++m) k[j * rows + j] -= k[j * rows + m] * k[j * rows + m];
        if (!(k[j * rows + j] > 0)) return false;
        const double root = k[j * rows + j] = std::sqrt(k[j * rows + j]);
        for (std::size_t i = j + 1; i < rows; ++i) {
            for (std::size_t m = 0; m < j; ++m) k[i * rows + j] -= k[i * rows + m] * k[j * rows + m];
            k[i * rows + j] /= root;
        }
    }
    return true;
}

}  // namespace

TEST_CASE("equal rows of circuits with re-upload have equal kernels, and one with each other") {
    on_device([](weft::Backend& backend) {
        Table x = wave_rows(140, 5);
        x[131] = x[3];
        for (const KernelMatrixRoute& route : kernel_routes(backend)) {
            INFO("route: " << route.name());
            const std::vector<double> k = kernel_by(backend, route, x, {}, reupload(5));
            CHECK(std::abs(k[3 * 140 + 131] - 1) <= route.tolerance());
            double apart = 0;
            for (std::size_t j = 0; j < 140; ++j)
                apart = std::max(apart, std::abs(k[3 * 140 + j] - k[131 * 140 + j]));
            // One of them is the left factor of a pair where the other is the right: the last bit may differ.
            CHECK(apart <= route.tolerance() / 10);
        }
    });
}

TEST_CASE("turns added to features of circuits with re-upload change nothing") {
    on_device([](weft::Backend& backend) {
        const double turn = 2 * std::acos(-1.0);
        const Table x = wave_rows(20, 4);
        Table shifted = x;
        for (std::size_t i = 0; i < x.size(); ++i) {
            shifted[i][i % 4] += turn;
            shifted[i][(i + 1) % 4] -= turn;
        }
        for (const KernelMatrixRoute& route : kernel_routes(backend)) {
            if (!route.wide_in) continue;
            INFO("route: " << route.name());
            check_close(kernel_by(backend, route, shifted, {}, reupload(4)),
                        kernel_by(backend, route, x, {}, reupload(4)), route.tolerance());
        }
    });
}

TEST_CASE("kernel matrices are positive semidefinite up to rounding") {
    on_device([](weft::Backend& backend) {
        const std::size_t rows =
            200;  // more than the 16 x 16 dimensions that K spans at 4 qubits leave full rank
        const Table x = wave_rows(rows, 4);
        for (OracleCircuit circuit : {reupload(4), OracleCircuit{"ryrz", {}, false, 1, {}}})
            for (const KernelMatrixRoute& route : kernel_routes(backend)) {
                INFO("route: " << route.name());
                const std::vector<double> k = kernel_by(backend, route, x, {}, circuit);
                CHECK(positive(k, rows, route.wide_out ? 1e-12 * rows : 1e-5));
                std::vector<double> negative = k;
                negative[0] = -1;  // the check would notice
                CHECK_FALSE(positive(negative, rows, 1e-5));
            }
    });
}

TEST_CASE("weights that are not finite are named by layer and qubit, and K stays as it was") {
    on_device([](weft::Backend& backend) {
        const std::vector<float> x{0.1f, 0.2f, 0.5f, -0.4f};
        for (const double value :
             {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
            std::vector<double> weights{0.3, 0.7, -0.2, 0.4};
            weights[2] = value;
            std::vector<float> k(4, -7.0f);
            check_error(weft::Errc::invalid_argument, "weights: row 1 column 0 is", [&] {
                weft::kernel_matrix(backend, {.weights = weft::ConstHostArray(weights), .reupload = true}, x, k, {2, 0, 2});
            });
            for (const float kept : k) CHECK(kept == -7.0f);
        }
    });
}

TEST_CASE("pairs are those of one triangle, and rates divide by what was measured") {
    CHECK(weft::KernelMatrixShape{20000, 0, 16}.pairs() == 200010000);
    CHECK(weft::KernelMatrixShape{20000, 30, 16}.pairs() == 600000);
    CHECK(weft::Progress{}.per_s() == 0);
    CHECK(weft::Progress{.done = 50, .total = 100, .elapsed_s = 2}.per_s() == 25);
    CHECK(weft::Progress{.done = 50, .total = 100, .elapsed_s = 2}.remaining_s() == 2);
    CHECK(weft::OpReport{}.items_per_s() == 0);
}

TEST_CASE("memory that does not hold all states: tiles of them, and the same values") {
    on_device([](weft::Backend& backend) {
        const Table x = wave_rows(300, 9);
        const OracleCircuit circuit = reupload(9);
        const CircuitArguments arguments = circuit_arguments(circuit);
        KernelMatrixRoute route{false, true, false};
        weft::KernelMatrixEstimate plan;
        do {
            route.options.vram_fraction *= 0.97;
            plan = weft::estimate_kernel_matrix(backend, arguments.circuit, {300, 0, 9},
                                                weft::kFloat32, route.options);
            REQUIRE(plan.streamed_fits);
        } while (plan.bulk_states);
        CHECK(plan.state_tile < 300);
        CHECK(plan.state_builds > 1);
        const std::vector<double> k = kernel_by(backend, route, x, {}, circuit);
        check_close(k, oracle_kernel(x, circuit), 2e-6);
        check_symmetric(k, 300, 2e-6);
    });
}

TEST_CASE("buffers of a call hold no more than its plan says, whatever may be used") {
    on_device([](weft::Backend&) {
        struct Run {
            std::size_t rows;
            std::uint32_t qubits;
            bool reupload;
            double fraction;
            std::uint64_t limit;
        };
        for (const Run& run :
             {Run{1500, 8, true, 0.85, 0}, Run{700, 11, true, 0.01, 0}, Run{1500, 4, false, 0.85, 0},
              Run{1500, 300, false, 0.01, 0}, Run{700, 11, true, 0.85, std::uint64_t{24} << 20},
              Run{2000, 4, false, 0.85, std::uint64_t{24} << 20}}) {
            INFO(run.rows << " rows of " << run.qubits << " qubits, fraction " << run.fraction << ", limit "
                          << run.limit);
            weft::Config config = weft::Config::from_env();
            config.memory_limit = run.limit;
            weft::Backend backend{config};
            std::vector<float> x(run.rows * run.qubits), k(run.rows * run.rows);
            for (std::size_t i = 0; i < x.size(); ++i)
                x[i] = static_cast<float>(std::sin(0.7 * static_cast<double>(i)));
            const std::vector<double> weights(2 * run.qubits, 0.3);
            const weft::KernelMatrixCircuit circuit{.weights = weights, .reupload = run.reupload};
            const weft::KernelMatrixOptions options{.autotune = weft::Choice::off, .vram_fraction = run.fraction};
            const weft::KernelMatrixShape shape{run.rows, 0, run.qubits};
            // What a device with matrix units is asked first has its own memory.
            const weft::KernelMatrixEstimate plan =
                weft::estimate_kernel_matrix(backend, circuit, shape, weft::kFloat32, options);
            REQUIRE(plan.streamed_fits);
            CHECK(plan.streamed_bytes <= plan.available_bytes);
            if (run.limit != 0) CHECK(plan.available_bytes <= run.limit);
            const weft::MemoryReport before = backend.memory();
            weft::kernel_matrix(backend, circuit, x, k, shape, on_host(options));
            const weft::MemoryReport after = backend.memory();
            CHECK(k[0] == doctest::Approx(1).epsilon(1e-5));
            if (run.limit != 0) CHECK(after.peak_bytes <= run.limit);
            // Elsewhere the report counts page-locked memory too, and slots hold several small jobs.
            if (backend.device().unified_memory && backend.plan().ordinary_path != weft::Path::staged &&
                after.peak_bytes > before.peak_bytes)
                CHECK(after.peak_bytes - before.live_bytes <= plan.streamed_bytes);
        }
        weft::Config config = weft::Config::from_env();
        config.memory_limit = std::uint64_t{1} << 20;
        const weft::Backend backend{config};
        const weft::KernelMatrixCircuit circuit{};
        const weft::KernelMatrixEstimate plan = weft::estimate_kernel_matrix(backend, circuit, {100000, 0, 64});
        CHECK(plan.available_bytes <= config.memory_limit);
        CHECK(!plan.streamed_fits);
    });
}

TEST_CASE("device times are reported where they are asked for") {
    on_device([](weft::Backend& backend) {
        const Table x = wave_rows(100, 6);
        const CircuitArguments arguments = circuit_arguments(reupload(6));
        const std::vector<double> flat_x = flat(x);
        std::vector<float> k(100 * 100);
        const auto report = [&](bool timings, bool states) {
            weft::KernelMatrixHostOptions options;
            if (timings) options.batch.stage_times = decltype(options.batch.stage_times)::on;
            return weft::kernel_matrix(backend, states ? arguments.circuit : weft::KernelMatrixCircuit{},
                                       flat_x, k, {100, 0, 6}, options);
        };
        const weft::OpReport plain = report(false, true), timed = report(true, true);
        CHECK(plain.states_s == 0);
        CHECK(plain.product_s == 0);
        CHECK(timed.states_s > 0);
        CHECK(timed.product_s > 0);
        CHECK(timed.states_s + timed.product_s < timed.wall_s);
        CHECK(report(true, false).product_s > 0);
    });
}
