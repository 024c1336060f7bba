// SPDX-License-Identifier: Apache-2.0
// What may be asked of subgroups on which device.
#include <algorithm>
#include <array>
#include <string>

#include <doctest/doctest.h>
#include <weft/error.hpp>

#include "plan/spirv/reflection.hpp"
#include "support/snapshots.hpp"

using namespace weft;
using namespace weft::core;
using namespace weft::test;

namespace {

std::string refusal(const DeviceSnapshot& device, const ProgramOptions& options,
                    std::array<std::uint32_t, 3> local_size, Errc code, const Config& config = {}) {
    Reflection reflection;
    reflection.local_size = local_size;
    try {
        check_subgroups(options, reflection, device, plan_device({device}, config, HostFacts{4}), "probe");
        return {};
    } catch (const Error& error) {
        CHECK(error.code() == code);
        return error.what();
    }
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("sizes within the device's range pass, others are refused with the range") {
    const auto check = [](const DeviceSnapshot& device, std::uint32_t size) {
        return refusal(device, {.subgroup_size = size}, {64, 1, 1}, Errc::invalid_argument);
    };
    for (const std::uint32_t size : {0u, 8u, 16u, 32u}) CHECK(check(intel_integrated(), size) == "");
    for (const std::uint32_t size : {1u, 4u, 12u, 24u, 64u, 0x80000000u}) {
        const std::string text = check(intel_integrated(), size);
        CAPTURE(text);
        CHECK(contains(text, "ProgramOptions::subgroup_size (got " + std::to_string(size) +
                                 ", need a power of two from 8 to 32 on device Intel"));
    }
    CHECK(check(lavapipe(), 8) == "");
    CHECK(contains(check(lavapipe(), 32), "from 8 to 8"));
    CHECK(check(amd_full_bar(), 64) == "");
}

TEST_CASE("a device that cannot choose says so by name") {
    DeviceSnapshot device = h100();
    device.subgroup_size_control = false;
    CHECK(contains(refusal(device, {.subgroup_size = 32}, {64, 1, 1}, Errc::unsupported),
                   "ProgramOptions::subgroup_size (got 32, need 0: device NVIDIA H100 80GB HBM3 lacks "
                   "subgroupSizeControl, its size is 32)"));
    device.full_subgroups = false;
    CHECK(contains(refusal(device, {.require_full_subgroups = true}, {64, 1, 1}, Errc::unsupported),
                   "require_full_subgroups: device NVIDIA H100 80GB HBM3 lacks computeFullSubgroups"));
    CHECK(refusal(device, {}, {63, 1, 1}, Errc::unsupported) == "");
}

TEST_CASE("full subgroups need a workgroup that is a multiple along x") {
    const auto check = [](std::uint32_t size, std::array<std::uint32_t, 3> local) {
        return refusal(intel_integrated(), {.subgroup_size = size, .require_full_subgroups = true}, local,
                       Errc::invalid_argument);
    };
    CHECK(check(0, {64, 1, 1}) == "");
    CHECK(check(16, {48, 3, 1}) == "");
    CHECK(contains(check(0, {48, 1, 1}), "along x (got 48, need a multiple of 32)"));
    CHECK(contains(check(16, {8, 2, 1}), "along x (got 8, need a multiple of 16)"));
}

TEST_CASE("a workgroup holds no more subgroups than the device runs at once") {
    const auto check = [](std::array<std::uint32_t, 3> local) {
        return refusal(lavapipe(), {.subgroup_size = 8}, local, Errc::invalid_argument);
    };
    CHECK(check({16, 16, 1}) == "");
    CHECK(contains(check({16, 17, 1}), "subgroups of 8 hold (got 272, need at most 256)"));
}

TEST_CASE("plan: subgroup control comes with Vulkan 1.3 or by the extension") {
    const auto plan = [](const DeviceSnapshot& device, bool only_1_2 = false) {
        Config config;
        config.vulkan_1_2_only = only_1_2;
        return plan_device({device}, config, HostFacts{4});
    };
    DeviceSnapshot device = h100();
    CHECK(plan(device).subgroup_size_control);
    CHECK(plan(device).full_subgroups);
    CHECK_FALSE(plan(device).subgroup_size_extension);
    CHECK(plan(device, true).subgroup_size_control);
    CHECK(plan(device, true).subgroup_size_extension);
    device.subgroup_size_extension = false;
    CHECK(plan(device).subgroup_size_control);
    CHECK_FALSE(plan(device, true).subgroup_size_control);
    CHECK_FALSE(plan(device, true).full_subgroups);
    device = h100();
    device.api_minor = 2;
    CHECK(plan(device).subgroup_size_control);
    CHECK(plan(device).subgroup_size_extension);
    device.subgroup_size_control = false;
    CHECK_FALSE(plan(device).subgroup_size_control);
    CHECK(plan(device).full_subgroups);  // each feature by itself
}

TEST_CASE("subgroup facts reach the public description and the reasons") {
    const DeviceInfo info = describe(intel_integrated(), 0);
    CHECK(info.subgroup_size_control);
    CHECK(info.full_subgroups);
    CHECK(info.limits.min_subgroup_size == 8);
    CHECK(info.limits.max_subgroup_size == 32);
    const DevicePlan plan = plan_device({intel_integrated()}, {}, HostFacts{4});
    CHECK(std::count(plan.reasons.begin(), plan.reasons.end(),
                     "subgroups: 32 invocations, 8 to 32 can be asked for") == 1);
}
