// SPDX-License-Identifier: Apache-2.0
// Kernel matrices of states: packed side by side, multiplied block by block.
#pragma once

#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops_vulkan/kernel_matrix/kernel_states.hpp"

namespace weft::kernels {

/// Records K into resident memory.
void blocks_resident(Stream& stream, KernelMemory& memory, const KernelMatrixPlan& plan, StateSource& source,
                     const DeviceArray& k, const KernelMatrixOptions& options);

/// Makes K in host memory and waits for every block. Errors: cancelled; what the callback of `batch` throws.
void blocks_streamed(Backend& backend, HostScratch& scratch, const KernelMatrixPlan& plan,
                     StateSource& source, const HostArray& k, const KernelMatrixOptions& options,
                     const BatchOptions& batch);

}  // namespace weft::kernels
