// SPDX-License-Identifier: Apache-2.0
// A range of host memory seen through a buffer. It has a header of its own, so that code which only places
// ranges needs no Vulkan.
#pragma once

#include <cstdint>
#include <memory>

namespace weft::core {

class BufferObject;

struct HostRange {
    std::shared_ptr<BufferObject> buffer;  // empty: not page-locked
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;  // from `offset` to the end of the buffer, if find() made the range
};

}  // namespace weft::core
