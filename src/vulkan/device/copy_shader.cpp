// SPDX-License-Identifier: Apache-2.0
#include "vulkan/device/copy_shader.hpp"

namespace weft::core {
namespace {

constexpr std::uint32_t kDeviceCopySpirv[] = {
#include "shaders/device_copy.spv.inc"
};

}  // namespace

const Pipeline& CopyShader::pipeline(PipelineCache& pipelines) {
    const std::lock_guard lock(mutex_);
    if (pipeline_ == nullptr) pipeline_ = &pipelines.get(kDeviceCopySpirv, {.name = "device_copy"});
    return *pipeline_;
}

}  // namespace weft::core
