// SPDX-License-Identifier: Apache-2.0
// Work on arrays in host memory: cut into chunks, which go through a ring of slots. A slot has a CUDA stream,
// page-locked staging memory and device memory; while one chunk is computed, others are copied there and
// back. What is page-locked already is not staged. Rings are kept for the next call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <weft/batch.hpp>
#include <weft/cuda/device.hpp>

namespace weft::cuda {

/// `bytes` in all, `element_bytes` an element; the last element may be there in part.
struct HostInput {
    const void* data = nullptr;
    std::uint64_t bytes = 0, element_bytes = 0;
};
struct HostOutput {
    void* data = nullptr;
    std::uint64_t bytes = 0, element_bytes = 0;
};

/// Elements [first, first + count) on the device, in the order of HostWork's arrays.
struct Chunk {
    StreamHandle stream = nullptr;
    std::vector<std::byte*> inputs, outputs;
    std::uint64_t first = 0, count = 0;
};

struct HostWork {
    std::vector<HostInput> inputs;
    std::vector<HostOutput> outputs;
    std::uint64_t elements = 0;
    std::uint64_t multiple = 1;  ///< elements that chunks come in, but for the last one
    /// Puts the kernels of a chunk on its stream.
    std::function<void(const Chunk&)> launch;
    /// When the chunk's work is done, before its results are the caller's. May throw.
    std::function<void(const Chunk&)> done = {};
};

/// Threads of this machine, at least 1.
std::uint32_t host_threads();

/// Runs all chunks and adds them to `report`. No work is under way afterwards, also if it throws.
void run_chunks(const char* function, const HostWork& work, BatchReport& report);

}  // namespace weft::cuda
