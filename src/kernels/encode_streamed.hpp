// SPDX-License-Identifier: Apache-2.0
// Encodes from and to host memory, by the engine of run_batch where one dispatch makes an element, by a
// Stream where states need several passes.
#pragma once

#include <vector>

#include <weft/encode.hpp>

#include "kernels/encode_plan.hpp"

namespace weft::kernels {

/// Appends the samples that failed. Arguments have been checked.
BatchReport encode_by_jobs(Backend& backend, const EncodePlan& plan, const EncodeSource& values,
                           const EncodeTarget& states, const BatchOptions& options,
                           std::vector<EncodeFailure>& failures);

BatchReport encode_by_rounds(Backend& backend, const EncodePlan& plan, const EncodeSource& values,
                             const EncodeTarget& states, const BatchOptions& options,
                             std::vector<EncodeFailure>& failures);

}  // namespace weft::kernels
