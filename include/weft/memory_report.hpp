// SPDX-License-Identifier: Apache-2.0
// What memory weft holds, and for which names.
//
// Example:
//     weft::Backend backend;
//     const weft::Buffer<float> weights(backend, 1024, "weights");
//     std::printf("%llu bytes\n", static_cast<unsigned long long>(backend.memory().live_bytes));
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

class Stream;

/// Device or page-locked memory, counted from the objects that hold it.
struct MemoryReport {
    struct Named {
        std::string name;
        std::uint64_t live_bytes = 0, peak_bytes = 0, live_count = 0;
    };
    struct Heap {
        /// Bytes; budget and usage as the driver reports them, else 0.
        std::uint64_t size = 0, budget = 0, usage = 0;
        bool device_local = false;
        std::uint64_t kept =
            0;  ///< part of usage: large blocks that weft keeps for the next buffer of their size
    };
    std::uint64_t live_bytes = 0;  ///< in use by buffers
    std::uint64_t peak_bytes = 0;  ///< highest live_bytes so far
    std::uint64_t live_buffers = 0;
    std::uint64_t block_bytes = 0;  ///< taken from the driver
    std::uint64_t blocks = 0;       ///< allocations that make up block_bytes
    std::uint64_t limit = 0;        ///< Config::memory_limit, the most that block_bytes may be; 0: none
    /// 1 - largest free range / free bytes over all blocks; 0 if nothing is free.
    double fragmentation = 0;
    std::vector<Named> names;  ///< sorted by name; buffers without one are under "buffer" or "host buffer"
    std::vector<Heap> heaps;
};

namespace detail {
MemoryReport memory_report(const Stream&);
}

}  // namespace weft
