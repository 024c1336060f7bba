// SPDX-License-Identifier: Apache-2.0
// Work on arrays in host memory. It is cut into chunks, which go through a ring of slots. A slot has a CUDA
// stream, page-locked staging memory and device memory. While one chunk is computed, others are copied there
// and back. Arrays that are page-locked already are not staged. Rings are kept for the next call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <weft/batch.hpp>
#include <weft/cuda/device.hpp>

namespace weft::cuda {

/// An array of `bytes` in all, with `element_bytes` for an element. The last element may be there in part.
struct HostInput {
    const void* data = nullptr;
    std::uint64_t bytes = 0, element_bytes = 0;
};
struct HostOutput {
    void* data = nullptr;
    std::uint64_t bytes = 0, element_bytes = 0;
};

/// Elements [first, first + count) on the device. Arrays have the order of HostWork.
struct Chunk {
    StreamHandle stream = nullptr;
    std::vector<std::byte*> inputs, outputs;
    std::uint64_t first = 0, count = 0;
};

struct HostWork {
    std::vector<HostInput> inputs;
    std::vector<HostOutput> outputs;
    std::uint64_t elements = 0;
    std::uint64_t multiple = 1;  ///< chunks other than the last have a multiple of these elements
    /// Puts the kernels of a chunk on its stream.
    std::function<void(const Chunk&)> launch;
    /// Called when the results of a chunk are in place. It may throw.
    std::function<void(const Chunk&)> done = {};
};

/// Threads that copy on the host for a call, the caller's included.
std::uint32_t copy_threads();

/// Cores that the calling thread may use, at least 1.
std::uint32_t host_threads();

/// Elements of a chunk that the caller or the process asked for; 0: they did not.
std::uint64_t wanted_chunk_elements(const BatchOptions& options);

/// Elements of the chunks that run_chunks() makes. Errors: invalid_argument - options out of range.
std::uint64_t chunk_elements(const char* function, const HostWork& work, const BatchOptions& options);

/// Runs all chunks and adds them to `report`. No work is under way afterwards, also if it throws. Of the
/// options, chunk_elements and ring_slots count.
void run_chunks(const char* function, const HostWork& work, const BatchOptions& options, BatchReport& report);

}  // namespace weft::cuda
