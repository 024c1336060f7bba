// SPDX-License-Identifier: Apache-2.0
// The plans of kernel matrices on devices of all kinds, and refused calls.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <weft/ops/encode_error.hpp>

#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops/kernel_matrix/kernel_estimate.hpp"
#include "ops/kernel_matrix/kernel_plan.hpp"
#include "support/error_text.hpp"

namespace {

using namespace weft;
using namespace weft::kernels;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

KernelMatrixDevice device_with(std::uint64_t budget, std::uint64_t range = 0xffffffff, bool float64 = true) {
    KernelMatrixDevice device;
    device.gram.float64 = float64;
    device.budget_bytes = budget;
    device.gram.limits.max_storage_buffer_range = range;
    device.gram.limits.max_buffer_bytes = budget;
    device.gram.limits.storage_buffer_offset_alignment = 16;
    device.gram.limits.max_workgroup_count[0] = 65535;
    device.gram.limits.max_shared_memory_bytes = 32768;
    device.gram.limits.max_workgroup_size[0] = 1024;
    device.gram.limits.max_workgroup_invocations = 1024;
    return device;
}

KernelMatrixEstimate estimate(const KernelMatrixDevice& device, const KernelMatrixShape& shape,
                              CircuitFacts circuit, ElementType type = kFloat32,
                              const KernelMatrixOptions& options = {}) {
    circuit.on_host = true;
    return estimate_kernel(plan_kernel(device, shape, circuit, type, options), device, circuit, options);
}

bool has_reason(const KernelMatrixEstimate& estimate, std::string_view part) {
    return std::any_of(estimate.reasons.begin(), estimate.reasons.end(),
                       [&](const std::string& reason) { return reason.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("layers that cancel are left out") {
    struct Case {
        CircuitFacts circuit;
        KernelMatrixMethod method;
        std::uint32_t layers;
        const char* reason;
    };
    const std::vector<Case> cases{
        {{FeatureMap::ryrz, 0, true}, KernelMatrixMethod::product, 0, "no layers"},
        {{FeatureMap::ryrz, 6, false},
         KernelMatrixMethod::product,
         0,
         "without re-upload all 6 layers cancel"},
        {{FeatureMap::ry, 1, true},
         KernelMatrixMethod::product,
         0,
         "the last layer cancels, which is the only one"},
        {{FeatureMap::ryrz, 2, true},
         KernelMatrixMethod::states,
         1,
         "the last of 2 layers cancels; 1 layer matters"},
        {{FeatureMap::ry, 5, true}, KernelMatrixMethod::states, 4, "4 layers matter"},
        {{FeatureMap::ryrz, 0, false, true}, KernelMatrixMethod::states, 0, "states are given"},
    };
    for (const Case& c : cases) {
        INFO("expected: " << std::string(c.reason));
        const KernelMatrixEstimate e = estimate(device_with(80 * kGiB), {100, 0, 4}, c.circuit);
        CHECK(e.method == c.method);
        CHECK(e.layers == c.layers);
        CHECK(has_reason(e, c.reason));
    }
}

TEST_CASE("pairs are those that have to be computed") {
    CHECK(KernelMatrixShape{20000, 0, 4}.pairs() == 200010000);
    CHECK(KernelMatrixShape{3, 5, 4}.pairs() == 15);
    CHECK(KernelMatrixShape{3, 5, 4}.values() == 15);
    CHECK(KernelMatrixShape{3, 0, 4}.values() == 9);
}

TEST_CASE("products: numbers for each qubit, variants and parts") {
    const KernelMatrixDevice device = device_with(80 * kGiB);
    const CircuitFacts ry{FeatureMap::ry, 2, false}, ryrz{FeatureMap::ryrz, 2, false};
    CHECK(!plan_kernel(device, {10, 0, 4}, ry, kFloat32, {}).rz);
    const KernelMatrixPlan plan = plan_kernel(device, {20000, 0, 16}, ryrz, kFloat32, {});
    CHECK(plan.rz);
    CHECK(plan.symmetric);
    CHECK(!plan.long_variant);
    CHECK(plan.stride == 20000);
    CHECK(plan.job_rows % 64 == 0);
    CHECK(plan.job_rows * 20000 * 4 <= std::uint64_t{48} << 20);
    CHECK(plan.job_rows * 20000 * 4 > std::uint64_t{40} << 20);
    CHECK(plan_kernel(device, {10, 0, 33}, ryrz, kFloat32, {}).long_variant);
    CHECK(!plan_kernel(device, {10, 0, 3000}, ryrz, kFloat64, {}).long_variant);
    const KernelMatrixPlan cross = plan_kernel(device, {10, 7, 4}, ryrz, kFloat32, {});
    CHECK(!cross.symmetric);
    CHECK(cross.stride == 20);
}

TEST_CASE("software devices stay within the limit on loop iterations: qubits in parts, K in panels") {
    KernelMatrixDevice device = device_with(8 * kGiB);
    const CircuitFacts ry{FeatureMap::ry, 0, false};
    CHECK(plan_kernel(device, {8, 0, 300000}, ry, kFloat32, {}).part_qubits == 300000);
    CHECK(!plan_kernel(device, {600, 0, 300000}, ry, kFloat32, {}).by_panels);
    device.gram.software = true;
    for (const ElementType type : {kFloat32, kFloat64}) {
        const KernelMatrixPlan plan = plan_kernel(device, {8, 0, 300000}, ry, type, {});
        // kernel_product.comp has 11 iterations for 4 qubits.
        CHECK(plan.part_qubits * 11 / 4 < 65535);
        CHECK(plan.by_panels);
        CHECK(!plan_kernel(device, {600, 0, 200}, ry, type, {}).by_panels);
        CHECK(plan_kernel(device, {8, 0, 200}, ry, type, {}).part_qubits == 200);
    }
}

TEST_CASE("a K in host memory of up to 1 MiB is one panel, on any device") {
    KernelMatrixDevice device = device_with(8 * kGiB);
    const CircuitFacts ryrz{FeatureMap::ryrz, 0, false};
    for (const bool software : {false, true}) {
        device.gram.software = software;
        CHECK(plan_kernel(device, {512, 0, 8}, ryrz, kFloat32, {}).by_panels);
        CHECK(!plan_kernel(device, {513, 0, 8}, ryrz, kFloat32, {}).by_panels);
        CHECK(plan_kernel(device, {3, 40000, 8}, ryrz, kFloat64, {}).by_panels);
    }
}

TEST_CASE("few rows need little memory, and their plans are the same whatever is free") {
    const CircuitFacts closed{FeatureMap::ryrz, 0, false}, reupload{FeatureMap::ryrz, 2, true};
    CHECK(few_rows({12, 0, 8}, closed));
    CHECK(few_rows({1, 512, 30}, closed));
    CHECK(few_rows({20, 0, 8}, reupload));
    CHECK(!few_rows({20, 0, 16}, reupload));
    CHECK(!few_rows({20, 0, 16}, {.given = true}));
    CHECK(!few_rows({2000, 0, 8}, closed));
    CHECK(!few_rows({1, 10'000'000, 8}, closed));
    for (CircuitFacts facts : {closed, reupload, CircuitFacts{.given = true}})
        for (const bool on_host : {false, true}) {
            facts.on_host = on_host;
            const auto plan = [&](std::uint64_t budget) {
                return plan_that_fits(device_with(budget), {60, 0, 8}, facts, kFloat64, {});
            };
            const KernelMatrixPlan least = plan(kGiB / 8), most = plan(80 * kGiB);
            CHECK(least.by_panels == most.by_panels);
            CHECK(least.job_rows == most.job_rows);
            CHECK(least.states.tile == most.states.tile);
            CHECK(least.states.block == most.states.block);
            CHECK(least.states.chunk_rows == most.states.chunk_rows);
            CHECK(least.states.bulk == most.states.bulk);
        }
}

TEST_CASE("software devices compute products by lanes, whose planes end at multiples of eight samples") {
    KernelMatrixDevice device = device_with(8 * kGiB);
    device.gram.float64 = true;
    const CircuitFacts ry{FeatureMap::ry, 0, false};
    CHECK(!plan_kernel(device, {10, 7, 4}, ry, kFloat32, {}).lane_variant);
    CHECK(plan_kernel(device, {10, 7, 4}, ry, kFloat32, {}).others_at == 12);
    device.gram.software = true;
    const KernelMatrixPlan cross = plan_kernel(device, {10, 7, 4}, ry, kFloat32, {});
    CHECK(cross.lane_variant);
    CHECK(cross.others_at == 16);
    CHECK(cross.stride == 24);
    CHECK(plan_kernel(device, {9, 0, 4}, ry, kFloat32, {}).stride == 16);
    CHECK(!plan_kernel(device, {9, 0, 33}, ry, kFloat32, {}).lane_variant);
    CHECK(plan_kernel(device, {9, 0, 33}, ry, kFloat64, {}).lane_variant);
    device.gram.float64 = false;
    CHECK(!plan_kernel(device, {9, 0, 4}, ry, kFloat32, {}).lane_variant);
}

TEST_CASE("a K beyond one binding is made in panels of whole tiles") {
    const KernelMatrixPlan plan = plan_kernel(device_with(8 * kGiB, std::uint64_t{128} << 20), {20000, 0, 4},
                                              {FeatureMap::ry, 0, false}, kFloat32, {});
    CHECK(!plan.symmetric);
    CHECK(plan.panel_rows == 1664);  // 128 MiB are 1677 rows of 80000 bytes
    const KernelMatrixPlan wide = plan_kernel(device_with(8 * kGiB, std::uint64_t{128} << 20),
                                              {2, 10'000'000, 1}, {FeatureMap::ry, 0, false}, kFloat32, {});
    CHECK(wide.panel_rows == 2);
    CHECK(wide.job_rows == 2);
}

TEST_CASE("the error of a job that does not fit has the numbers") {
    const CircuitFacts ry{FeatureMap::ry, 0, false};
    const KernelMatrixEstimate range = estimate(device_with(80 * kGiB), {1'000'000, 0, 1000}, ry);
    CHECK(!range.streamed_fits);
    CHECK(has_reason(range,
                     "does not fit: the numbers take 8 GB, and one binding of this device holds 4.29 GB"));
    const KernelMatrixEstimate row = estimate(device_with(80 * kGiB), {1, 2'000'000'000, 1}, ry);
    CHECK(has_reason(row, "does not fit"));
    const KernelMatrixEstimate small = estimate(device_with(kGiB / 1024), {20000, 0, 16}, ry);
    CHECK(!small.streamed_fits);
    CHECK(has_reason(small, "of device memory, 891 KB of 1.05 MB may be used"));
    CHECK(estimate(device_with(kGiB), {20000, 0, 16}, ry).streamed_fits);
}

TEST_CASE("jobs of a product are cut to the memory that may be used") {
    const CircuitFacts ry{FeatureMap::ry, 0, false};
    KernelMatrixDevice device = device_with(2 * kGiB);
    const KernelMatrixOptions tenth{.vram_fraction = 0.09};
    for (const bool host_counts : {false, true}) {
        device.host_counts = host_counts;
        device.job_copies = host_counts ? 2 : 1;
        const KernelMatrixEstimate e = estimate(device, {5000, 0, 4}, ry, kFloat32, tenth);
        CHECK(e.streamed_fits);
        CHECK(e.streamed_bytes <= e.available_bytes);
        // A job in each of three slots.
        const KernelMatrixPlan plan = plan_kernel(device, {5000, 0, 4}, ry, kFloat32, tenth);
        CHECK(e.streamed_bytes >= 3 * device.job_copies * plan.job_rows * 5000 * 4);
    }
    // If the engine copies nothing, there are only the numbers of the samples, and slots.
    device.job_copies = 0;
    CHECK(estimate(device, {3000, 0, 8}, ry).streamed_bytes < std::uint64_t{6} << 20);
    device.limited = true;
    device.budget_bytes = std::uint64_t{8} << 20;
    device.job_copies = 2;
    const KernelMatrixEstimate limited = estimate(device, {3000, 0, 8}, ry);
    CHECK(limited.streamed_fits);
    CHECK(limited.streamed_bytes <= limited.available_bytes);
}

TEST_CASE("states that are requested a few at a time are built once if all of them fit") {
    const CircuitFacts two{FeatureMap::ryrz, 2, true, false, false, true};
    const KernelMatrixEstimate e =
        estimate(device_with(8 * kGiB), {12000, 0, 4}, two, kFloat32, {.state_tile = 1});
    CHECK(e.bulk_states);
    CHECK(e.state_builds == 1);
    CHECK(has_reason(e, "in two tiles each would be made 1.5 times"));
    const KernelMatrixPlan plan =
        plan_kernel(device_with(8 * kGiB), {12000, 0, 4}, two, kFloat32, {.state_tile = 1});
    CHECK(plan.states.tile == 12032);
    CHECK(plan.states.chunk_rows == 64);
}

TEST_CASE("float64 needs a device with float64") {
    CircuitFacts narrow, wide;
    narrow.given = wide.given = wide.given64 = true;
    const auto text = [&](const CircuitFacts& circuit, ElementType type) {
        return weft_test::error_text(Errc::unsupported, [&] {
            plan_kernel(device_with(kGiB, 0xffffffff, false), {4, 0, 2}, circuit, type, {});
        });
    };
    const std::string lacks = "kernel_matrix: the device lacks shaderFloat64 ";
    CHECK(text({}, kFloat64) == lacks + "(got K of float64, need float32)");
    CHECK(text(narrow, kFloat64) == lacks + "(got K of float64, need float32)");
    CHECK(text(wide, kFloat32) == lacks + "(got states of complex128, need complex64)");
}

TEST_CASE("arithmetic is float64 where K or the states are 64 bits wide") {
    const KernelMatrixDevice device = device_with(8 * kGiB);
    CircuitFacts narrow, wide;
    narrow.given = wide.given = wide.given64 = true;
    struct Case {
        CircuitFacts circuit;
        ElementType type;
        bool real64, widened;
        std::uint64_t state_bytes;
    };
    for (const Case& c :
         {Case{narrow, kFloat32, false, false, 8 << 4}, Case{narrow, kFloat64, true, true, 8 << 4},
          Case{wide, kFloat32, true, false, 16 << 4}, Case{wide, kFloat64, true, false, 16 << 4},
          Case{{FeatureMap::ryrz, 2, true}, kFloat32, false, false, 8 << 4},
          Case{{FeatureMap::ryrz, 2, true}, kFloat64, true, false, 16 << 4}}) {
        CAPTURE(c.circuit.given);
        CAPTURE(c.circuit.given64);
        CAPTURE(to_string(c.type));
        const KernelMatrixPlan plan = plan_kernel(device, {100, 0, 4}, c.circuit, c.type, {});
        CHECK(plan.real64 == c.real64);
        CHECK((plan.states.gram.method == GramMethod::fp64) == c.real64);
        CHECK(plan.states.gram.problem.widened == c.widened);
        CHECK((plan.states.gram.source_bytes() << 4) == c.state_bytes);
        CHECK(plan.states.state_bytes == c.state_bytes);
        const KernelMatrixEstimate e = estimate(device, {100, 0, 4}, c.circuit, c.type);
        CHECK(e.float64 == c.real64);
        CHECK(e.error == (c.real64 ? 1e-12 : 2e-6));
        CHECK(has_reason(e, c.real64 ? "float64 arithmetic" : "float32 arithmetic"));
    }
}

TEST_CASE("invalid options, shapes and circuits are refused") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> weights{1, 2, 3}, bad{1, nan, 3, std::numeric_limits<double>::infinity()};
    const KernelMatrixShape shape{3, 0, 2};
    const std::vector<double> finite(4, 0.5);
    const ConstHostArray y(bad);
    std::vector<float> values(4);
    struct Case {
        const char* part;
        std::function<void()> call;
    };
    const std::vector<Case> cases{
        {"state_tile out of range (got 0, need 1 or more, or -1)",
         [] { check_kernel_options({.state_tile = 0}); }},
        {"state_tile out of range (got -2", [] { check_kernel_options({.state_tile = -2}); }},
        {"vram_fraction out of range (got 0.0", [] { check_kernel_options({.vram_fraction = 0}); }},
        {"vram_fraction out of range (got 1.5", [] { check_kernel_options({.vram_fraction = 1.5}); }},
        {"vram_fraction out of range (got nan", [&] { check_kernel_options({.vram_fraction = nan}); }},
        {"jitter out of range (got -1", [] { check_kernel_options({.jitter = -1}); }},
        {"jitter does not apply without normalize (got 0.5, need 0)",
         [] { check_kernel_options({.jitter = 0.5}); }},
        {"jitter does not apply to K of X with Y",
         [] {
             check_options_apply({.normalize = true, .jitter = 0.5}, {3, 2, 2}, KernelMatrixMethod::states);
         }},
        {"no qubits",
         [] {
             check_kernel_shape({3, 0, 0}, false);
         }},
        {"no samples",
         [] {
             check_kernel_shape({0, 0, 2}, false);
         }},
        {"no rows of Y",
         [] {
             check_kernel_shape({3, 0, 2}, true);
         }},
        {"rows of Y without Y (got 4 others",
         [] {
             check_kernel_shape({3, 4, 2}, false);
         }},
        {"K too large",
         [] {
             check_kernel_shape({std::uint64_t{1} << 33, std::uint64_t{1} << 33, 1}, true);
         }},
        {"weights: no whole layers (got 3 numbers, need a multiple of 2",
         [&] { circuit_facts(shape, {.weights = weights}, true); }},
        {"weights: row 0 column 1 is not a number, row 1 column 1 is infinite (got 2 such values",
         [&] { circuit_facts(shape, {.weights = bad}, true); }},
        {"scale is not a number", [&] { circuit_facts(shape, {.scale = nan}, true); }},
        {"no such map (got 7", [&] { circuit_facts(shape, {.map = static_cast<FeatureMap>(7)}, true); }},
        {"weights are of type int64 (got int64, need float32 or float64)",
         [&] {
             circuit_facts(shape, {.weights = std::vector<std::int64_t>{1, 2}}, true);
         }},
        {"states are of type float32 (got float32, need complex64 or complex128)",
         [] { state_facts(kFloat32, true); }},
        {"x is of type complex64 (got complex64, need float32 or float64)",
         [&] {
             check_features({6, kComplex64}, {}, {9, kFloat32}, shape, {});
         }},
        {"k is of type int64 (got int64, need float32 or float64)",
         [&] {
             check_states({12, kComplex64}, {}, {9, kInt64}, shape, {});
         }},
        {"BatchOptions::path does not apply (got host, need automatic)",
         [] { host_options({.batch = {.path = Path::host}}, true); }},
        {"BatchOptions::stage_times does not apply (got on, need automatic or off)",
         [] {
             KernelMatrixHostOptions timed;
             timed.batch.stage_times = Choice::on;
             host_options(timed, false);
         }},
        {"KernelMatrixOptions::autotune does not apply to CUDA (got on, need automatic or off)",
         [] { check_no_autotune({.autotune = Choice::on}); }},
        {"x: row 1 column 0 is too large for the scale",
         [&] {
             const std::vector<double> x{0, 0, 1e300, 0};
             check_host_features(x, nullptr, values, {2, 0, 2}, 1e10, 4);
         }},
        {"y: row 0 column 1 is not a number, row 1 column 1 is infinite",
         [&] {
             check_host_features(finite, &y, values, {2, 2, 2}, 1, 1);
         }},
        {"no such map (got rx, need ry or ryrz)", [] { feature_map("rx"); }},
    };
    for (const Case& c : cases) {
        INFO("expected: " << std::string(c.part));
        CHECK(weft_test::error_text(Errc::invalid_argument, c.call).find(c.part) != std::string::npos);
    }
    CHECK(circuit_facts({3, 0, 3}, {.weights = weights}, true).layers == 1);
    CHECK(feature_map("RyRz") == FeatureMap::ryrz);
}

TEST_CASE("faults are found in the part of every thread") {
    std::vector<float> x(std::size_t{1} << 20, 0.5f);
    x[900001] = std::numeric_limits<float>::infinity();
    std::vector<float> k(1);
    const std::string text = weft_test::error_text(Errc::invalid_argument, [&] {
        check_host_features(x, nullptr, k, {std::uint64_t{1} << 18, 0, 4}, 1, 8);
    });
    CHECK(text.find("x: row 225000 column 1 is infinite (got 1 such values, need 0)") != std::string::npos);
}

TEST_CASE("rows that are refused are listed, each once") {
    const auto rows_of = [](const auto& call) {
        try {
            call();
        } catch (const weft::EncodeError& error) {
            return error.failures();
        }
        return std::vector<weft::EncodeFailure>{};
    };
    std::vector<float> k(1);
    std::vector<double> x(std::size_t{1} << 20, 0.5);  // rows of 4
    x[5] = x[7] = std::numeric_limits<double>::quiet_NaN();
    x[400'001] = x[400'002] = 1e300;
    for (const std::uint32_t threads : {1u, 7u}) {
        const auto rows = rows_of([&] {
            check_host_features(x, nullptr, k, {std::uint64_t{1} << 18, 0, 4}, 1e10, threads);
        });
        REQUIRE(rows.size() == 2);
        CHECK(rows[0].sample == 1);
        CHECK(rows[0].position == 1);
        CHECK(rows[0].fault == weft::EncodeFault::not_a_number);
        CHECK(rows[1].sample == 100'000);
        CHECK(rows[1].position == 1);
        CHECK(rows[1].fault == weft::EncodeFault::out_of_range);
    }
    std::vector<weft::c32> states(3 * 2, weft::c32(1));
    states[2] = states[5] = weft::c32(1e10f);
    const auto large = rows_of([&] { check_host_states(states, nullptr, k, {3, 0, 1}, 1); });
    REQUIRE(large.size() == 2);
    CHECK(large[0].sample == 1);
    CHECK(large[1].sample == 2);
    CHECK(large[1].fault == weft::EncodeFault::out_of_range);
}

TEST_CASE("passes over states: every bit gets its gates once, and blocks have neighbouring amplitudes") {
    CHECK(state_passes(1, 12) == std::vector<StatePass>{{4, 0, 0, 0, true}});
    CHECK(state_passes(12, 12) == std::vector<StatePass>{{12, 0, 0, 0, true}});
    CHECK(state_passes(13, 12) == std::vector<StatePass>{{12, 0, 0, 0, true}, {8, 4, 9, 12, false}});
    CHECK(state_passes(16, 12) == std::vector<StatePass>{{12, 0, 0, 0, true}, {8, 4, 12, 12, false}});
    for (std::uint32_t window = 8; window <= 12; ++window)
        for (std::uint32_t qubits = 1; qubits <= 30; ++qubits) {
            CAPTURE(window);
            CAPTURE(qubits);
            std::uint32_t done = 0;
            for (const StatePass& pass : state_passes(qubits, window)) {
                CHECK(pass.ring == (done == 0));
                CHECK(pass.window <= window);
                CHECK(pass.window >= pass.carried + 4);
                CHECK(pass.gates_from == done);
                CHECK(pass.from <= done);
                CHECK(pass.from >= pass.carried);
                done = pass.from + pass.window - pass.carried;
                CHECK(done <= std::max(qubits, 4u));
            }
            CHECK(done >= qubits);
        }
}

TEST_CASE("states: workgroups fit shared memory, buffers and tiles fit the memory that may be used") {
    const CircuitFacts deep{FeatureMap::ryrz, 3, true, false, false, true};
    for (const std::uint32_t shared : {16384u, 32768u, 49152u}) {
        KernelMatrixDevice device = device_with(80 * kGiB);
        device.gram.limits.max_shared_memory_bytes = shared;
        for (const ElementType type : {kFloat32, kFloat64}) {
            const KernelMatrixPlan plan = plan_kernel(device, {1000, 0, 16}, deep, type, {});
            CHECK(shared_bytes_of_states(plan.states.most_lanes, plan.real_bytes()) <= shared);
            CHECK(plan.states.two_buffers);
            CHECK(plan.states.bulk);
        }
    }
    CHECK(!plan_kernel(device_with(80 * kGiB), {1000, 0, 10}, deep, kFloat32, {}).states.two_buffers);

    // 20000 states of 16 qubits are 10.5 GB.
    const KernelMatrixShape shape{20000, 0, 16};
    const CircuitFacts two{FeatureMap::ryrz, 2, true, false, false, true};
    const KernelMatrixEstimate large = estimate(device_with(80 * kGiB), shape, two);
    CHECK(large.bulk_states);
    CHECK(large.streamed_fits);
    CHECK(large.states_bytes == std::uint64_t{20032} * 65536 * 8);
    const KernelMatrixEstimate small = estimate(device_with(8 * kGiB), shape, two);
    CHECK(!small.bulk_states);
    CHECK(small.streamed_fits);
    CHECK(small.state_tile == 4096);
    CHECK(has_reason(
        small, "tiles of 4096 states: all would take 10.5 GB; each is made 3 times, with bulk states once"));
    const KernelMatrixEstimate forced =
        estimate(device_with(8 * kGiB), shape, two, kFloat32, {.bulk_states = Choice::on});
    CHECK(!forced.streamed_fits);
    CHECK(has_reason(forced, "does not fit: needs"));
    const KernelMatrixEstimate asked = estimate(device_with(80 * kGiB), shape, two, kFloat32,
                                                {.state_tile = 100, .bulk_states = Choice::off});
    CHECK(asked.state_tile == 128);
    CHECK(!asked.bulk_states);
    CHECK(has_reason(asked, "bulk states are off"));
}

TEST_CASE("states beyond what a device can bind do not fit, whatever its memory") {
    const CircuitFacts two{FeatureMap::ryrz, 2, true, false, false, true};
    for (const std::uint32_t qubits : {24u, 28u, 30u, 31u, 40u}) {
        CAPTURE(qubits);
        const KernelMatrixEstimate e = estimate(device_with(1000 * kGiB), {10, 0, qubits}, two);
        CHECK(!e.streamed_fits);
        CHECK(!e.resident_fits);
        CHECK(e.reasons.back().find("does not fit: ") == 0);
        CHECK(e.reasons.back().find("plan_gram") == std::string::npos);
    }
}

TEST_CASE("the pass that finishes states packs them if a workgroup holds rows for whole sectors") {
    struct Device {
        const char* name;
        bool matrix, software, packs_apart;
    };
    struct Case {
        Device device;
        ElementType type;
        std::uint32_t qubits;
        bool fused;
    };
    constexpr Device kUnits{"matrix units", true, false, false},
        kPlain{"no matrix units", false, false, false}, kSoftware{"software", false, true, false},
        kApart{"packs apart", true, false, true};
    for (const Case& c : std::vector<Case>{{kUnits, kFloat32, 1, true},
                                           {kUnits, kFloat32, 12, true},
                                           {kUnits, kFloat32, 20, true},
                                           {kUnits, kFloat64, 10, false},
                                           {kPlain, kFloat32, 4, true},
                                           {kPlain, kFloat32, 9, true},
                                           {kPlain, kFloat32, 10, false},
                                           {kPlain, kFloat32, 12, false},
                                           {kPlain, kFloat32, 13, true},
                                           {kPlain, kFloat32, 17, true},
                                           {kPlain, kFloat32, 18, false},
                                           {kPlain, kFloat64, 9, true},
                                           {kPlain, kFloat64, 10, false},
                                           {kPlain, kFloat64, 12, true},
                                           {kSoftware, kFloat32, 12, true},
                                           {kSoftware, kFloat64, 11, true},
                                           {kApart, kFloat32, 8, false}}) {
        CAPTURE(std::string(c.device.name));
        CAPTURE(c.qubits);
        KernelMatrixDevice device = device_with(80 * kGiB);
        device.gram.matrix_khr = device.gram.matrix_exact = c.device.matrix;
        device.gram.software = c.device.software;
        device.packs_apart = c.device.packs_apart;
        const CircuitFacts two{FeatureMap::ryrz, 2, true, false, false, true};
        const KernelMatrixShape shape{1000, 0, c.qubits};
        const KernelMatrixPlan plan = plan_kernel(device, shape, two, c.type, {});
        CHECK(plan.states.fused == c.fused);
        CHECK(plan.states.turned == !c.device.software);
        // There are sums of squares of every block of the last pass, for float32 only.
        const bool norms = c.fused && c.type == kFloat32;
        CHECK((plan.states.squares != 0) == norms);
        const std::uint32_t window = plan.states.passes.back().window;
        if (norms) CHECK((plan.states.squares << window) == std::max(16u, 1u << c.qubits));
        CHECK(has_reason(estimate(device, shape, two, c.type),
                         c.fused ? "the last pass packs states" : "packed by a pass of their own"));
    }
}

TEST_CASE("states that are packed directly take no other memory") {
    KernelMatrixDevice device = device_with(80 * kGiB);
    device.gram.matrix_khr = device.gram.matrix_exact = true;
    const auto plan = [&](std::uint32_t qubits, std::uint32_t layers) {
        return plan_kernel(device, {4000, 0, qubits}, {FeatureMap::ryrz, layers, true}, kFloat32, {});
    };
    const KernelMatrixPlan once = plan(12, 2);
    CHECK(built_bytes(once) == 0);
    CHECK(states_memory(once, device, false) == once.states.gram.packed_bytes(4000) +
                                                    once.planes_values() * 4 + 4000 * 4 + 4032 * 4 +
                                                    2 * 12 * 2 * 4);  // weights
    CHECK(built_bytes(plan(12, 3)) == 4032 * (std::uint64_t{8} << 12));
    const KernelMatrixPlan deep = plan(16, 3);
    CHECK(built_bytes(deep) == 2 * deep.states.chunk_rows * (std::uint64_t{8} << 16));
    CircuitFacts given;
    given.given = true;
    CHECK(!plan_kernel(device, {4000, 0, 8}, given, kFloat32, {}).states.fused);
}

TEST_CASE(
    "K of float32 circuits is divided by the norms of states when it is stored, unless a pass does it") {
    const CircuitFacts circuit{FeatureMap::ry, 2, true};
    const auto scaled = [&](const CircuitFacts& facts, ElementType type, bool normalize) {
        return plan_kernel(device_with(80 * kGiB), {100, 0, 8}, facts, type, {.normalize = normalize})
            .states.gram.problem.scaled;
    };
    CircuitFacts given;
    given.given = true;
    CHECK(scaled(circuit, kFloat32, false));
    CHECK(!scaled(circuit, kFloat32, true));
    CHECK(!scaled(circuit, kFloat64, false));
    CHECK(!scaled(given, kFloat32, false));
}

TEST_CASE("norms of float32 states of circuits are computed") {
    const KernelMatrixDevice device = device_with(80 * kGiB);
    const auto plan = [&](const CircuitFacts& circuit, ElementType type) {
        return plan_kernel(device, {100, 0, 8}, circuit, type, {}).states.renormalize;
    };
    const CircuitFacts two{FeatureMap::ry, 2, true};
    CircuitFacts given;
    given.given = true;
    CHECK(plan(two, kFloat32));
    CHECK(!plan(two, kFloat64));
    CHECK(!plan(given, kFloat32));
}
