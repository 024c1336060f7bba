// SPDX-License-Identifier: Apache-2.0
#include "device/cuda_settings.hpp"

#include <string>

#include "cli/failure.hpp"

namespace weft::tool {
namespace {

void refuse_if(bool set, const char* variable, const std::string& why) {
    if (set)
        throw Failure(Exit::usage, std::string("--backend cuda: ") + variable + " does not apply: " + why +
                                       " (need it unset, or --backend vulkan)");
}

}  // namespace

CudaSettings cuda_settings(const Config& config) {
    const Config usual;
    const char* const kOneWay = "chunks go one way, through page-locked slots";
    refuse_if(!config.trace.empty(), "WEFT_TRACE", "traces are of Vulkan's queues");
    refuse_if(config.path != usual.path, "WEFT_PATH", kOneWay);
    refuse_if(config.device_local.has_value(), "GPU_DEVICE_LOCAL", kOneWay);
    refuse_if(config.queues != usual.queues, "WEFT_QUEUES", "each slot has a stream of its own");
    refuse_if(config.host_allocator == HostAllocator::vulkan, "WEFT_HOST_ALLOC",
              "CUDA allocates the page-locked memory");
    refuse_if(config.validation != usual.validation, "WEFT_VALIDATION", "there is no layer to load");
    refuse_if(config.dispatch_ms != usual.dispatch_ms, "WEFT_DISPATCH_MS", "kernels of CUDA are not cut");
    return {config.chunk_elements.value_or(0), config.ring_slots.value_or(0),
            config.copy_threads.value_or(0)};
}

}  // namespace weft::tool
