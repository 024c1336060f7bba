// SPDX-License-Identifier: Apache-2.0
// Kernel matrices of circuits that cancel, on the device and through it.
#pragma once

#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_plan.hpp"

namespace weft::kernels {

/// Records K of resident features; `y` may be null.
void product_resident(Stream& stream, const KernelMatrixPlan& plan, const KernelFeatures& x,
                      const KernelFeatures* y, const KernelValues& k, double scale,
                      const KernelMatrixOptions& options);

/// K in host memory, jobs of rows through the batch engine; `y` may be null.
void product_streamed(Backend& backend, const KernelMatrixPlan& plan, const KernelSource& x, const KernelSource* y,
                      const KernelTarget& k, double scale, const KernelMatrixOptions& options);

}  // namespace weft::kernels
