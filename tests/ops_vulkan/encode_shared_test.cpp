// SPDX-License-Identifier: Apache-2.0
// Amplitude rows that workgroups share, with fewer workgroups than a row has blocks: after some tries, all
// blocks but the last one of a row are left to the workgroup of the last one. Sums are joined by shuffles if
// the device has them, and through shared memory alone.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "ops/encode/encode_plan.hpp"
#include "ops_vulkan/encode/encode_steps.hpp"
#include "support/gpu_fixture.hpp"
#include "support/shared_rows.hpp"

namespace {

using namespace weft::kernels;
using namespace weft_test;
using weft::c32;
using weft::c64;
using weft::DeviceType;

template <class Amplitude>
struct Result {
    std::vector<Amplitude> states;
    std::vector<std::uint32_t> status;
};

template <class Value, class Amplitude>
Result<Amplitude> encode_with(weft::Backend& backend, EncodePlan plan, std::uint32_t max_workgroups,
                              const std::vector<double>& values) {
    plan.max_workgroups = max_workgroups;
    const std::vector<Value> input(values.begin(), values.end());
    weft::Buffer<Value> in(backend, input.size());
    weft::Buffer<Amplitude> out(backend, kSharedRows << kSharedQubits);
    weft::Buffer<std::uint32_t> status(backend, 2 * kSharedRows);
    weft::Stream stream(backend);
    stream.upload(input, in);
    stream.fill(out.view(), 0x40400000u);
    const EncodeScratch scratch(stream, plan);
    encode_resident(stream, plan, scratch, in, out, status.view(), false);
    return {stream.download(out), stream.download(status)};
}

template <class Value, class Amplitude>
void check_plan(weft::Backend& backend, const EncodePlan& plan, const std::vector<double>& values) {
    CAPTURE(plan.features);
    CAPTURE(plan.subgroup_size);
    const auto all = encode_with<Value, Amplitude>(backend, plan, plan.max_workgroups, values);
    check_shared_rows<Value>(values, plan.features, all.states, all.status);
    for (const std::uint32_t workgroups : {1u, 3u, 13u}) {
        CAPTURE(workgroups);
        const auto few = encode_with<Value, Amplitude>(backend, plan, workgroups, values);
        CHECK(few.status == all.status);
        CHECK(std::memcmp(few.states.data(), all.states.data(), all.states.size() * sizeof(Amplitude)) == 0);
    }
}

template <class Value, class Amplitude>
void check_types(weft::Backend& backend, weft::EncodeTypes types, double large) {
    weft::DeviceInfo device = backend.device();
    // On a software device the plan never shares rows, because it runs few workgroups, but the shader works
    // there.
    if (device.type == DeviceType::cpu) device.type = DeviceType::integrated;
    for (const std::uint64_t features : {std::uint64_t{1} << kSharedQubits, std::uint64_t{50001}}) {
        EncodePlan plan = plan_encode(device, weft::EncodeMethod::amplitude, types,
                                      {kSharedRows, kSharedQubits}, features, false);
        REQUIRE(plan.kernel == EncodeKernel::amplitude_shared);
        const std::vector<double> values = shared_rows(features, large);
        if (plan.subgroup_size != 0)
            check_plan<Value, Amplitude>(backend, plan, values);
        else
            MESSAGE("without shuffles: the device has none");
        plan.subgroup_size = 0;
        check_plan<Value, Amplitude>(backend, plan, values);
    }
}

}  // namespace

TEST_CASE("encode amplitude: blocks that were left are done by the last workgroup of their row") {
    weft_test::on_device([](weft::Backend& backend) {
        using weft::ElementType, weft::ElementType;
        check_types<double, c32>(backend, {weft::kFloat64, weft::kComplex64}, 1e200);
        check_types<float, c32>(backend, {weft::kFloat32, weft::kComplex64}, 1e25);
        check_types<double, c64>(backend, {weft::kFloat64, weft::kComplex128}, 1e200);
        check_types<float, c64>(backend, {weft::kFloat32, weft::kComplex128}, 1e25);
    });
}
