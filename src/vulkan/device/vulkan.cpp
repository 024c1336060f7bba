// SPDX-License-Identifier: Apache-2.0
#include "vulkan/device/vulkan.hpp"

#include <utility>

namespace weft::core {

namespace {

const char* result_name(VkResult result) noexcept {
    constexpr std::pair<VkResult, const char*> kNames[] = {
        {VK_ERROR_OUT_OF_HOST_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY"},
        {VK_ERROR_OUT_OF_DEVICE_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
        {VK_ERROR_INITIALIZATION_FAILED, "VK_ERROR_INITIALIZATION_FAILED"},
        {VK_ERROR_DEVICE_LOST, "VK_ERROR_DEVICE_LOST"},
        {VK_ERROR_MEMORY_MAP_FAILED, "VK_ERROR_MEMORY_MAP_FAILED"},
        {VK_ERROR_LAYER_NOT_PRESENT, "VK_ERROR_LAYER_NOT_PRESENT"},
        {VK_ERROR_EXTENSION_NOT_PRESENT, "VK_ERROR_EXTENSION_NOT_PRESENT"},
        {VK_ERROR_FEATURE_NOT_PRESENT, "VK_ERROR_FEATURE_NOT_PRESENT"},
        {VK_ERROR_INCOMPATIBLE_DRIVER, "VK_ERROR_INCOMPATIBLE_DRIVER"},
        {VK_ERROR_TOO_MANY_OBJECTS, "VK_ERROR_TOO_MANY_OBJECTS"},
        {VK_ERROR_FRAGMENTED_POOL, "VK_ERROR_FRAGMENTED_POOL"},
        {VK_ERROR_OUT_OF_POOL_MEMORY, "VK_ERROR_OUT_OF_POOL_MEMORY"},
        {VK_ERROR_INVALID_EXTERNAL_HANDLE, "VK_ERROR_INVALID_EXTERNAL_HANDLE"},
        {VK_ERROR_INVALID_SHADER_NV, "VK_ERROR_INVALID_SHADER_NV"},
        {VK_ERROR_FORMAT_NOT_SUPPORTED, "VK_ERROR_FORMAT_NOT_SUPPORTED"},
        {VK_ERROR_UNKNOWN, "VK_ERROR_UNKNOWN"},
        {VK_ERROR_NOT_PERMITTED_KHR, "VK_ERROR_NOT_PERMITTED_KHR"},
        {VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, "VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS"},
    };
    for (const auto& [known, name] : kNames)
        if (known == result) return name;
    return "VkResult";
}

}  // namespace

void throw_result(VkResult result, const char* what, const std::string& detail) {
    Errc code = Errc::driver;
    switch (result) {
        case VK_ERROR_OUT_OF_HOST_MEMORY:
        case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        case VK_ERROR_TOO_MANY_OBJECTS:
        case VK_ERROR_OUT_OF_POOL_MEMORY:
            code = Errc::out_of_memory;
            break;
        case VK_ERROR_DEVICE_LOST:
            code = Errc::device_lost;
            break;
        case VK_ERROR_EXTENSION_NOT_PRESENT:
        case VK_ERROR_FEATURE_NOT_PRESENT:
        case VK_ERROR_INVALID_EXTERNAL_HANDLE:  // pages that cannot be imported
            code = Errc::unsupported;
            break;
        default:
            break;
    }
    // Drivers say so where a thread cannot be started or memory cannot be mapped.
    const char* const hint =
        result == VK_ERROR_UNKNOWN
            ? "; the driver gives no reason: limits on threads and memory (ulimit -a) are "
              "frequent ones"
            : "";
    throw Error(code,
                std::string(what) + ": the driver failed (got " + result_name(result) + " " +
                    std::to_string(static_cast<int>(result)) + hint + ")" + (detail.empty() ? "" : "; ") +
                    detail,
                static_cast<int>(result));
}

}  // namespace weft::core
