// SPDX-License-Identifier: Apache-2.0
#include "plan/work/mapped_range.hpp"

#include <algorithm>

namespace weft::core {

MappedRange flush_range(std::uint64_t offset, std::uint64_t bytes, std::uint64_t atom,
                        std::uint64_t allocation_bytes) {
    atom = std::max<std::uint64_t>(atom, 1);
    offset = std::min(offset, allocation_bytes);
    bytes = std::min(bytes, allocation_bytes - offset);
    const std::uint64_t begin = offset - offset % atom;
    if (bytes == 0) return {begin, 0};
    const std::uint64_t end = offset + bytes;
    const std::uint64_t past = end % atom;
    const std::uint64_t missing = past == 0 ? 0 : atom - past;
    return {begin, end - begin + std::min(missing, allocation_bytes - end)};
}

}  // namespace weft::core
