// SPDX-License-Identifier: Apache-2.0
// What the figures of a report recommend to change: a path, a size, a setting, a device.
#pragma once

#include <string>
#include <vector>

#include "measure/report_result.hpp"

namespace weft::tool {

/// One sentence for each recommendation; empty if nothing can be gained. The first overload covers one
/// kernel, the second one all kernels and the machine itself.
std::vector<std::string> advice(const KernelResult& result);
std::vector<std::string> advice(const Report& report);

}  // namespace weft::tool
