// SPDX-License-Identifier: Apache-2.0
// What the figures of a report advise to change: a path, a size, a setting, a device.
#pragma once

#include <string>
#include <vector>

#include "report/report_result.hpp"

namespace weft::tool {

/// One sentence each; nothing where there is nothing to gain. Of one kernel alone, and of all together with
/// what the machine itself gives reason for.
std::vector<std::string> advice(const KernelResult& result);
std::vector<std::string> advice(const Report& report);

}  // namespace weft::tool
