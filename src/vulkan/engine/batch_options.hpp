// SPDX-License-Identifier: Apache-2.0
// The checks of run_batch for calls that take its options and go another way.
#pragma once

#include <weft/batch.hpp>

namespace weft::core {

/// Errors: as run_batch refuses these options.
void check_batch_options(Backend& backend, const BatchOptions& options);

}  // namespace weft::core
