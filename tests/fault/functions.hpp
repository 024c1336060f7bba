// SPDX-License-Identifier: Apache-2.0
// The functions that the fault loader hooks. All other functions are those of the real loader.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan.h>

#include <array>
#include <cstddef>

namespace weft_fault {

/// The properties of a function that matter here.
enum Traits : unsigned {
    kPlain = 0,
    kRunsOut = 1,   // may return an out-of-memory code
    kLoses = 2,     // may return VK_ERROR_DEVICE_LOST
    kCreates = 4,   // its last argument receives one object
    kDestroys = 8,  // its last argument but one is an object that is destroyed
    kWaits = 16,    // waits for the device
};

// clang-format off
#define WEFT_FAULT_FUNCTIONS(X)                                     \
    X(vkCreateInstance, kRunsOut | kCreates)                        \
    X(vkDestroyInstance, kDestroys)                                 \
    X(vkEnumeratePhysicalDevices, kRunsOut)                         \
    X(vkEnumerateDeviceExtensionProperties, kRunsOut)               \
    X(vkGetPhysicalDeviceProperties, kPlain)                        \
    X(vkGetPhysicalDeviceProperties2, kPlain)                       \
    X(vkGetPhysicalDeviceFeatures2, kPlain)                         \
    X(vkGetPhysicalDeviceMemoryProperties, kPlain)                  \
    X(vkGetPhysicalDeviceMemoryProperties2, kPlain)                 \
    X(vkGetPhysicalDeviceQueueFamilyProperties, kPlain)             \
    X(vkGetPhysicalDeviceQueueFamilyProperties2, kPlain)            \
    X(vkGetPhysicalDeviceExternalBufferProperties, kPlain)          \
    X(vkGetPhysicalDeviceExternalSemaphoreProperties, kPlain)       \
    X(vkCreateDevice, kRunsOut | kLoses | kCreates)                 \
    X(vkDestroyDevice, kDestroys)                                   \
    X(vkGetDeviceProcAddr, kPlain)                                  \
    X(vkCreateDebugUtilsMessengerEXT, kRunsOut | kCreates)          \
    X(vkDestroyDebugUtilsMessengerEXT, kDestroys)                   \
    X(vkSetDebugUtilsObjectNameEXT, kRunsOut)                       \
    X(vkGetDeviceQueue, kPlain)                                     \
    X(vkGetDeviceQueue2, kPlain)                                    \
    X(vkQueueSubmit, kRunsOut | kLoses)                             \
    X(vkQueueSubmit2, kRunsOut | kLoses)                            \
    X(vkQueueWaitIdle, kRunsOut | kLoses | kWaits)                  \
    X(vkDeviceWaitIdle, kRunsOut | kLoses | kWaits)                 \
    X(vkAllocateMemory, kRunsOut | kCreates)                        \
    X(vkFreeMemory, kDestroys)                                      \
    X(vkMapMemory, kRunsOut)                                        \
    X(vkUnmapMemory, kPlain)                                        \
    X(vkFlushMappedMemoryRanges, kRunsOut)                          \
    X(vkInvalidateMappedMemoryRanges, kRunsOut)                     \
    X(vkGetMemoryHostPointerPropertiesEXT, kRunsOut)                \
    X(vkGetMemoryFdKHR, kRunsOut)                                   \
    X(vkGetSemaphoreFdKHR, kRunsOut)                                \
    X(vkCreateBuffer, kRunsOut | kCreates)                          \
    X(vkDestroyBuffer, kDestroys)                                   \
    X(vkGetBufferMemoryRequirements, kPlain)                        \
    X(vkGetBufferMemoryRequirements2, kPlain)                       \
    X(vkBindBufferMemory, kRunsOut)                                 \
    X(vkBindBufferMemory2, kRunsOut)                                \
    X(vkCreateSemaphore, kRunsOut | kCreates)                       \
    X(vkDestroySemaphore, kDestroys)                                \
    X(vkGetSemaphoreCounterValue, kRunsOut | kLoses)                \
    X(vkWaitSemaphores, kRunsOut | kLoses | kWaits)                 \
    X(vkSignalSemaphore, kRunsOut)                                  \
    X(vkCreateFence, kRunsOut | kCreates)                           \
    X(vkDestroyFence, kDestroys)                                    \
    X(vkWaitForFences, kRunsOut | kLoses | kWaits)                  \
    X(vkGetFenceStatus, kRunsOut | kLoses)                          \
    X(vkCreateQueryPool, kRunsOut | kCreates)                       \
    X(vkDestroyQueryPool, kDestroys)                                \
    X(vkGetQueryPoolResults, kRunsOut | kLoses)                     \
    X(vkCreateShaderModule, kRunsOut | kCreates)                    \
    X(vkDestroyShaderModule, kDestroys)                             \
    X(vkCreatePipelineCache, kRunsOut | kCreates)                   \
    X(vkDestroyPipelineCache, kDestroys)                            \
    X(vkGetPipelineCacheData, kRunsOut)                             \
    X(vkMergePipelineCaches, kRunsOut)                              \
    X(vkCreateComputePipelines, kRunsOut)                           \
    X(vkDestroyPipeline, kDestroys)                                 \
    X(vkCreatePipelineLayout, kRunsOut | kCreates)                  \
    X(vkDestroyPipelineLayout, kDestroys)                           \
    X(vkCreateDescriptorSetLayout, kRunsOut | kCreates)             \
    X(vkDestroyDescriptorSetLayout, kDestroys)                      \
    X(vkCreateDescriptorPool, kRunsOut | kCreates)                  \
    X(vkDestroyDescriptorPool, kDestroys)                           \
    X(vkAllocateDescriptorSets, kRunsOut)                           \
    X(vkUpdateDescriptorSets, kPlain)                               \
    X(vkCreateDescriptorUpdateTemplate, kRunsOut | kCreates)        \
    X(vkDestroyDescriptorUpdateTemplate, kDestroys)                 \
    X(vkCreateCommandPool, kRunsOut | kCreates)                     \
    X(vkDestroyCommandPool, kDestroys)                              \
    X(vkResetCommandPool, kRunsOut)                                 \
    X(vkAllocateCommandBuffers, kRunsOut)                           \
    X(vkFreeCommandBuffers, kPlain)                                 \
    X(vkResetCommandBuffer, kRunsOut)                               \
    X(vkBeginCommandBuffer, kRunsOut)                               \
    X(vkEndCommandBuffer, kRunsOut)                                 \
    X(vkCmdDispatch, kPlain)                                        \
    X(vkCmdDispatchBase, kPlain)                                    \
    X(vkCmdCopyBuffer, kPlain)                                      \
    X(vkCmdFillBuffer, kPlain)                                      \
    X(vkCmdPipelineBarrier, kPlain)                                 \
    X(vkCmdPipelineBarrier2, kPlain)                                \
    X(vkCmdWriteTimestamp, kPlain)                                  \
    X(vkCmdWriteTimestamp2, kPlain)
// clang-format on

enum class Id : std::size_t {
#define WEFT_FAULT_ID(name, traits) name,
    WEFT_FAULT_FUNCTIONS(WEFT_FAULT_ID)
#undef WEFT_FAULT_ID
        count
};

inline constexpr std::size_t kFunctions = static_cast<std::size_t>(Id::count);

struct Function {
    const char* name;
    unsigned traits;
};

inline constexpr std::array<Function, kFunctions> kFunctionTable{{
#define WEFT_FAULT_ROW(name, traits) {#name, traits},
    WEFT_FAULT_FUNCTIONS(WEFT_FAULT_ROW)
#undef WEFT_FAULT_ROW
}};

constexpr unsigned traits_of(Id id) {
    return kFunctionTable[static_cast<std::size_t>(id)].traits;
}

template <Id>
struct TypeOf;
#define WEFT_FAULT_TYPE(name, traits) \
    template <>                       \
    struct TypeOf<Id::name> {         \
        using Pointer = PFN_##name;   \
    };
WEFT_FAULT_FUNCTIONS(WEFT_FAULT_TYPE)
#undef WEFT_FAULT_TYPE

/// The function of the real loader; null if it has none.
PFN_vkVoidFunction real_function(Id id);

template <Id id>
auto real() {
    return reinterpret_cast<typename TypeOf<id>::Pointer>(real_function(id));
}

}  // namespace weft_fault
