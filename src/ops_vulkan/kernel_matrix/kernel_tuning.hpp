// SPDX-License-Identifier: Apache-2.0
// Measured tiles of kernel matrices: before a job that pays for it.
#pragma once

#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_plan.hpp"

namespace weft::kernels {

/// Measures and keeps a tile for the planned products if there is none yet and the job is long enough. true:
/// `device` knows another tile, plan again. What fails for want of memory leaves the planned tile.
/// Errors: cancelled; device_lost, driver.
bool tune_before(Backend& backend, GramDevice& device, const KernelMatrixPlan& plan,
                const KernelMatrixOptions& options);

}  // namespace weft::kernels
