// SPDX-License-Identifier: Apache-2.0
// The shader that copies within device memory.
#pragma once

#include <mutex>

#include "vulkan/device/pipeline_cache.hpp"

namespace weft::core {

/// One of a context. May be used from any thread.
class CopyShader {
  public:
    /// Made by the first call. Errors: out_of_memory, driver.
    const Pipeline& pipeline(PipelineCache& pipelines);

  private:
    std::mutex mutex_;
    const Pipeline* pipeline_ = nullptr;
};

}  // namespace weft::core
