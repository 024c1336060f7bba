// SPDX-License-Identifier: Apache-2.0
// The hooks that do more than count: how they describe the device, and what they check.
#pragma once

#include "fault/state.hpp"

namespace weft_fault {

#define WEFT_FAULT_ACT(name, result, ...) result act(Tag<Id::name>, __VA_ARGS__)

// fake_device.cpp
WEFT_FAULT_ACT(vkEnumerateDeviceExtensionProperties, VkResult, VkPhysicalDevice, const char*, std::uint32_t*,
               VkExtensionProperties*);
WEFT_FAULT_ACT(vkGetPhysicalDeviceProperties, void, VkPhysicalDevice, VkPhysicalDeviceProperties*);
WEFT_FAULT_ACT(vkGetPhysicalDeviceProperties2, void, VkPhysicalDevice, VkPhysicalDeviceProperties2*);
WEFT_FAULT_ACT(vkGetPhysicalDeviceFeatures2, void, VkPhysicalDevice, VkPhysicalDeviceFeatures2*);
WEFT_FAULT_ACT(vkGetPhysicalDeviceMemoryProperties, void, VkPhysicalDevice,
               VkPhysicalDeviceMemoryProperties*);
WEFT_FAULT_ACT(vkGetPhysicalDeviceMemoryProperties2, void, VkPhysicalDevice,
               VkPhysicalDeviceMemoryProperties2*);
WEFT_FAULT_ACT(vkGetPhysicalDeviceQueueFamilyProperties, void, VkPhysicalDevice, std::uint32_t*,
               VkQueueFamilyProperties*);
WEFT_FAULT_ACT(vkGetPhysicalDeviceQueueFamilyProperties2, void, VkPhysicalDevice, std::uint32_t*,
               VkQueueFamilyProperties2*);
WEFT_FAULT_ACT(vkCreateDevice, VkResult, VkPhysicalDevice, const VkDeviceCreateInfo*,
               const VkAllocationCallbacks*, VkDevice*);

// fake_pipelines.cpp
WEFT_FAULT_ACT(vkCreatePipelineCache, VkResult, VkDevice, const VkPipelineCacheCreateInfo*,
               const VkAllocationCallbacks*, VkPipelineCache*);
WEFT_FAULT_ACT(vkMergePipelineCaches, VkResult, VkDevice, VkPipelineCache, std::uint32_t,
               const VkPipelineCache*);
WEFT_FAULT_ACT(vkGetPipelineCacheData, VkResult, VkDevice, VkPipelineCache, std::size_t*, void*);
WEFT_FAULT_ACT(vkCreateShaderModule, VkResult, VkDevice, const VkShaderModuleCreateInfo*,
               const VkAllocationCallbacks*, VkShaderModule*);
WEFT_FAULT_ACT(vkCreateComputePipelines, VkResult, VkDevice, VkPipelineCache, std::uint32_t,
               const VkComputePipelineCreateInfo*, const VkAllocationCallbacks*, VkPipeline*);

// loader.cpp
WEFT_FAULT_ACT(vkGetDeviceProcAddr, PFN_vkVoidFunction, VkDevice, const char*);

// fake_memory.cpp
WEFT_FAULT_ACT(vkCreateBuffer, VkResult, VkDevice, const VkBufferCreateInfo*, const VkAllocationCallbacks*,
               VkBuffer*);
WEFT_FAULT_ACT(vkDestroyBuffer, void, VkDevice, VkBuffer, const VkAllocationCallbacks*);
WEFT_FAULT_ACT(vkGetBufferMemoryRequirements, void, VkDevice, VkBuffer, VkMemoryRequirements*);
WEFT_FAULT_ACT(vkGetBufferMemoryRequirements2, void, VkDevice, const VkBufferMemoryRequirementsInfo2*,
               VkMemoryRequirements2*);
WEFT_FAULT_ACT(vkGetMemoryHostPointerPropertiesEXT, VkResult, VkDevice, VkExternalMemoryHandleTypeFlagBits,
               const void*, VkMemoryHostPointerPropertiesEXT*);
WEFT_FAULT_ACT(vkAllocateMemory, VkResult, VkDevice, const VkMemoryAllocateInfo*,
               const VkAllocationCallbacks*, VkDeviceMemory*);
WEFT_FAULT_ACT(vkFreeMemory, void, VkDevice, VkDeviceMemory, const VkAllocationCallbacks*);
WEFT_FAULT_ACT(vkMapMemory, VkResult, VkDevice, VkDeviceMemory, VkDeviceSize, VkDeviceSize, VkMemoryMapFlags,
               void**);
WEFT_FAULT_ACT(vkFlushMappedMemoryRanges, VkResult, VkDevice, std::uint32_t, const VkMappedMemoryRange*);
WEFT_FAULT_ACT(vkInvalidateMappedMemoryRanges, VkResult, VkDevice, std::uint32_t, const VkMappedMemoryRange*);

// fake_commands.cpp
WEFT_FAULT_ACT(vkUpdateDescriptorSets, void, VkDevice, std::uint32_t, const VkWriteDescriptorSet*,
               std::uint32_t, const VkCopyDescriptorSet*);
WEFT_FAULT_ACT(vkCmdDispatch, void, VkCommandBuffer, std::uint32_t, std::uint32_t, std::uint32_t);
WEFT_FAULT_ACT(vkCmdCopyBuffer, void, VkCommandBuffer, VkBuffer, VkBuffer, std::uint32_t,
               const VkBufferCopy*);
WEFT_FAULT_ACT(vkCmdFillBuffer, void, VkCommandBuffer, VkBuffer, VkDeviceSize, VkDeviceSize, std::uint32_t);
WEFT_FAULT_ACT(vkCmdPipelineBarrier, void, VkCommandBuffer, VkPipelineStageFlags, VkPipelineStageFlags,
               VkDependencyFlags, std::uint32_t, const VkMemoryBarrier*, std::uint32_t,
               const VkBufferMemoryBarrier*, std::uint32_t, const VkImageMemoryBarrier*);
WEFT_FAULT_ACT(vkCmdPipelineBarrier2, void, VkCommandBuffer, const VkDependencyInfo*);
WEFT_FAULT_ACT(vkCmdWriteTimestamp, void, VkCommandBuffer, VkPipelineStageFlagBits, VkQueryPool,
               std::uint32_t);
WEFT_FAULT_ACT(vkCmdWriteTimestamp2, void, VkCommandBuffer, VkPipelineStageFlags2, VkQueryPool,
               std::uint32_t);
WEFT_FAULT_ACT(vkGetQueryPoolResults, VkResult, VkDevice, VkQueryPool, std::uint32_t, std::uint32_t,
               std::size_t, void*, VkDeviceSize, VkQueryResultFlags);

// fake_queue.cpp
WEFT_FAULT_ACT(vkGetDeviceQueue, void, VkDevice, std::uint32_t, std::uint32_t, VkQueue*);
WEFT_FAULT_ACT(vkGetDeviceQueue2, void, VkDevice, const VkDeviceQueueInfo2*, VkQueue*);
WEFT_FAULT_ACT(vkQueueSubmit, VkResult, VkQueue, std::uint32_t, const VkSubmitInfo*, VkFence);
WEFT_FAULT_ACT(vkQueueSubmit2, VkResult, VkQueue, std::uint32_t, const VkSubmitInfo2*, VkFence);
WEFT_FAULT_ACT(vkQueueWaitIdle, VkResult, VkQueue);
WEFT_FAULT_ACT(vkDeviceWaitIdle, VkResult, VkDevice);
WEFT_FAULT_ACT(vkSetDebugUtilsObjectNameEXT, VkResult, VkDevice, const VkDebugUtilsObjectNameInfoEXT*);
WEFT_FAULT_ACT(vkCreateCommandPool, VkResult, VkDevice, const VkCommandPoolCreateInfo*,
               const VkAllocationCallbacks*, VkCommandPool*);
WEFT_FAULT_ACT(vkDestroyCommandPool, void, VkDevice, VkCommandPool, const VkAllocationCallbacks*);
WEFT_FAULT_ACT(vkAllocateCommandBuffers, VkResult, VkDevice, const VkCommandBufferAllocateInfo*,
               VkCommandBuffer*);
WEFT_FAULT_ACT(vkFreeCommandBuffers, void, VkDevice, VkCommandPool, std::uint32_t, const VkCommandBuffer*);

#undef WEFT_FAULT_ACT

/// The described family that a command buffer was made for; nothing if families are not described.
const FamilyLie* family_of(VkCommandBuffer commands);
void forget_queues(VkDevice device);

/// Bytes allocated from a described heap.
VkDeviceSize used_of_heap(std::uint32_t heap);
/// The driver's range for a range of a buffer. Records a violation if the range exceeds the buffer.
VkDeviceSize fold(VkBuffer buffer, VkDeviceSize offset, VkDeviceSize bytes, const char* what);

/// Walks a chain of Vulkan structures.
template <class Visit>
void for_each_in_chain(void* chain, const Visit& visit) {
    for (auto* s = static_cast<VkBaseOutStructure*>(chain); s != nullptr; s = s->pNext) visit(s);
}

}  // namespace weft_fault
