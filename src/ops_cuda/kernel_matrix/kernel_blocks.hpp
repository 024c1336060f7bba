// SPDX-License-Identifier: Apache-2.0
// Kernel matrices of states in CUDA device memory: packed side by side, multiplied block by block.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <weft/cuda/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops_cuda/kernel_matrix/kernel_states.hpp"

namespace weft::cuda {

/// Puts all of K on the stream.
void launch_blocks(StreamHandle stream, const kernels::KernelMatrixPlan& plan, StateSource& source,
                   const DeviceArray& k, const KernelMatrixOptions& options);

/// Makes blocks of K in host memory. All arguments must outlive it.
class StreamedBlocks {
  public:
    StreamedBlocks(StreamHandle stream, const kernels::KernelMatrixPlan& plan, StateSource& source,
                   const HostArray& k, const KernelMatrixOptions& options);
    ~StreamedBlocks();
    /// Makes these of host_blocks() and waits for them. Tiles of states stay packed for later blocks.
    /// `all_pairs` is the total of the progress. Errors: cancelled; what the callback of `batch` throws.
    std::uint64_t make(std::span<const kernels::HostBlock> blocks, const BatchOptions& batch,
                       std::uint64_t all_pairs);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace weft::cuda
