// SPDX-License-Identifier: Apache-2.0
// The kernels, sizes and memory of an encode on devices of all kinds, and refused calls.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/error.hpp>

#include "ops/encode/encode_check.hpp"
#include "ops/encode/encode_footprint.hpp"
#include "ops/encode/encode_plan.hpp"

namespace {

using namespace weft;
using namespace weft::kernels;

DeviceInfo device_with(std::uint64_t range, std::uint32_t shared, bool float64 = true) {
    DeviceInfo device;
    device.name = "device of a test";
    device.shader_float64 = float64;
    device.device_memory_bytes = std::uint64_t{8} << 30;
    device.limits.max_storage_buffer_range = range;
    device.limits.max_buffer_bytes = std::uint64_t{4} << 30;
    device.limits.storage_buffer_offset_alignment = 64;
    device.limits.max_workgroup_count[0] = 65535;
    device.limits.max_workgroup_size[0] = 1024;
    device.limits.max_workgroup_invocations = 1024;
    device.limits.max_shared_memory_bytes = shared;
    return device;
}

constexpr std::uint64_t kSmallRange = std::uint64_t{128} << 20, kLargeRange = 0xffffffff;
constexpr EncodeTypes kNarrow{kFloat32, kComplex64};
constexpr EncodeTypes kMixed{kFloat64, kComplex64};
constexpr EncodeTypes kWide{kFloat64, kComplex128};

EncodePlan plan(const DeviceInfo& device, EncodeMethod method, EncodeTypes types, std::uint32_t qubits,
                bool streamed = false) {
    return plan_encode(device, method, types, {4, qubits}, encode_features(method, qubits), streamed);
}

}  // namespace

TEST_CASE("encode plan: for many amplitudes the qubits of iqp are a constant of the shader") {
    const DeviceInfo device = device_with(kLargeRange, 49152);
    for (const auto& [method, qubits, samples, fixed] :
         {std::tuple{EncodeMethod::iqp, 5u, std::uint64_t{1} << 17, 5u},
          {EncodeMethod::iqp, 5u, (std::uint64_t{1} << 17) - 1, 0u},
          {EncodeMethod::iqp, 16u, std::uint64_t{64}, 16u},
          {EncodeMethod::iqp, 16u, std::uint64_t{63}, 0u},
          {EncodeMethod::angle, 16u, std::uint64_t{1000}, 0u}}) {
        CAPTURE(qubits);
        CAPTURE(samples);
        CHECK(plan_encode(device, method, kNarrow, {samples, qubits}, encode_features(method, qubits), false)
                  .fixed_qubits == fixed);
    }
}

TEST_CASE("encode plan: slabs of iqp by shared memory and type, passes cover every bit") {
    struct Row {
        std::uint32_t shared;
        EncodeTypes types;
        std::uint32_t qubits, slab;
    };
    for (const Row& row :
         {Row{32768, kNarrow, 7, 10}, Row{32768, kNarrow, 12, 12}, Row{32768, kNarrow, 13, 12},
          Row{32768, kNarrow, 16, 12}, Row{49152, kNarrow, 13, 13}, Row{49152, kNarrow, 16, 12},
          Row{49152, kNarrow, 17, 12}, Row{49152, kNarrow, 21, 13}, Row{32768, kWide, 11, 11},
          Row{32768, kWide, 12, 11}, Row{49152, kWide, 12, 12}, Row{16384, kWide, 16, 10}}) {
        CAPTURE(row.shared);
        CAPTURE(row.qubits);
        const EncodePlan p =
            plan(device_with(kLargeRange, row.shared), EncodeMethod::iqp, row.types, row.qubits);
        CHECK(p.kernel == EncodeKernel::iqp);
        CHECK(p.slab_bits == row.slab);
        CHECK(p.local_size == 1u << (row.slab - 4));
        std::uint32_t bits = p.element_bits;
        for (const EncodePass& pass : p.passes) {
            CHECK(pass.bits >= 1);
            CHECK(pass.bits <= 4);
            bits += pass.bits;
        }
        CHECK(bits == row.qubits);
        CHECK(p.single_dispatch() == p.passes.empty());
    }
    CHECK(plan(device_with(kLargeRange, 32768), EncodeMethod::iqp, kNarrow, 6).kernel ==
          EncodeKernel::iqp_direct);
}

TEST_CASE("encode plan: workgroups of product states fit the shader's tables") {
    DeviceInfo device = device_with(kLargeRange, 49152);
    for (const std::uint32_t most_lanes : {64u, 128u, 1024u})
        for (std::uint32_t qubits = 1; qubits <= 30; ++qubits)
            for (const EncodeTypes types : {kMixed, kWide}) {
                device.limits.max_workgroup_invocations = most_lanes;
                CAPTURE(most_lanes);
                CAPTURE(qubits);
                const EncodePlan p = plan(device, EncodeMethod::phase, types, qubits);
                const std::uint32_t pair = types.states == kComplex64 ? 2 : 1;
                const std::uint32_t row = 1u << p.element_bits;
                CHECK(p.rows_per_workgroup * row == 1u << p.slab_bits);
                CHECK(p.rows_per_workgroup <= p.local_size);
                CHECK(p.rows_per_workgroup * qubits <= 256);
                // The invocations of a row have equal numbers of stores.
                CHECK(row / pair % (p.local_size / p.rows_per_workgroup) == 0);
                CHECK((1u << p.slab_bits) / pair / p.local_size * p.rows_per_workgroup <= 512);
            }
    CHECK(plan(device, EncodeMethod::angle, kMixed, 8).rows_per_workgroup == 16);
}

TEST_CASE("encode plan: whole slabs of a GPU share no products of factors") {
    DeviceInfo device = device_with(kLargeRange, 49152);
    device.type = DeviceType::discrete;
    CHECK(plan(device, EncodeMethod::phase, kNarrow, 12).alone);
    CHECK(plan(device, EncodeMethod::iqp_z, kWide, 20, true).alone);
    CHECK_FALSE(plan(device, EncodeMethod::phase, kNarrow, 11).alone);  // two states a workgroup
    CHECK_FALSE(plan(device, EncodeMethod::iqp, kNarrow, 16).alone);
    device.type = DeviceType::cpu;
    CHECK_FALSE(plan(device, EncodeMethod::phase, kNarrow, 12).alone);
}

TEST_CASE("encode plan: software devices make elements by lanes, as many as a vector has") {
    DeviceInfo device = device_with(kSmallRange, 32768);
    device.type = DeviceType::cpu;
    for (const auto& [subgroup, lanes] : {std::pair{0u, 8u}, {4u, 8u}, {8u, 8u}, {16u, 16u}, {256u, 64u}})
        for (const EncodeMethod method : {EncodeMethod::amplitude, EncodeMethod::angle, EncodeMethod::phase,
                                          EncodeMethod::iqp_z, EncodeMethod::basis})
            for (std::uint32_t qubits = 1; qubits <= 26; ++qubits) {
                CAPTURE(weft::to_string(method));
                CAPTURE(qubits);
                device.limits.subgroup_size = subgroup;
                const EncodePlan p = plan(device, method, kMixed, qubits);
                const bool amplitude = method == EncodeMethod::amplitude;
                CHECK(p.lanes == (qubits >= 4 && (!amplitude || qubits <= 16)));
                if (!p.lanes) continue;
                CHECK(p.single_dispatch());
                CHECK(p.local_size == lanes);
                CHECK(p.rows_per_workgroup == lanes);
                CHECK(p.element_bits == (amplitude ? qubits : std::min(qubits, 10u)));
                CHECK(p.parameter_bits() == p.slab_bits);
            }
    CHECK_FALSE(plan(device, EncodeMethod::iqp, kNarrow, 8).lanes);
    device.shader_float64 = false;
    CHECK_FALSE(plan(device, EncodeMethod::angle, kNarrow, 8).lanes);
    CHECK_FALSE(plan(device, EncodeMethod::amplitude, kNarrow, 8).lanes);
    device.shader_float64 = true;
    for (const DeviceType type : {DeviceType::discrete, DeviceType::integrated, DeviceType::virtual_gpu}) {
        device.type = type;
        CHECK_FALSE(plan(device, EncodeMethod::angle, kNarrow, 8).lanes);
        CHECK_FALSE(plan(device, EncodeMethod::basis, kNarrow, 8).lanes);
        CHECK_FALSE(plan(device, EncodeMethod::amplitude, kNarrow, 8).lanes);
    }
}

TEST_CASE("encode plan: states that do not fit a binding are made in windows") {
    const DeviceInfo device = device_with(kSmallRange, 32768);
    CHECK(plan(device, EncodeMethod::phase, kNarrow, 23).row_fits());
    CHECK_FALSE(plan(device, EncodeMethod::phase, kNarrow, 24).row_fits());
    CHECK_FALSE(plan(device, EncodeMethod::phase, kWide, 23).row_fits());
    CHECK(plan(device, EncodeMethod::phase, kNarrow, 30).single_dispatch());
    const EncodePlan iqp = plan(device, EncodeMethod::iqp, kNarrow, 26);
    std::uint32_t bits = iqp.element_bits;
    for (const EncodePass& pass : iqp.passes) bits += pass.bits;
    CHECK(bits == iqp.window_bits);
    CHECK(plan(device_with(kLargeRange, 49152), EncodeMethod::phase, kNarrow, 28).row_fits());
}

TEST_CASE("encode plan: amplitude rows by teams, by workgroups that share them, or by blocks") {
    DeviceInfo device = device_with(kLargeRange, 49152);
    const auto kernel = [&](std::uint32_t qubits) {
        return plan(device, EncodeMethod::amplitude, kMixed, qubits).kernel;
    };
    for (const std::uint32_t qubits : {1u, 4u, 9u, 12u, 14u}) {
        CAPTURE(qubits);
        const EncodePlan p = plan(device, EncodeMethod::amplitude, kMixed, qubits);
        CHECK(p.kernel == EncodeKernel::amplitude);
        CHECK(2 * p.kept_pairs * p.team_size == 1u << qubits);
        CHECK(p.rows_per_workgroup * p.team_size == p.local_size);
    }
    CHECK(kernel(17) == EncodeKernel::amplitude_shared);
    CHECK(kernel(18) == EncodeKernel::amplitude_long);
    device.type = DeviceType::cpu;
    CHECK(kernel(17) == EncodeKernel::amplitude_long);
    device.type = DeviceType::discrete;
    CHECK(kernel(14) == EncodeKernel::amplitude);
    CHECK(kernel(15) == EncodeKernel::amplitude_shared);
    CHECK(kernel(20) == EncodeKernel::amplitude_shared);
    CHECK(kernel(21) == EncodeKernel::amplitude_long);
    CHECK(plan(device, EncodeMethod::amplitude, kMixed, 20).norm_blocks() == 64);
    device.limits.max_workgroup_invocations = 128;
    CHECK(kernel(11) == EncodeKernel::amplitude);
    const EncodePlan small = plan(device, EncodeMethod::amplitude, kMixed, 12);
    CHECK(small.kernel == EncodeKernel::amplitude_shared);
    CHECK(small.task_bits == 12);
    CHECK(2 * small.kept_pairs * small.local_size == 1u << 12);
}

TEST_CASE("encode plan: shared rows are joined by shuffles if subgroups are full and their size is known") {
    DeviceInfo able = device_with(kLargeRange, 49152);
    able.type = DeviceType::discrete;
    able.subgroup_shuffles = able.full_subgroups = able.subgroup_size_control = true;
    const auto subgroup = [](const DeviceInfo& device, std::uint32_t qubits = 16) {
        return plan(device, EncodeMethod::amplitude, kMixed, qubits).subgroup_size;
    };
    for (const auto& [size, want] :
         {std::pair{32u, 32u}, {64u, 64u}, {8u, 8u}, {128u, 128u}, {256u, 0u}, {1u, 0u}, {0u, 0u}}) {
        CAPTURE(size);
        able.limits.subgroup_size = size;
        CHECK(subgroup(able) == want);
    }
    able.limits.subgroup_size = 32;
    CHECK(subgroup(able, 10) == 0);
    CHECK(subgroup(able, 22) == 0);
    for (bool DeviceInfo::*const fact :
         {&DeviceInfo::subgroup_shuffles, &DeviceInfo::full_subgroups, &DeviceInfo::subgroup_size_control}) {
        DeviceInfo lacking = able;
        lacking.*fact = false;
        CHECK(subgroup(lacking) == 0);
    }
}

TEST_CASE("encode plan: a state has the same passes whether streamed or resident") {
    DeviceInfo device = device_with(kLargeRange, 49152);
    device.type = DeviceType::discrete;
    for (const std::uint32_t qubits : {14u, 16u, 17u, 21u, 22u}) {
        CAPTURE(qubits);
        const EncodePlan resident = plan(device, EncodeMethod::iqp, kMixed, qubits);
        const EncodePlan streamed = plan(device, EncodeMethod::iqp, kMixed, qubits, true);
        CHECK(resident.kernel == EncodeKernel::iqp);
        CHECK(resident.slab_bits == streamed.slab_bits);
        CHECK(streamed.kernel == (qubits <= 21 ? EncodeKernel::iqp_tasks : EncodeKernel::iqp));
        if (qubits <= 21) CHECK(streamed.single_dispatch());
    }
    device.type = DeviceType::cpu;
    CHECK(plan(device, EncodeMethod::iqp, kMixed, 16, true).kernel == EncodeKernel::iqp);
}

TEST_CASE("encode plan: arithmetic follows the types and the device") {
    CHECK_FALSE(plan(device_with(kLargeRange, 49152), EncodeMethod::angle, kNarrow, 4).real64);
    CHECK(plan(device_with(kLargeRange, 49152), EncodeMethod::angle, kMixed, 4).real64);
    for (const bool streamed : {false, true}) {
        CHECK(plan(device_with(kLargeRange, 49152), EncodeMethod::iqp, kMixed, 12, streamed).real64);
        CHECK_FALSE(plan(device_with(kLargeRange, 49152), EncodeMethod::iqp, kMixed, 13, streamed).real64);
        CHECK_FALSE(plan(device_with(kLargeRange, 32768), EncodeMethod::iqp, kMixed, 12, streamed).real64);
        CHECK(plan(device_with(kLargeRange, 49152), EncodeMethod::iqp, kWide, 16, streamed).real64);
    }
    const DeviceInfo without = device_with(kLargeRange, 49152, false);
    CHECK_FALSE(plan(without, EncodeMethod::angle, kMixed, 4).real64);
    try {
        plan(without, EncodeMethod::angle, kWide, 4);
        FAIL_CHECK("nothing was thrown");
    } catch (const Error& error) {
        CHECK(error.code() == Errc::unsupported);
        CHECK(std::string(error.what()) ==
              "encode: complex128 states need shaderFloat64 (got device of a test without it, need complex64 "
              "states)");
    }
}

TEST_CASE("encode plan: estimates report whether a call fits") {
    const DeviceInfo device = device_with(kLargeRange, 49152);
    const std::uint64_t gib = std::uint64_t{1} << 30;
    const auto fits = [&](EncodeMethod method, StateShape shape, EncodeTypes types) {
        return estimate(device, {.available = 8 * gib}, method, types, shape,
                        encode_features(method, shape.qubits));
    };
    const EncodeEstimate batch = fits(EncodeMethod::amplitude, {64, 16}, kMixed);
    CHECK(batch.resident_fits);
    CHECK(batch.streamed_bytes <= 5 * batch.bytes_in);  // twice both, with staging
    const EncodeEstimate many = fits(EncodeMethod::amplitude, {1 << 20, 16}, kMixed);
    CHECK_FALSE(many.resident_fits);
    CHECK(many.streamed_fits);
    CHECK(many.reason.find("larger than a buffer") != std::string::npos);
    const EncodeEstimate large = fits(EncodeMethod::iqp, {1, 30}, kWide);
    CHECK(large.bytes_out == 16 * gib);
    CHECK_FALSE(large.streamed_fits);
    CHECK(fits(EncodeMethod::phase, {1, 30}, kWide).streamed_fits);
}

TEST_CASE(
    "encode plan: rounds shrink to the available memory, down to a minimum, and the estimate with them") {
    DeviceInfo device = device_with(kLargeRange, 49152);
    device.type = DeviceType::cpu;
    for (const bool unified : {false, true})
        for (const auto& [method, qubits, samples] : {std::tuple{EncodeMethod::amplitude, 17u, 500u},
                                                      {EncodeMethod::amplitude, 26u, 2u},
                                                      {EncodeMethod::iqp, 16u, 500u},
                                                      {EncodeMethod::iqp, 14u, 3u}}) {
            CAPTURE(unified);
            CAPTURE(weft::to_string(method));
            CAPTURE(qubits);
            device.unified_memory = unified;
            const StateShape shape{samples, qubits};
            const std::uint64_t features = encode_features(method, qubits);
            const EncodePlan p = plan_encode(device, method, kMixed, shape, features, true);
            REQUIRE_FALSE(p.single_dispatch());
            const std::uint64_t usual = rounds_bytes(p, device, usual_rounds(p, device, 0)),
                                least = least_bytes(p, device, true);
            CHECK(least <= usual);
            for (std::uint64_t room = 2 * usual; room > least / 2; room -= room / 8) {
                const EncodeRounds rounds = fit_rounds(p, device, 0, room);
                const EncodeEstimate e =
                    estimate(device, {.available = room}, method, kMixed, shape, features);
                CHECK(e.streamed_bytes == rounds_bytes(p, device, rounds));
                CHECK(e.streamed_fits == (room >= least));
                CHECK((e.streamed_bytes <= room) == e.streamed_fits);
                if (!e.streamed_fits) CHECK(e.reason.find(std::to_string(least)) != std::string::npos);
                if (rounds.kind == EncodeRounds::Kind::rows) CHECK(rounds.rows >= 1);
            }
        }
}

TEST_CASE("encode check: faults of host values by sample and position, with and without threads") {
    std::vector<float> values(1 << 20, 1.0f);
    values[3 * 1024 + 7] = std::numeric_limits<float>::quiet_NaN();
    values[3 * 1024 + 9] = std::numeric_limits<float>::infinity();
    for (int i = 0; i < 1024; ++i)
        values[900 * 1024 + static_cast<std::size_t>(i)] = i % 2 == 0 ? 0.0f : -0.0f;
    for (const std::uint32_t threads : {1u, 4u}) {
        const auto faults = find_faults(EncodeMethod::amplitude, 10, 1024, ConstHostArray(values), threads);
        REQUIRE(faults.size() == 2);
        CHECK(faults[0].sample == 3);
        CHECK(faults[0].position == 7);
        CHECK(faults[0].fault == EncodeFault::not_a_number);
        CHECK(faults[1].sample == 900);
        CHECK(faults[1].fault == EncodeFault::zero_norm);
    }
}

TEST_CASE("encode check: words of status, several elements a sample") {
    std::vector<EncodeFailure> failures;
    const std::vector<std::uint32_t> status{0, 0, 0, 0, 2, 5, 2, 5, 1, 0, 0, 0};
    append_failures(failures, status, 1, 10);
    REQUIRE(failures.size() == 2);
    CHECK(failures[0].sample == 11);
    CHECK(failures[0].position == 5);
    CHECK(failures[1].sample == 12);
}
