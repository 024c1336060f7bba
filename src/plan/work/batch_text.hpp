// SPDX-License-Identifier: Apache-2.0
// What the log says of a batch: its jobs, chunks, path, slots and memory, with the reasons. Pure.
#pragma once

#include <string>
#include <string_view>

#include <weft/batch.hpp>

#include "plan/work/batch_check.hpp"

namespace weft::core {

/// One line. `path_reason` is Route::reason of the first bundle.
std::string batch_text(std::string_view program, const BatchReport& report, const BatchSettings& settings,
                       const char* path_reason);

}  // namespace weft::core
