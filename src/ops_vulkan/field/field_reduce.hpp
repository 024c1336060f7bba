// SPDX-License-Identifier: Apache-2.0
// Streamed reductions: blocks on the device, their totals on the host.
#pragma once

#include <span>

#include <weft/ops/field.hpp>

namespace weft::kernels {

/// Jobs have passed check_field_jobs. Errors: as run_batch.
template <class Limb>
BatchReport reduce_batch(Backend& backend, Field field, FieldOp op, std::span<const FieldVectors<Limb>> jobs,
                         const FieldOptions& options);

}  // namespace weft::kernels
