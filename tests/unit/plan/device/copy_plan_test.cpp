// SPDX-License-Identifier: Apache-2.0
#include "plan/device/copy_plan.hpp"

#include <doctest/doctest.h>

#include "plan/device/device_snapshot.hpp"
#include "support/snapshots.hpp"

using namespace weft::core;

TEST_CASE("copies within the device: by a shader only on cards of NVIDIA") {
    struct Case {
        std::uint32_t vendor;
        weft::DeviceType type;
        bool shader;
    };
    using weft::DeviceType;
    for (const Case& c :
         {Case{0x10de, DeviceType::discrete, true}, Case{0x10de, DeviceType::integrated, false},
          Case{0x1002, DeviceType::discrete, false}, Case{0x10005, DeviceType::cpu, false}}) {
        DeviceSnapshot device;
        device.vendor_id = c.vendor;
        device.type = c.type;
        const CopyPlan plan = plan_copies(device);
        CHECK((plan.shader_bytes == 65536) == c.shader);
        CHECK((plan.shader_bytes == ~std::uint64_t{0}) == !c.shader);
        CHECK(plan.reason ==
              (c.shader ? "a copy shader from 65536 bytes on" : "the copy command (not a card of NVIDIA's)"));
    }
}

TEST_CASE("copies within the device: the bytes of one dispatch of the shader") {
    weft::DeviceLimits limits;
    limits.storage_buffer_offset_alignment = 64;
    limits.max_storage_buffer_range = 0xffffffff;
    limits.max_workgroup_count[0] = 0x7fffffff;
    CHECK(shader_part(limits, 0, 0, 65536) == 65536);
    CHECK(shader_part(limits, 64, 128, 65536) == 65536);
    CHECK(shader_part(limits, 16, 0, 65536) == 0);
    CHECK(shader_part(limits, 0, 63, 65536) == 0);
    CHECK(shader_part(limits, 0, 0, 65536 + 15) == 65536);
    CHECK(shader_part(limits, 0, 0, 15) == 0);
    CHECK(shader_part(limits, 0, 0, 0) == 0);
    // The next part begins where a binding may begin.
    CHECK(shader_part(limits, 0, 0, std::uint64_t{1} << 33) == (std::uint64_t{1} << 32) - 64);
    limits.max_workgroup_count[0] = 3;
    CHECK(shader_part(limits, 0, 0, 1 << 20) == 3 * 4096);
    CHECK(shader_part(limits, 0, 0, 4096 + 48) == 4096 + 48);
    limits.storage_buffer_offset_alignment = 4;
    CHECK(shader_part(limits, 4, 0, 65536) == 0);
    CHECK(shader_part(limits, 16, 32, 65536) == 3 * 4096);
    limits.max_storage_buffer_range = 1000;
    CHECK(shader_part(limits, 0, 0, 65536) == 992);
}
