// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>
#include <weft/error.hpp>

#include "plan/device/device_plan.hpp"
#include "support/snapshots.hpp"

namespace {

using weft::Config;
using weft::DeviceType;
using weft::Errc;
using weft::Path;
using namespace weft::core;
using namespace weft::test;

DeviceSnapshot discrete_with(std::vector<HeapSnapshot> heaps, std::vector<MemoryTypeSnapshot> types) {
    DeviceSnapshot device = amd_full_bar();
    device.heaps = std::move(heaps);
    device.memory_types = std::move(types);
    return device;
}

TEST_CASE("memory types") {
    const std::vector<HeapSnapshot> two = {{8 * kGiB, true}, {16 * kGiB, false}};
    DeviceSnapshot carve_out = intel_integrated();
    carve_out.heaps = {{512 * kMiB, true}, {16 * kGiB, false}};
    carve_out.memory_types = {memory(0, "d"), memory(1, "vo"), memory(0, "dvo"), memory(1, "voc")};
    const struct {
        const char* what;
        DeviceSnapshot device;
        std::uint32_t in_device, upload, download;
        std::optional<std::uint32_t> mapped;
    } rows[] = {
        {"H100", h100(), 1, 3, 3, 4},
        {"AMD with a small BAR", amd_small_bar(), 0, 3, 3, std::nullopt},
        {"AMD with a full BAR", amd_full_bar(), 0, 3, 3, 2},
        {"Intel: cached for both directions", intel_integrated(), 0, 1, 1, 1},
        {"lavapipe", lavapipe(), 0, 0, 0, 0},
        {"integrated with a carve-out", carve_out, 0, 3, 3, 2},
        {"cached only without coherence: download takes it, upload does not",
         discrete_with(two, {memory(0, "d"), memory(1, "vo"), memory(1, "vc")}), 0, 1, 2, std::nullopt},
        {"nothing cached", discrete_with(two, {memory(0, "d"), memory(1, "vo")}), 0, 1, 1, std::nullopt},
        {"nothing coherent", discrete_with(two, {memory(0, "d"), memory(1, "v")}), 0, 1, 1, std::nullopt},
        {"host memory before mapped device memory, cached or not",
         discrete_with(two, {memory(0, "d"), memory(0, "dvoc"), memory(1, "vo")}), 0, 2, 2, 1},
        {"mapped device memory where the host sees nothing else",
         discrete_with(two, {memory(0, "d"), memory(0, "dvo")}), 0, 1, 1, 1},
        {"the largest heap, although its memory is host-visible",
         discrete_with({{1 * kGiB, true}, {8 * kGiB, true}, {8 * kGiB, false}},
                       {memory(0, "d"), memory(1, "dvo"), memory(2, "voc")}),
         1, 2, 2, 1},
        {"the plain type before a later equal one",
         discrete_with(two, {memory(0, "dvo"), memory(0, "d"), memory(0, "d"), memory(1, "voc")}), 1, 3, 3,
         0},
        {"exactly half of the largest heap counts as mapped",
         discrete_with({{8 * kGiB, true}, {4 * kGiB, true}, {8 * kGiB, false}},
                       {memory(0, "d"), memory(1, "dvo"), memory(2, "voc")}),
         0, 2, 2, 1},
        {"one byte less does not",
         discrete_with({{8 * kGiB, true}, {4 * kGiB - 1, true}, {8 * kGiB, false}},
                       {memory(0, "d"), memory(1, "dvo"), memory(2, "voc")}),
         0, 2, 2, std::nullopt},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        const MemoryPlan plan = plan_memory(row.device);
        CHECK(plan.device == row.in_device);
        CHECK(plan.upload == row.upload);
        CHECK(plan.download == row.download);
        CHECK(plan.mapped_device == row.mapped);
    }
}

TEST_CASE("missing memory is an error that names the device") {
    CHECK_THROWS_WITH_AS(plan_memory(discrete_with({{kGiB, true}}, {memory(0, "d")})),
                         "Backend: no host-visible memory on AMD Radeon RX 6800 (RADV NAVI21) (got 1 memory "
                         "types, need one)",
                         weft::Error);
    CHECK_THROWS_WITH_AS(plan_memory(discrete_with({{kGiB, false}}, {memory(0, "vo"), memory(0, "voc")})),
                         "Backend: no device-local memory on AMD Radeon RX 6800 (RADV NAVI21) (got 2 memory "
                         "types, need one)",
                         weft::Error);
}

TEST_CASE("unified memory") {
    CHECK_FALSE(has_unified_memory(h100()));
    CHECK_FALSE(has_unified_memory(amd_small_bar()));
    CHECK_FALSE(has_unified_memory(amd_full_bar()));
    CHECK(has_unified_memory(intel_integrated()));
    CHECK(has_unified_memory(lavapipe()));
    // Memory is unified by the type of the device, whatever its heaps are, or by its heaps, whatever its type
    // is.
    DeviceSnapshot device = amd_full_bar();
    device.type = DeviceType::integrated;
    CHECK(has_unified_memory(device));
    device = intel_integrated();
    device.type = DeviceType::other;
    CHECK(has_unified_memory(device));
    device.memory_types.push_back(memory(0, "d"));
    CHECK_FALSE(has_unified_memory(device));
    device.heaps = {{kGiB, false}};
    CHECK_FALSE(has_unified_memory(device));
    // A memory type without a heap is ignored.
    device.memory_types = {memory(7, "dvo")};
    CHECK_FALSE(has_unified_memory(device));
}

struct Paths {
    Path pinned, ordinary, small;
    bool operator==(const Paths&) const = default;
};

TransferPlan transfer(const DeviceSnapshot& device, const Config& config) {
    return plan_transfer(device, plan_memory(device), config);
}

Paths paths(const DeviceSnapshot& device, const Config& config) {
    const TransferPlan plan = transfer(device, config);
    return {plan.large_pinned, plan.large_ordinary, plan.small};
}

DeviceSnapshot without_import(DeviceSnapshot device) {
    device.external_memory_host = false;
    return device;
}

TEST_CASE("paths by device and device_local") {
    constexpr Path staged = Path::staged, direct = Path::direct, imported = Path::imported, host = Path::host;
    DeviceSnapshot unaligned = lavapipe();
    unaligned.limits.import_alignment = 0;
    const struct {
        DeviceSnapshot device;
        Paths automatic, never;
    } rows[] = {
        {h100(), {staged, staged, direct}, {direct, direct, direct}},
        {amd_full_bar(), {staged, staged, direct}, {direct, direct, direct}},
        {amd_small_bar(), {staged, staged, host}, {host, host, host}},
        {intel_integrated(), {direct, direct, direct}, {direct, direct, direct}},
        {lavapipe(), {direct, imported, direct}, {direct, imported, direct}},
        {without_import(lavapipe()), {direct, direct, direct}, {direct, direct, direct}},
        {unaligned, {direct, direct, direct}, {direct, direct, direct}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.device.name);
        Config config;
        CHECK(paths(row.device, config) == row.automatic);
        config.device_local = false;
        CHECK(paths(row.device, config) == row.never);
        config.device_local = true;
        CHECK(paths(row.device, config) == Paths{staged, staged, staged});
    }
}

TEST_CASE("sizes, imports and waits by device") {
    const TransferPlan cpu = transfer(lavapipe(), {});
    CHECK(cpu.keep_imports);
    CHECK(cpu.import_min_bytes == 65536);
    CHECK(cpu.small_bytes == 65536);
    CHECK_FALSE(cpu.spin_wait);
    for (const DeviceSnapshot& device : {h100(), amd_small_bar(), intel_integrated()}) {
        CAPTURE(device.name);
        const TransferPlan plan = transfer(device, {});
        CHECK_FALSE(plan.keep_imports);
        CHECK(plan.small_bytes == kMiB);
        CHECK(plan.spin_wait);
        CHECK(plan.bundle_bytes == 8 * kMiB);
    }
}

TEST_CASE("a forced path is used for all jobs and wins over device_local") {
    for (const Path path : {Path::staged, Path::direct, Path::imported, Path::host}) {
        Config config;
        config.path = path;
        for (const std::optional<bool> local :
             {std::optional<bool>{}, std::optional(true), std::optional(false)}) {
            config.device_local = local;
            for (const DeviceSnapshot& device : {h100(), amd_full_bar(), intel_integrated(), lavapipe()}) {
                CAPTURE(device.name);
                CHECK(paths(device, config) == Paths{path, path, path});
                CHECK(transfer(device, config).import_min_bytes == 0);
            }
        }
    }
}

std::string refusal(const DeviceSnapshot& device, Path path) {
    Config config;
    config.path = path;
    try {
        transfer(device, config);
    } catch (const weft::Error& error) {
        CHECK(error.code() == Errc::unsupported);
        return error.what();
    }
    return "accepted";
}

TEST_CASE("a forced path that the device cannot take is unsupported") {
    const std::string no_import =
        "Backend: path imported is not possible on AMD Radeon RX 6800 (RADV NAVI21) (got no "
        "VK_EXT_external_memory_host, need it";
    CHECK(refusal(without_import(amd_full_bar()), Path::imported).find(no_import) == 0);
    const std::string no_direct = refusal(amd_small_bar(), Path::direct);
    CHECK(no_direct ==
          "Backend: path direct is not possible on AMD Radeon RX 6800 (RADV NAVI21) (got 268435456 of "
          "16911433728 bytes of device memory mapped by the host, need unified memory or a mapped heap of at "
          "least half the largest; other paths: auto, staged, host)");
    CHECK(refusal(amd_small_bar(), Path::host) == "accepted");
    CHECK(refusal(amd_small_bar(), Path::staged) == "accepted");
}

}  // namespace

TEST_CASE(
    "page-locked memory from the CUDA driver library: NVIDIA, importable, simultaneous copies both ways") {
    using weft::HostAllocator;
    struct Case {
        const char* name;
        HostAllocator asked;
        std::uint32_t vendor;
        bool fd, two_queues, split;
        const char* part;  // of the reason, or of the error
        int outcome;       // 1 CUDA, 0 Vulkan, -1 refused
    };
    constexpr std::uint32_t kNvidia = 0x10de, kAmd = 0x1002;
    const Case cases[] = {
        {"all there", HostAllocator::automatic, kNvidia, true, true, true, "if it is there", 1},
        {"asked for Vulkan", HostAllocator::vulkan, kNvidia, true, true, true, "asked for", 0},
        {"another vendor", HostAllocator::automatic, kAmd, true, true, true, "not an NVIDIA GPU", 0},
        {"no import", HostAllocator::automatic, kNvidia, false, true, true, "VK_KHR_external_memory_fd", 0},
        {"one queue", HostAllocator::automatic, kNvidia, true, false, true, "both ways", 0},
        {"single", HostAllocator::automatic, kNvidia, true, true, false, "both ways", 0},
        {"asked for, one queue", HostAllocator::cuda, kNvidia, true, false, false, "asked for", 1},
        {"asked for, other vendor", HostAllocator::cuda, kAmd, true, true, true,
         "host allocator cuda is not possible on H (got Vulkan (not an NVIDIA GPU)", -1},
        {"asked for, no import", HostAllocator::cuda, kNvidia, false, true, true, "external_memory_fd", -1},
    };
    for (const Case& c : cases) {
        CAPTURE(std::string(c.name));
        weft::core::DeviceSnapshot device;
        device.name = "H";
        device.vendor_id = c.vendor;
        device.external_memory_fd = c.fd;
        weft::core::QueuePlan queues;
        queues.slots = {weft::core::QueueSlot{1, 0}, weft::core::QueueSlot{2, 0},
                        weft::core::QueueSlot{1, c.two_queues ? 1u : 0u}};
        queues.split = c.split;
        weft::Config config;
        config.host_allocator = c.asked;
        std::string text;
        int outcome = -1;
        try {
            outcome = weft::core::plan_cuda_host_memory(device, queues, config, text) ? 1 : 0;
        } catch (const weft::Error& e) {
            CHECK(e.code() == weft::Errc::unsupported);
            text = e.what();
        }
        CHECK(outcome == c.outcome);
        CAPTURE(text);
        CHECK(text.find(c.part) != std::string::npos);
    }
}
