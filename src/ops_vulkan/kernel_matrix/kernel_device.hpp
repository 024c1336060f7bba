// SPDX-License-Identifier: Apache-2.0
// What the plan of a kernel matrix may know of the device that a stream or a backend works on, and the
// measurement of tiles before a job that is long enough to repay it.
#pragma once

#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops_vulkan/gram/gram_device.hpp"

namespace weft::kernels {

/// `states`: there are inner products to make. Only then are matrix units judged and measured tiles looked
/// up. `few`: a call with few_rows, for which the driver is not asked how much memory is free, because the
/// answer may take longer than the call.
KernelMatrixDevice kernel_device(const Owner& owner, bool states, const KernelMatrixOptions& options,
                                 bool few = false);

/// Measures and keeps a tile for the planned products if there is none yet and the job is long enough.
/// Returns whether `device` knows another tile now. A measurement that runs out of memory leaves the planned
/// tile. Errors: cancelled; device_lost, driver.
bool tune_before(Backend& backend, GramDevice& device, const KernelMatrixPlan& plan,
                 const KernelMatrixOptions& options, const BatchOptions& batch);

}  // namespace weft::kernels
