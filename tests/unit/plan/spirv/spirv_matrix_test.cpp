// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include <weft/error.hpp>

#include "plan/spirv/reflection.hpp"
#include "plan/spirv/spirv_matrix.hpp"
#include "support/snapshots.hpp"

using namespace weft;
using namespace weft::core;

namespace {

constexpr std::uint32_t kKhr[] = {
#include "shaders/gram_matrix_split_khr.spv.inc"
};
constexpr std::uint32_t kNv[] = {
#include "shaders/gram_matrix_split_nv.spv.inc"
};
constexpr std::uint32_t kPlain[] = {
#include "shaders/saxpy.spv.inc"
};

const ProgramOptions kOptions{.name = "probe", .constants = {{0u, 128u}, {1u, 2u}, {2u, 2u}, {7u, 128u}}};

}  // namespace

TEST_CASE("modules with matrices of either extension are reflected like others") {
    const struct {
        std::span<const std::uint32_t> words;
        const char* capability;
    } cases[] = {{kKhr, "CooperativeMatrixKHR"}, {kNv, "CooperativeMatrixNV"}};
    for (const auto& c : cases) {
        CAPTURE(c.capability);
        const Reflection reflection = reflect(c.words, kOptions);
        REQUIRE(reflection.bindings.size() == 6);
        for (std::uint32_t i = 0; i < 6; ++i) CHECK(reflection.bindings[i].binding == i);
        CHECK(reflection.bindings[0].access == Access::read);
        CHECK(reflection.bindings[1].access == Access::read);
        // The buffer is written only by stores of matrices.
        CHECK(reflection.bindings[4].access == Access::write);
        CHECK(reflection.bindings[4].name == "Parts");
        CHECK(reflection.local_size == std::array<std::uint32_t, 3>{128, 1, 1});
        CHECK(reflection.shared_memory_bytes == (64 + 64) * 144);
        CHECK(reflection.bindings[5].access == Access::read);
        CHECK(reflection.push_constant_bytes == 8 + 12 * 4);
        CHECK(reflection.folds);
        CHECK(std::count(reflection.capabilities.begin(), reflection.capabilities.end(), c.capability) == 1);
    }
}

TEST_CASE("stages and the shape of subgroups are constants") {
    ProgramOptions two = kOptions, flat = kOptions;
    two.constants.emplace_back(6u, 2u);
    CHECK(reflect(kKhr, two).shared_memory_bytes == 2 * (64 + 64) * 144);
    flat.constants = {{0u, 512u}, {1u, 8u}, {2u, 2u}, {7u, 512u}, {8u, 1u}};
    CHECK(reflect(kNv, flat).shared_memory_bytes == (128 + 128) * 144);
}

TEST_CASE("matrices need their extension") {
    DeviceSnapshot device = weft::test::h100();
    device.shader_float16 = device.vulkan_memory_model = true;
    device.subgroup_operations = ~0u;
    for (std::uint32_t& axis : device.limits.max_workgroup_size) axis = 1024;
    const Reflection khr = reflect(kKhr, kOptions), nv = reflect(kNv, kOptions);
    CHECK_THROWS_AS(check_device(khr, device, "probe"), Error);
    CHECK_THROWS_AS(check_device(nv, device, "probe"), Error);
    device.cooperative_matrix_khr = true;
    CHECK_NOTHROW(check_device(khr, device, "probe"));
    CHECK_THROWS_AS(check_device(nv, device, "probe"), Error);
    device.cooperative_matrix_nv = true;
    CHECK_NOTHROW(check_device(nv, device, "probe"));
}

TEST_CASE("modules without matrices do not change, damaged modules are still refused") {
    const std::vector<std::uint32_t> words(std::begin(kPlain), std::end(kPlain));
    CHECK(without_matrices(words) == words);
    // Every word of the module is changed in turn: the module is refused or reflected, and nothing crashes.
    std::vector<std::uint32_t> damaged(std::begin(kKhr), std::end(kKhr));
    std::size_t refused = 0;
    for (std::size_t i = 5; i < damaged.size(); i += 61) {
        const std::uint32_t kept = damaged[i];
        damaged[i] ^= 0x00f00001u;
        try {
            reflect(damaged, kOptions);
        } catch (const Error&) {
            ++refused;
        }
        damaged[i] = kept;
    }
    CHECK(refused > 50);
}
