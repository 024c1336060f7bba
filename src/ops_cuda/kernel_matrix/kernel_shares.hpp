// SPDX-License-Identifier: Apache-2.0
// A call on host memory by CUDA: its plan, and its items, made on the current device.
#pragma once

#include <cstdint>
#include <memory>

#include <weft/cuda/device.hpp>
#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/matrix_items.hpp"
#include "plan/work/share_queue.hpp"

namespace weft::cuda {

/// The plan on the current device. Errors: no_device, out_of_memory.
kernels::KernelMatrixPlan plan_on_current(const kernels::HostMatrixCall& call,
                                          const KernelMatrixOptions& options);

/// Makes items on the device that is the current one when it is made and whenever it is used. What it has
/// packed stays for its next share. All arguments must outlive it.
class MatrixShares {
  public:
    MatrixShares(const kernels::KernelMatrixPlan& plan, const kernels::HostMatrixCall& call,
                 const kernels::MatrixItems& items);
    MatrixShares(MatrixShares&&) = delete;
    ~MatrixShares();
    /// `all_pairs` is the total of the progress. Errors: as StreamedBlocks and StreamedRows.
    OpReport make(const core::Share& share, const BatchOptions& batch, std::uint64_t all_pairs);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace weft::cuda
