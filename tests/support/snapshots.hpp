// SPDX-License-Identifier: Apache-2.0
// Hand-made snapshots for tests of the pure parts: real machines as their drivers report them, and machines
// with a single defect.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plan/device/device_snapshot.hpp"

namespace weft::test {

using core::DeviceSnapshot;
using core::MemoryTypeSnapshot;
using core::QueueFamilySnapshot;

inline constexpr std::uint64_t kMiB = 1u << 20;
inline constexpr std::uint64_t kGiB = 1u << 30;

/// Flags by letter: g graphics, c compute, t transfer, s sparse, v video, o optical flow.
inline QueueFamilySnapshot family(std::uint32_t count, const std::string& flags,
                                  std::uint32_t timestamp_bits = 64) {
    const auto has = [&](char letter) { return flags.find(letter) != std::string::npos; };
    return {count, has('g'), has('c'), has('t'), has('s'), has('v'), has('o'), timestamp_bits};
}

/// Flags by letter: d device-local, v host-visible, o host-coherent, c host-cached.
inline MemoryTypeSnapshot memory(std::uint32_t heap, const std::string& flags) {
    const auto has = [&](char letter) { return flags.find(letter) != std::string::npos; };
    return {heap, has('d'), has('v'), has('o'), has('c')};
}

/// A UUID and a driver UUID, each of one repeated byte.
inline void identify(DeviceSnapshot& device, std::uint8_t gpu, std::uint8_t driver) {
    device.uuid.fill(gpu);
    device.driver_uuid.fill(driver);
}

inline DeviceSnapshot modern_device(std::string name, DeviceType type) {
    DeviceSnapshot device;
    device.name = std::move(name);
    device.type = type;
    device.api_minor = 3;
    device.timeline_semaphores = device.synchronization2 = device.host_query_reset = true;
    device.shader_int64 = device.shader_float64 = true;
    device.external_memory_host = device.external_memory_fd = device.memory_budget = true;
    device.shared_buffers_fd = device.shared_timelines_fd = true;
    device.calibrated_timestamps_ext = true;
    device.limits.max_storage_buffer_range = 0xffffffffu;
    device.limits.max_buffer_bytes = 4 * kGiB;
    device.limits.import_alignment = 4096;
    device.limits.max_push_constant_bytes = 256;
    device.limits.max_storage_buffers = 1u << 20;
    device.limits.max_shared_memory_bytes = 49152;
    device.limits.max_workgroup_invocations = 1024;
    device.limits.subgroup_size = device.limits.min_subgroup_size = device.limits.max_subgroup_size = 32;
    device.subgroup_size_control = device.full_subgroups = device.subgroup_size_extension = true;
    device.max_workgroup_subgroups = 64;
    device.limits.timestamp_period_ns = 1;
    return device;
}

inline DeviceSnapshot h100() {
    DeviceSnapshot device = modern_device("NVIDIA H100 80GB HBM3", DeviceType::discrete);
    device.driver_text = "NVIDIA 580.159.04";
    device.vendor_id = 0x10de;
    device.api_minor = 4;
    identify(device, 0xa1, 0x01);
    device.heaps = {{81508 * kMiB, true}, {96 * kGiB, false}};
    device.memory_types = {memory(1, ""), memory(0, "d"), memory(1, "vo"), memory(1, "voc"),
                           memory(0, "dvo")};
    device.families = {family(16, "gcts"), family(2, "ts"), family(8, "cts"), family(7, "tv", 32),
                       family(1, "to")};
    device.max_allocation_bytes = 0xffe00000u;
    return device;
}

/// A card with two copy engines in one transfer family; the host maps 256 MiB of its memory.
inline DeviceSnapshot amd_small_bar() {
    DeviceSnapshot device = modern_device("AMD Radeon RX 6800 (RADV NAVI21)", DeviceType::discrete);
    device.driver_text = "radv Mesa 23.1";
    device.vendor_id = 0x1002;
    identify(device, 0xb1, 0x02);
    device.limits.subgroup_size = device.limits.max_subgroup_size = 64;
    device.heaps = {{16 * kGiB - 256 * kMiB, true}, {32 * kGiB, false}, {256 * kMiB, true}};
    device.memory_types = {memory(0, "d"), memory(1, "vo"), memory(2, "dvo"), memory(1, "voc")};
    device.families = {family(1, "gcts"), family(4, "cts"), family(2, "ts")};
    return device;
}

inline DeviceSnapshot amd_full_bar() {
    DeviceSnapshot device = amd_small_bar();
    device.heaps = {{16 * kGiB, true}, {32 * kGiB, false}};
    device.memory_types = {memory(0, "d"), memory(1, "vo"), memory(0, "dvo"), memory(1, "voc")};
    return device;
}

inline DeviceSnapshot intel_integrated() {
    DeviceSnapshot device = modern_device("Intel(R) UHD Graphics 770 (ADL-S GT1)", DeviceType::integrated);
    device.driver_text = "Mesa 22.3";
    device.vendor_id = 0x8086;
    identify(device, 0xc1, 0x03);
    device.shader_float64 = false;
    device.limits.min_subgroup_size = 8;
    device.heaps = {{24 * kGiB, true}};
    device.memory_types = {memory(0, "dvo"), memory(0, "dvoc")};
    device.families = {family(1, "gct", 36)};
    return device;
}

inline DeviceSnapshot lavapipe() {
    DeviceSnapshot device = modern_device("llvmpipe (LLVM 15.0.6, 256 bits)", DeviceType::cpu);
    device.driver_text = "llvmpipe Mesa 22.3.6";
    device.vendor_id = 0x10005;
    identify(device, 0xd1, 0x04);
    device.memory_budget = false;
    device.limits.max_storage_buffer_range = 128 * kMiB;
    device.limits.max_push_constant_bytes = 128;
    device.limits.max_storage_buffers = 12;
    device.limits.subgroup_size = device.limits.min_subgroup_size = device.limits.max_subgroup_size = 8;
    device.max_workgroup_subgroups = 32;
    device.heaps = {{8 * kGiB, true}};
    device.memory_types = {memory(0, "dvoc")};
    device.families = {family(1, "gct")};
    return device;
}

inline DeviceSnapshot without_timeline_semaphores() {
    DeviceSnapshot device = amd_full_bar();
    device.name = "Card without timelines";
    device.timeline_semaphores = false;
    identify(device, 0xe1, 0x05);
    return device;
}

inline DeviceSnapshot without_int64() {
    DeviceSnapshot device = intel_integrated();
    device.name = "Graphics without 64-bit integers";
    device.shader_int64 = false;
    identify(device, 0xe2, 0x06);
    return device;
}

inline DeviceSnapshot vulkan_1_1() {
    DeviceSnapshot device = amd_full_bar();
    device.name = "Old card";
    device.api_minor = 1;
    identify(device, 0xe3, 0x07);
    return device;
}

/// A device that copies on its compute family, although the driver does not set the transfer bit.
inline DeviceSnapshot without_transfer_bit() {
    DeviceSnapshot device = amd_full_bar();
    device.name = "Card that omits the transfer bit";
    device.families = {family(4, "gc")};
    identify(device, 0xe4, 0x08);
    return device;
}

/// The H100 again, through a translation layer that claims more memory.
inline DeviceSnapshot h100_by_second_driver() {
    DeviceSnapshot device = h100();
    device.name = "Translated (NVIDIA H100 80GB HBM3)";
    device.driver_text = "Dozen Mesa 24.0";
    device.driver_uuid.fill(0x09);
    device.heaps[0].bytes += kGiB;
    return device;
}

}  // namespace weft::test
