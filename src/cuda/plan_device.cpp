// SPDX-License-Identifier: Apache-2.0
#include "cuda/plan_device.hpp"

namespace weft::cuda {

weft::DeviceInfo plan_device(std::uint32_t most_threads) {
    weft::DeviceInfo device;
    device.name = "CUDA";
    device.type = DeviceType::discrete;
    device.shader_int64 = device.shader_float64 = true;
    device.subgroup_size_control = device.full_subgroups = device.subgroup_shuffles = true;
    DeviceLimits& limits = device.limits;
    limits.max_storage_buffer_range = limits.max_buffer_bytes = 0xffffffff;
    limits.storage_buffer_offset_alignment = 16;
    limits.max_workgroup_count[0] = 0x7fffffff;
    limits.max_workgroup_count[1] = limits.max_workgroup_count[2] = 0xffff;
    for (std::uint32_t& size : limits.max_workgroup_size) size = most_threads;
    limits.max_workgroup_invocations = most_threads;
    limits.max_shared_memory_bytes = 48 << 10;
    limits.subgroup_size = limits.min_subgroup_size = limits.max_subgroup_size = 32;
    return device;
}

}  // namespace weft::cuda
