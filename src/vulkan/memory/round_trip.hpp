// SPDX-License-Identifier: Apache-2.0
// Whether bytes survive the way from a block of host memory to the device and back.
#pragma once

#include <string>

#include "vulkan/memory/pinned_allocator.hpp"

namespace weft::core {

/// Copies the first half of `block`, filled with a pattern, to device memory and from there to the second
/// half. Empty: it arrived. Uses the upload queue and objects of its own. Errors: driver, out_of_memory.
std::string check_round_trip(Device& device, const MemoryBlock& block);

}  // namespace weft::core
