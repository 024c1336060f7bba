// SPDX-License-Identifier: Apache-2.0
// Reads reports from the JSON that weft profile wrote.
#pragma once

#include <string>
#include <string_view>

#include "measure/report_result.hpp"

namespace weft::tool {

/// Adds the kernel of one file of results to `report`, whose machine and runs are those of the first file.
/// Whatever differs from file to file (time, number of runs, version of weft) becomes a note. Errors:
/// std::invalid_argument, whose text follows the file's name - not such results, another machine than that of
/// the report, a kernel that the report has already. The report is unchanged then.
void add_results(Report& report, const std::string& name, std::string_view json);

}  // namespace weft::tool
