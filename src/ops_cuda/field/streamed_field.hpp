// SPDX-License-Identifier: Apache-2.0
// Calls on field vectors in host memory, before anything runs.
#pragma once

#include <span>

#include <weft/ops/field.hpp>

#include "ops/field/field_check.hpp"

namespace weft::cuda {

/// `jobs` must outlive the result. Errors: as field_batch, or as field_apply if `batch` is false.
kernels::FieldCall checked_host_call(Field field, FieldOp op, std::span<const FieldJob> jobs, bool batch,
                                     const FieldHostOptions& options);

}  // namespace weft::cuda
