// SPDX-License-Identifier: Apache-2.0
// memcpy for ranges that the host will not read again soon. It stores past the caches, which saves the read
// of every target line and makes a copy by many threads half as fast again.
#pragma once

#include <cstddef>

namespace weft::core {

/// Copies `bytes` between ranges that do not overlap. Chooses the widest non-temporal stores of this
/// processor at run time; short ranges and other processors use memcpy. The stores are visible to all on
/// return.
void copy_streaming(void* target, const void* source, std::size_t bytes);

}  // namespace weft::core
