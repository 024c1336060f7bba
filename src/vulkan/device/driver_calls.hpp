// SPDX-License-Identifier: Apache-2.0
// The functions of a device. Each call is a DriverCall, so that no thread is inside the driver when the
// process ends.
#pragma once

#include <cstddef>

#include "host/process_end.hpp"
#include "vulkan/device/vulkan.hpp"

namespace weft::core {

// clang-format off
#define WEFT_DEVICE_FUNCTIONS(X) \
    X(vkAllocateCommandBuffers)             \
    X(vkAllocateDescriptorSets)             \
    X(vkAllocateMemory)                     \
    X(vkBeginCommandBuffer)                 \
    X(vkBindBufferMemory)                   \
    X(vkCmdBindDescriptorSets)              \
    X(vkCmdBindPipeline)                    \
    X(vkCmdCopyBuffer)                      \
    X(vkCmdDispatch)                        \
    X(vkCmdDispatchBase)                    \
    X(vkCmdFillBuffer)                      \
    X(vkCmdPipelineBarrier)                 \
    X(vkCmdPipelineBarrier2)                \
    X(vkCmdPushConstants)                   \
    X(vkCmdWriteTimestamp)                  \
    X(vkCreateBuffer)                       \
    X(vkCreateCommandPool)                  \
    X(vkCreateComputePipelines)             \
    X(vkCreateDescriptorPool)               \
    X(vkCreateDescriptorSetLayout)          \
    X(vkCreatePipelineCache)                \
    X(vkCreatePipelineLayout)               \
    X(vkCreateQueryPool)                    \
    X(vkCreateSemaphore)                    \
    X(vkCreateShaderModule)                 \
    X(vkDestroyBuffer)                      \
    X(vkDestroyCommandPool)                 \
    X(vkDestroyDescriptorPool)              \
    X(vkDestroyDescriptorSetLayout)         \
    X(vkDestroyDevice)                      \
    X(vkDestroyPipeline)                    \
    X(vkDestroyPipelineCache)               \
    X(vkDestroyPipelineLayout)              \
    X(vkDestroyQueryPool)                   \
    X(vkDestroySemaphore)                   \
    X(vkDestroyShaderModule)                \
    X(vkEndCommandBuffer)                   \
    X(vkFlushMappedMemoryRanges)            \
    X(vkFreeCommandBuffers)                 \
    X(vkFreeMemory)                         \
    X(vkGetBufferMemoryRequirements)        \
    X(vkGetDeviceFaultInfoEXT)              \
    X(vkGetDeviceQueue)                     \
    X(vkGetMemoryFdKHR)                     \
    X(vkGetMemoryHostPointerPropertiesEXT)  \
    X(vkGetPipelineCacheData)               \
    X(vkGetQueryPoolResults)                \
    X(vkGetSemaphoreCounterValue)           \
    X(vkGetSemaphoreFdKHR)                  \
    X(vkInvalidateMappedMemoryRanges)       \
    X(vkMapMemory)                          \
    X(vkMergePipelineCaches)                \
    X(vkQueueSubmit)                        \
    X(vkQueueSubmit2)                       \
    X(vkQueueWaitIdle)                      \
    X(vkResetQueryPool)                     \
    X(vkSignalSemaphore)                    \
    X(vkUpdateDescriptorSets)               \
    X(vkWaitSemaphores)
// clang-format on

template <class Result, class... Arguments>
class DriverFunction {
  public:
    using Pointer = Result(VKAPI_PTR*)(Arguments...);
    void operator=(Pointer function) { function_ = function; }
    bool operator==(std::nullptr_t) const { return function_ == nullptr; }  // the driver does not have it
    Result operator()(Arguments... arguments) const {
        const DriverCall call;
        return function_(arguments...);
    }

  private:
    Pointer function_ = nullptr;
};
template <class Pointer>
struct DriverFunctionOf;
template <class Result, class... Arguments>
struct DriverFunctionOf<Result(VKAPI_PTR*)(Arguments...)> {
    using Type = DriverFunction<Result, Arguments...>;
};

struct DriverCalls {
    DriverCalls& operator=(const VolkDeviceTable& table) {
#define WEFT_TAKE(name) name = table.name;
        WEFT_DEVICE_FUNCTIONS(WEFT_TAKE)
#undef WEFT_TAKE
        return *this;
    }

#define WEFT_MEMBER(name) DriverFunctionOf<PFN_##name>::Type name;
    WEFT_DEVICE_FUNCTIONS(WEFT_MEMBER)
#undef WEFT_MEMBER
};

}  // namespace weft::core
