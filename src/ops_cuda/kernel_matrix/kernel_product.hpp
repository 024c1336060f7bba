// SPDX-License-Identifier: Apache-2.0
// Kernel matrices of circuits whose layers cancel, in closed form, from planes as angle_planes makes them.
#pragma once

#include <cstdint>

#include <weft/cuda/kernel_matrix.hpp>

#include "cuda/scratch.hpp"
#include "ops/kernel_matrix/kernel_plan.hpp"

namespace weft::cuda {

/// Puts all of K on the stream.
void launch_product(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const Scratch& planes,
                    const DeviceArray& k, const KernelMatrixOptions& options);

/// Makes rows of K in host memory. All arguments but the planes must outlive it.
class StreamedRows {
  public:
    StreamedRows(StreamHandle stream, const kernels::KernelMatrixPlan& plan, Scratch planes,
                 const HostArray& k, const KernelMatrixOptions& options);
    /// `all_pairs` is the total of the progress. Errors: cancelled; what the callback of `batch` throws.
    std::uint64_t make(const kernels::RowRange& range, const BatchOptions& batch,
                       std::uint64_t all_pairs) const;

  private:
    const kernels::KernelMatrixPlan& plan_;
    const Scratch planes_;
    const HostArray& k_;
    const KernelMatrixOptions& options_;
};

}  // namespace weft::cuda
