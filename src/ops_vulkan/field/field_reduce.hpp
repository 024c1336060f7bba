// SPDX-License-Identifier: Apache-2.0
// Streamed reductions: blocks on the device, their totals on the host.
#pragma once

#include <weft/ops/field.hpp>

#include "ops/field/field_check.hpp"

namespace weft::kernels {

/// Jobs have passed check_field_jobs. Errors: as run_batch.
BatchReport reduce_batch(Backend& backend, const FieldCall& call, const FieldHostOptions& options);
BatchReport reduce_batch(Devices& devices, const FieldCall& call, const FieldHostOptions& options);

}  // namespace weft::kernels
