// SPDX-License-Identifier: Apache-2.0
// Reports out of the JSON that weft profile wrote.
#pragma once

#include <string>
#include <string_view>

#include "report/report_result.hpp"

namespace weft::tool {

/// Adds the kernel of one file of results to `report`, which takes machine and runs from the first of them.
/// What differs from file to file (when, how often, by which weft) becomes a note of it.
/// Errors: std::invalid_argument, text for behind the file's name - not such results, another machine than
/// that of the report, a kernel that the report has. The report is as it was then.
void add_results(Report& report, const std::string& name, std::string_view json);

}  // namespace weft::tool
