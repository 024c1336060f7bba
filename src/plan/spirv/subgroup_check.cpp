// SPDX-License-Identifier: Apache-2.0
// Completes plan/spirv/reflection.hpp: which subgroup options a device allows. The rules are those of
// VkPipelineShaderStageCreateInfo and VkPipelineShaderStageRequiredSubgroupSizeCreateInfo.
#include <bit>

#include <weft/error.hpp>

#include "plan/spirv/reflection.hpp"

namespace weft::core {
namespace {

[[noreturn]] void refuse(Errc code, const std::string& name, const std::string& what) {
    throw Error(code, "Program '" + name + "': " + what);
}

std::string got_need(std::uint64_t got, const std::string& need) {
    return " (got " + std::to_string(got) + ", need " + need + ")";
}

void check_size(std::uint32_t size, std::uint64_t invocations, const DeviceSnapshot& device,
                const std::string& name) {
    const DeviceLimits& limits = device.limits;
    const std::string range = std::to_string(limits.min_subgroup_size) + " to " +
                              std::to_string(limits.max_subgroup_size) + " on device " + device.name;
    if (!std::has_single_bit(size) || size < limits.min_subgroup_size || size > limits.max_subgroup_size)
        refuse(Errc::invalid_argument, name,
               "ProgramOptions::subgroup_size" + got_need(size, "a power of two from " + range));
    const std::uint64_t most = std::uint64_t{size} * device.max_workgroup_subgroups;
    if (invocations > most)
        refuse(Errc::invalid_argument, name,
               "invocations of a workgroup beyond what subgroups of " + std::to_string(size) + " hold" +
                   got_need(invocations, "at most " + std::to_string(most)));
}

}  // namespace

void check_subgroups(const ProgramOptions& options, const Reflection& reflection,
                     const DeviceSnapshot& device, const DevicePlan& plan, const std::string& name) {
    const std::uint32_t size = options.subgroup_size;
    const auto& local = reflection.local_size;
    if (size != 0) {
        if (!plan.subgroup_size_control)
            refuse(
                Errc::unsupported, name,
                "ProgramOptions::subgroup_size" +
                    got_need(size, "0: device " + device.name + " lacks subgroupSizeControl, its size is " +
                                       std::to_string(device.limits.subgroup_size)));
        check_size(size, std::uint64_t{local[0]} * local[1] * local[2], device, name);
    }
    if (!options.require_full_subgroups) return;
    if (!plan.full_subgroups)
        refuse(
            Errc::unsupported, name,
            "ProgramOptions::require_full_subgroups: device " + device.name + " lacks computeFullSubgroups");
    const std::uint32_t multiple = size != 0 ? size : device.limits.subgroup_size;
    if (multiple == 0 || local[0] % multiple != 0)
        refuse(Errc::invalid_argument, name,
               "ProgramOptions::require_full_subgroups with a workgroup that leaves one in part along x" +
                   got_need(local[0], "a multiple of " + std::to_string(multiple)));
}

}  // namespace weft::core
