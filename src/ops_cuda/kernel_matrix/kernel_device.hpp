// SPDX-License-Identifier: Apache-2.0
// The current CUDA device as plans of kernel matrices see it.
#pragma once

#include "ops/kernel_matrix/kernel_plan.hpp"

namespace weft::cuda {

/// Errors: no_device.
kernels::KernelMatrixDevice kernel_device();

}  // namespace weft::cuda
