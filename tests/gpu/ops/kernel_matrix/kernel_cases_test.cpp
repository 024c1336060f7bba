// SPDX-License-Identifier: Apache-2.0
// Kernel matrices on Vulkan: too little memory for all states, buffers and plans, device times, shapes with
// few workgroups. tests/conformance has values and their properties; tests/unit has memory plans, alignment
// and kept tiles.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/gpu_fixture.hpp"
#include "support/kernel_oracle.hpp"
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

}  // namespace

TEST_CASE("pairs are those of one triangle, and rates are items divided by the elapsed time") {
    CHECK(weft::KernelMatrixShape{20000, 0, 16}.pairs() == 200010000);
    CHECK(weft::KernelMatrixShape{20000, 30, 16}.pairs() == 600000);
    CHECK(weft::Progress{}.per_s() == 0);
    CHECK(weft::Progress{.done = 50, .total = 100, .elapsed_s = 2}.per_s() == 25);
    CHECK(weft::Progress{.done = 50, .total = 100, .elapsed_s = 2}.remaining_s() == 2);
    CHECK(weft::OpReport{}.items_per_s() == 0);
}

TEST_CASE("too little memory for all states: tiles of them give the same values") {
    on_device([](weft::Backend& backend) {
        const Table x = wave_rows(300, 9);
        const OracleCircuit circuit = reupload(9);
        const CircuitArguments arguments = circuit_arguments(circuit);
        KernelMatrixRoute route{false, true, false};
        weft::KernelMatrixEstimate plan;
        do {
            route.options.vram_fraction *= 0.97;
            plan = weft::estimate_kernel_matrix(backend, arguments.circuit, {300, 0, 9}, weft::kFloat32,
                                                route.options);
            REQUIRE(plan.streamed_fits);
        } while (plan.bulk_states);
        CHECK(plan.state_tile < 300);
        CHECK(plan.state_builds > 1);
        const std::vector<double> k = kernel_by(backend, route, x, {}, circuit);
        check_close(k, oracle_kernel(x, circuit), 2e-6);
        check_symmetric(k, 300, 2e-6);
    });
}

TEST_CASE("buffers of a call take no more than its plan states, under every limit") {
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
            const weft::KernelMatrixOptions options{.autotune = weft::Choice::off,
                                                    .vram_fraction = run.fraction};
            const weft::KernelMatrixShape shape{run.rows, 0, run.qubits};
            // The check of a device's matrix units, which runs first, takes separate memory.
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
            // On other devices the report counts page-locked memory too, and slots hold several small jobs.
            if (backend.device().unified_memory && backend.plan().ordinary_path != weft::Path::staged &&
                after.peak_bytes > before.peak_bytes)
                CHECK(after.peak_bytes - before.live_bytes <= plan.streamed_bytes);
        }
        weft::Config config = weft::Config::from_env();
        config.memory_limit = std::uint64_t{1} << 20;
        const weft::Backend backend{config};
        const weft::KernelMatrixCircuit circuit{};
        const weft::KernelMatrixEstimate plan =
            weft::estimate_kernel_matrix(backend, circuit, {100000, 0, 64});
        CHECK(plan.available_bytes <= config.memory_limit);
        CHECK(!plan.streamed_fits);
    });
}

TEST_CASE("device times are reported if they are requested") {
    on_device([](weft::Backend& backend) {
        const Table x = wave_rows(100, 6);
        const CircuitArguments arguments = circuit_arguments(reupload(6));
        const std::vector<double> flat_x = flat(x);
        std::vector<float> k(100 * 100);
        const auto report = [&](bool timings, bool states) {
            weft::KernelMatrixHostOptions options;
            if (timings) options.batch.stage_times = weft::Choice::on;
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

TEST_CASE("one row with thousands, of many qubits: a workgroup has few tiles") {
    on_device([](weft::Backend& backend) {
        constexpr std::uint64_t kOthers = 4096;
        constexpr std::uint32_t kQubits = 1500;
        std::vector<float> x(kQubits, 0.3f), y(kOthers * kQubits), k(kOthers, -1);
        for (std::uint64_t i = 0; i < y.size(); ++i) y[i] = 0.3f + 1e-5f * static_cast<float>(i / kQubits);
        weft::kernel_matrix(backend, {.map = weft::FeatureMap::ry}, std::span<const float>(x),
                            std::span<const float>(y), std::span<float>(k), {1, kOthers, kQubits});
        std::uint64_t wrong = 0;
        for (std::uint64_t j = 0; j < kOthers; ++j) {
            const double apart = (static_cast<double>(x[0]) - static_cast<double>(y[j * kQubits])) / 2;
            const double want = std::exp(2.0 * kQubits * std::log(std::cos(apart)));
            if (!(std::abs(static_cast<double>(k[j]) - want) <= 4e-6)) ++wrong;
        }
        CHECK(wrong == 0);
    });
}
