// SPDX-License-Identifier: Apache-2.0
// Range that must be flushed or invalidated for [offset, offset + bytes) of non-coherent memory: rounded out
// to whole atoms, clamped to the end of the allocation (the last atom of an allocation may be cut short).
#pragma once

#include <cstdint>

namespace weft::core {

struct MappedRange {
    std::uint64_t offset = 0, bytes = 0;
    bool operator==(const MappedRange&) const = default;
};

MappedRange flush_range(std::uint64_t offset, std::uint64_t bytes, std::uint64_t atom,
                        std::uint64_t allocation_bytes);

}  // namespace weft::core
