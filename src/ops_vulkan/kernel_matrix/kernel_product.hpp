// SPDX-License-Identifier: Apache-2.0
// Kernel matrices of circuits whose layers cancel, in closed form.
#pragma once

#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops_vulkan/kernel_matrix/kernel_memory.hpp"

namespace weft::kernels {

/// Records K of resident features; `y` may be null.
void product_resident(Stream& stream, const KernelMatrixPlan& plan, const ConstDeviceArray& x,
                      const ConstDeviceArray* y, const DeviceArray& k, double scale,
                      const KernelMatrixOptions& options);

/// Makes K in host memory, as jobs of rows for the batch engine; `y` may be null. Errors: as run_batch.
void product_streamed(Backend& backend, HostScratch& scratch, const KernelMatrixPlan& plan,
                      const ConstHostArray& x, const ConstHostArray* y, const HostArray& k, double scale,
                      const KernelMatrixOptions& options, const BatchOptions& batch);

}  // namespace weft::kernels
