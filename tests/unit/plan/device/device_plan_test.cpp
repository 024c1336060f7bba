// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>
#include <weft/error.hpp>

#include "plan/device/device_plan.hpp"
#include "support/snapshots.hpp"

namespace {

using weft::Config;
using weft::DeviceInfo;
using weft::DeviceType;
using weft::Errc;
using weft::Path;
using namespace weft::core;
using namespace weft::test;

using Devices = std::vector<DeviceSnapshot>;

DevicePlan plan_with(const Config& config, const DeviceSnapshot& device = h100(), std::uint32_t cores = 16) {
    return plan_device({device}, config, HostFacts{cores});
}

bool has_line(const DevicePlan& plan, const std::string& line) {
    for (const std::string& reason : plan.reasons)
        if (reason == line) return true;
    return false;
}

TEST_CASE("device types have names") {
    const std::pair<DeviceType, const char*> names[] = {{DeviceType::discrete, "discrete"},
                                                        {DeviceType::integrated, "integrated"},
                                                        {DeviceType::virtual_gpu, "virtual"},
                                                        {DeviceType::cpu, "cpu"},
                                                        {DeviceType::other, "other"}};
    for (const auto& [type, name] : names) CHECK(std::string(weft::to_string(type)) == name);
    CHECK(std::string(weft::to_string(static_cast<DeviceType>(42))) == "unknown");
}

TEST_CASE("the plan of an H100 next to lavapipe") {
    const DevicePlan plan = plan_device({lavapipe(), h100()}, {}, HostFacts{32});
    CHECK(plan.device == 1);
    CHECK(plan.synchronization2);
    CHECK(plan.timestamps);
    CHECK(plan.shader_int64);
    CHECK(plan.shader_float64);
    CHECK(plan.memory_budget);
    CHECK(plan.external_memory_host);
    CHECK(plan.storage_buffers == 16);
    CHECK(plan.push_constant_bytes == 256);
    CHECK(plan.queues.of(QueueRole::upload) == QueueSlot{1, 0});
    CHECK(plan.queues.of(QueueRole::compute) == QueueSlot{2, 0});
    CHECK(plan.queues.of(QueueRole::download) == QueueSlot{1, 1});
    CHECK(plan.memory.mapped_device == 4u);
    CHECK(plan.transfer.large_pinned == Path::staged);
    CHECK(plan.ring_slots == 4);
    CHECK(plan.copy_threads == 16);
    CHECK(plan.chunk_elements == 524288);
    CHECK_FALSE(plan.chunk_exact);
}

TEST_CASE("the plan of lavapipe alone") {
    const DevicePlan plan = plan_device({lavapipe()}, {}, HostFacts{2});
    CHECK(plan.device == 0);
    CHECK(plan.storage_buffers == 12);
    CHECK(plan.push_constant_bytes == 128);
    CHECK_FALSE(plan.memory_budget);
    CHECK_FALSE(plan.queues.split);
    CHECK(plan.transfer.large_ordinary == Path::imported);
    CHECK(plan.copy_threads == 2);
}

TEST_CASE("features follow the device and the configuration") {
    Config config;
    config.vulkan_1_2_only = true;
    CHECK_FALSE(plan_with(config).synchronization2);
    CHECK(has_line(plan_with(config), "barriers: Vulkan 1.0 (vulkan_1_2_only)"));
    CHECK(has_line(plan_with({}), "barriers: synchronization2"));
    DeviceSnapshot device = h100();
    device.synchronization2 = false;
    CHECK_FALSE(plan_with({}, device).synchronization2);
    CHECK(has_line(plan_with({}, device), "barriers: Vulkan 1.0"));
    CHECK_FALSE(plan_with({}, without_int64()).shader_int64);
    CHECK_FALSE(plan_with({}, intel_integrated()).shader_float64);

    device = h100();
    device.host_query_reset = false;
    CHECK_FALSE(plan_with({}, device).timestamps);
    device = h100();
    device.families[2].timestamp_valid_bits = 0;  // the family that computes
    CHECK_FALSE(plan_with({}, device).timestamps);
    device = h100();
    device.families[1].timestamp_valid_bits = 0;  // one that copies
    CHECK(plan_with({}, device).timestamps);
    device.external_memory_host = false;
    CHECK_FALSE(plan_with({}, device).external_memory_host);
}

TEST_CASE("copy threads by default") {
    CHECK(plan_with({}, h100(), 64).copy_threads == 16);
    CHECK(plan_with({}, h100(), 6).copy_threads == 6);
    CHECK(plan_with({}, h100(), 0).copy_threads == 1);
    CHECK(plan_with({}, intel_integrated(), 64).copy_threads == 4);
    CHECK(plan_with({}, lavapipe(), 3).copy_threads == 3);
    CHECK(plan_with({}, lavapipe(), 0).copy_threads == 1);
}

TEST_CASE("numbers of the configuration are used unchanged within their range") {
    Config config;
    config.ring_slots = 16;
    config.copy_threads = 256;
    config.chunk_elements = 0xffffffffu;
    DevicePlan plan = plan_with(config);
    CHECK(plan.ring_slots == 16);
    CHECK(plan.copy_threads == 256);
    CHECK(plan.chunk_elements == 0xffffffffu);
    CHECK(plan.chunk_exact);
    config.ring_slots = config.copy_threads = 1;
    config.chunk_elements = 1;
    plan = plan_with(config);
    CHECK(plan.ring_slots == 1);
    CHECK(plan.copy_threads == 1);
    CHECK(plan.chunk_elements == 1);
}

std::string refusal(const Config& config) {
    try {
        plan_with(config);
    } catch (const weft::Error& error) {
        CHECK(error.code() == Errc::invalid_argument);
        return error.what();
    }
    return "accepted";
}

TEST_CASE("numbers out of range name the limit") {
    for (const std::uint32_t bad : {0u, 17u}) {
        Config config;
        config.ring_slots = bad;
        CHECK(refusal(config) == "Backend: ring_slots (WEFT_SLOTS) is out of range (got " +
                                     std::to_string(bad) + ", need 1 to 16)");
    }
    for (const std::uint32_t bad : {0u, 257u}) {
        Config config;
        config.copy_threads = bad;
        CHECK(refusal(config) == "Backend: copy_threads (WEFT_COPY_THREADS) is out of range (got " +
                                     std::to_string(bad) + ", need 1 to 256)");
    }
    for (const std::uint64_t bad : {std::uint64_t{0}, std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
        Config config;
        config.chunk_elements = bad;
        CHECK(refusal(config) == "Backend: chunk_elements (GPU_STREAM_CHUNK_ELEMS) is out of range (got " +
                                     std::to_string(bad) + ", need 1 to 4294967295)");
    }
}

TEST_CASE("errors of the device choice and of a forced path are passed on") {
    CHECK_THROWS_AS(plan_device({}, {}, {}), weft::Error);
    Config config;
    config.device = "radeon";
    CHECK(refusal(config).find("no device matches \"radeon\"") != std::string::npos);
    config.device.clear();
    config.path = Path::direct;
    CHECK_THROWS_AS(plan_with(config, amd_small_bar()), weft::Error);
}

TEST_CASE("reasons: one readable line for each choice") {
    const DevicePlan plan = plan_device({h100(), vulkan_1_1()}, {}, HostFacts{16});
    CHECK(plan.reasons ==
          std::vector<std::string>{
              "device 0, NVIDIA H100 80GB HBM3: discrete with 79.6 GiB, the best of 2",
              "device 1, Old card: refused, Vulkan 1.1 is too old (need 1.2)",
              "queues: upload 1.0, compute 2.0, download 1.1, submitted separately: family 1 "
              "is for transfers only and has 2 queues, one for uploads and one for downloads",
              "memory types: device 1, upload 3, download 3, device memory mapped by the host "
              "4",
              "page-locked memory: CUDA driver library for large blocks, if it is there: uploads and "
              "downloads then do not slow each other down",
              "copies within the device: by a copy shader from 65536 bytes on",
              "paths: page-locked staged, ordinary staged, up to 1048576 bytes direct",
              "ring: 4 slots (default)", "copy threads: 16 (default)",
              "chunks: 524288 elements at most (default)", "dispatches: cut if they take longer than 250 ms",
              "barriers: synchronization2", "subgroups: 32 invocations, 32 to 32 can be asked for",
              "timestamps: yes, brought to the host's clock by the device"});
}

TEST_CASE("clocks: the older name of the extension first, none without timestamps") {
    DeviceSnapshot device = h100();
    CHECK(plan_with({}, device).calibrated_timestamps == CalibratedTimestamps::ext);
    device.calibrated_timestamps_khr = true;
    CHECK(plan_with({}, device).calibrated_timestamps == CalibratedTimestamps::ext);
    device.calibrated_timestamps_ext = false;
    CHECK(plan_with({}, device).calibrated_timestamps == CalibratedTimestamps::khr);
    device.calibrated_timestamps_khr = false;
    CHECK(plan_with({}, device).calibrated_timestamps == CalibratedTimestamps::none);
    CHECK(has_line(plan_with({}, device), "timestamps: yes, brought to the host's clock by bracketing"));
    device.calibrated_timestamps_ext = true;
    device.host_query_reset = false;
    CHECK(plan_with({}, device).calibrated_timestamps == CalibratedTimestamps::none);
    CHECK(has_line(plan_with({}, device), "timestamps: no, the device or the compute queue has none"));
}

TEST_CASE("reasons name the user's settings") {
    Config config;
    config.device = "radv";
    config.ring_slots = 2;
    config.copy_threads = 5;
    config.chunk_elements = 77;
    config.dispatch_ms = 40;
    config.device_local = true;
    DevicePlan plan = plan_with(config, amd_small_bar());
    CHECK(has_line(plan,
                   "device 0, AMD Radeon RX 6800 (RADV NAVI21): discrete with 16.0 GiB, asked for as "
                   "\"radv\""));
    CHECK(has_line(plan,
                   "memory types: device 0, upload 3, download 3, the host cannot map the bulk of device "
                   "memory"));
    CHECK(has_line(plan,
                   "paths: page-locked staged, ordinary staged, up to 1048576 bytes staged; "
                   "device_local=1 stages everything"));
    CHECK(has_line(plan, "ring: 2 slots (asked for)"));
    CHECK(has_line(plan, "copy threads: 5 (asked for)"));
    CHECK(has_line(plan, "chunks: 77 elements (asked for)"));
    CHECK(has_line(plan, "dispatches: cut if they take longer than 40 ms"));
    config.device_local = false;
    config.queues = weft::QueueMode::single;
    plan = plan_with(config, amd_small_bar());
    CHECK(has_line(plan,
                   "paths: page-locked host, ordinary host, up to 1048576 bytes host; device_local=0 "
                   "stages nothing"));
    CHECK(has_line(plan,
                   "queues: upload 1.0, compute 1.0, download 1.0, submitted together: asked for by "
                   "queues=single; one queue does everything"));
    config.path = Path::staged;
    CHECK(has_line(plan_with(config, amd_small_bar()),
                   "paths: page-locked staged, ordinary staged, up to 1048576 bytes staged; forced by "
                   "path=staged, which wins over device_local"));
    DeviceSnapshot no_timestamps = amd_small_bar();
    no_timestamps.host_query_reset = false;
    CHECK(has_line(plan_with(config, no_timestamps),
                   "timestamps: no, the device or the compute queue has none"));
}

TEST_CASE("describe copies facts and sums heaps") {
    DeviceSnapshot device = amd_small_bar();
    for (std::uint8_t i = 0; i < 16; ++i) device.uuid[i] = static_cast<std::uint8_t>(i * 17);
    device.device_id = 7;
    device.driver_version = 9;
    device.shader_int64 = false;
    device.subgroup_operations = 0xef;
    CHECK_FALSE(describe(device, 5).subgroup_shuffles);
    device.subgroup_operations = 0x10;
    const DeviceInfo info = describe(device, 5);
    CHECK(info.subgroup_shuffles);
    CHECK(info.index == 5);
    CHECK(info.name == device.name);
    CHECK(info.driver == "radv Mesa 23.1");
    CHECK(info.uuid == "00112233445566778899aabbccddeeff");
    CHECK(info.type == DeviceType::discrete);
    CHECK(info.vendor_id == 0x1002);
    CHECK(info.device_id == 7);
    CHECK(info.driver_version == 9);
    CHECK(info.api_major == 1);
    CHECK(info.api_minor == 3);
    CHECK(info.device_memory_bytes == 16 * kGiB);
    CHECK(info.host_visible_device_bytes == 256 * kMiB);
    CHECK_FALSE(info.unified_memory);
    CHECK_FALSE(info.shader_int64);
    CHECK(info.shader_float64);
    CHECK(info.import_host_memory);
    CHECK(info.memory_budget);
    CHECK(info.synchronization2);
    CHECK(info.limits.subgroup_size == 64);
    CHECK(info.refused.empty());
    CHECK_FALSE(info.chosen);
    REQUIRE(info.queue_families.size() == 3);
    CHECK(info.queue_families[2].index == 2);
    CHECK(info.queue_families[2].queue_count == 2);
    CHECK(info.queue_families[2].transfer);
    CHECK_FALSE(info.queue_families[2].compute);
    CHECK(info.queue_families[0].graphics);
    CHECK(info.queue_families[1].compute);
    CHECK(info.queue_families[1].timestamp_valid_bits == 64);
}

TEST_CASE("describe: mapped and unified memory, refusals") {
    CHECK(describe(h100(), 0).device_memory_bytes == 81508 * kMiB);
    CHECK(describe(h100(), 0).host_visible_device_bytes == 81508 * kMiB);
    CHECK_FALSE(describe(h100(), 0).unified_memory);
    CHECK(describe(lavapipe(), 0).unified_memory);
    CHECK(describe(intel_integrated(), 0).host_visible_device_bytes == 24 * kGiB);
    CHECK(describe(vulkan_1_1(), 0).refused.size() == 1);
    DeviceSnapshot device = amd_full_bar();
    device.memory_types = {memory(0, "d"), memory(1, "voc")};
    CHECK(describe(device, 0).host_visible_device_bytes == 0);
}

}  // namespace

TEST_CASE(
    "with few copy threads ordinary memory goes through a full-size BAR, unless another path was "
    "requested") {
    Config config;
    for (const std::uint32_t threads : {1u, 2u, 4u}) {
        config.copy_threads = threads;
        const DevicePlan plan = plan_with(config, h100());
        CHECK(plan.transfer.large_ordinary == Path::direct);
        CHECK(plan.transfer.large_pinned == Path::staged);
        CHECK(has_line(
            plan,
            "paths: page-locked staged, ordinary direct, up to 1048576 bytes direct; few copy threads "
            "write through the BAR"));
        CHECK(plan_with(config, amd_small_bar()).transfer.large_ordinary == Path::staged);
    }
    config.copy_threads = 5;
    CHECK(plan_with(config, h100()).transfer.large_ordinary == Path::staged);
    config.copy_threads = 1;
    config.device_local = true;
    CHECK(plan_with(config, h100()).transfer.large_ordinary == Path::staged);
    config.device_local.reset();
    config.path = Path::host;
    CHECK(plan_with(config, h100()).transfer.large_ordinary == Path::host);
    config.path = Path::automatic;
    CHECK(plan_device({h100()}, config, HostFacts{16}).transfer.large_ordinary == Path::direct);
    config.copy_threads.reset();
    CHECK(plan_device({h100()}, config, HostFacts{2}).transfer.large_ordinary == Path::direct);
}
