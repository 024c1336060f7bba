// SPDX-License-Identifier: Apache-2.0
// What a plan may know of the device that a stream or a backend works on.
#pragma once

#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_plan.hpp"

namespace weft::kernels {

/// `states`: there are inner products to make, so matrix units are judged and measured tiles looked up, which
/// is left out otherwise.
KernelMatrixDevice kernel_device(const Stream& stream, bool states, const KernelMatrixOptions& options);
KernelMatrixDevice kernel_device(const Backend& backend, bool states, const KernelMatrixOptions& options);

}  // namespace weft::kernels
