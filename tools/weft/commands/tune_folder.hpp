// SPDX-License-Identifier: Apache-2.0
// Whether what is about to be measured could be kept.
#pragma once

#include <weft/weft.hpp>

namespace weft::tool {

/// Makes the folder of tunings. Errors: Failure with Exit::failed - it cannot be made or written to.
void require_tuning_folder(const Backend& backend);

}  // namespace weft::tool
