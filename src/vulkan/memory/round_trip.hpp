// SPDX-License-Identifier: Apache-2.0
// Whether bytes of a host memory block arrive unchanged on the device and back.
#pragma once

#include <string>

#include "vulkan/memory/block_source.hpp"

namespace weft::core {

/// Fills the first half of `block` with a pattern and copies it to device memory, and from there to the
/// second half. Returns what differs; empty: nothing. Uses the upload queue and objects of its own. Errors:
/// driver, out_of_memory.
std::string check_round_trip(Device& device, const MemoryBlock& block);

}  // namespace weft::core
