// SPDX-License-Identifier: Apache-2.0
// Kernel matrices of states: packed side by side, multiplied block by block.
#pragma once

#include <memory>
#include <span>

#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops/kernel_matrix/matrix_items.hpp"
#include "ops_vulkan/kernel_matrix/kernel_states.hpp"

namespace weft::kernels {

/// Records K into resident memory.
void blocks_resident(Stream& stream, KernelMemory& memory, const KernelMatrixPlan& plan, StateSource& source,
                     const DeviceArray& k, const KernelMatrixOptions& options);

/// Makes blocks of K in host memory. All arguments must outlive it.
class StreamedBlocks {
  public:
    /// With a sink, `k` is not used.
    StreamedBlocks(Backend& backend, HostScratch& scratch, const KernelMatrixPlan& plan, StateSource& source,
                   const HostArray& k, const KernelMatrixOptions& options, const BlockSink& sink = {});
    ~StreamedBlocks();
    /// Makes these of host_blocks() and waits for them. Tiles of states stay packed for later blocks.
    /// `all_pairs` is the total of the progress. Calls `in_place` with the index of each block whose values
    /// are in place. Returns the number of parts. Errors: cancelled; what the callback of `batch` throws.
    std::uint64_t make(std::span<const HostBlock> blocks, const BatchOptions& batch, std::uint64_t all_pairs,
                       const InPlace& in_place = {});
    /// The same, but the last blocks are still on their way when it returns. finish() waits for them.
    void begin(std::span<const HostBlock> blocks, const BatchOptions& batch);
    void finish();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace weft::kernels
