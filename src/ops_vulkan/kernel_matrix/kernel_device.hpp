// SPDX-License-Identifier: Apache-2.0
// What a plan may know of the device that a stream or a backend works on, and tiles measured on it before a
// job long enough to repay the measurement.
#pragma once

#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_plan.hpp"

namespace weft::kernels {

/// `states`: there are inner products to make, so matrix units are judged and measured tiles looked up, which
/// is left out otherwise.
KernelMatrixDevice kernel_device(const Stream& stream, bool states, const KernelMatrixOptions& options);
KernelMatrixDevice kernel_device(const Backend& backend, bool states, const KernelMatrixOptions& options);

/// Measures and keeps a tile for the planned products if there is none yet and the job is long enough. true:
/// `device` knows another tile, plan again. A measurement that runs out of memory leaves the planned tile.
/// Errors: cancelled; device_lost, driver.
bool tune_before(Backend& backend, GramDevice& device, const KernelMatrixPlan& plan,
                 const KernelMatrixOptions& options, const BatchOptions& batch);

}  // namespace weft::kernels
