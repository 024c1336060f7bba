// SPDX-License-Identifier: Apache-2.0
// The current CUDA device as plans of kernel matrices and operators see it.
#pragma once

#include "ops/kernel_matrix/kernel_plan.hpp"

namespace weft::cuda {

/// The user called `function`. Errors: no_device.
kernels::KernelMatrixDevice kernel_device(const char* function = "kernel_matrix");

}  // namespace weft::cuda
