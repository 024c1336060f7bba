// SPDX-License-Identifier: Apache-2.0
// Transforms of a batch in host memory, some at a time: while one set of buffers is transformed, the next one
// is uploaded and the one before is downloaded.
#pragma once

#include <cstdint>
#include <functional>

#include <weft/batch.hpp>
#include <weft/ops/ntt.hpp>

#include "ops_vulkan/ntt/ntt_resident.hpp"

namespace weft::kernels {

/// A batch in host memory. Of `columns`, the transforms are columns of a matrix with `pitch` of them.
struct NttHostBatch {
    const std::byte* in = nullptr;
    std::byte* out = nullptr;
    std::uint64_t in_elements = 0, out_elements = 0;  ///< of each transform
    std::uint64_t element_bytes = 0, pitch = 0;
    NttLayout layout = NttLayout::rows;

    std::uint64_t transform_bytes() const { return (in_elements + out_elements) * element_bytes; }
};

/// Records the transforms of `count` inputs, which lie in the buffers as in the batch, but without others
/// between.
using NttRecord = std::function<void(Stream& stream, std::uint64_t count, const Words& in, const Words& out)>;

/// Transforms [first, first + count) of the batch. Errors: out_of_memory, cancelled, device_lost, driver.
BatchReport run_ntt_rounds(Backend& backend, const char* function, const NttHostBatch& batch,
                           std::uint64_t first, std::uint64_t count, const BatchOptions& options,
                           const NttRecord& record);

}  // namespace weft::kernels
