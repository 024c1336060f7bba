// SPDX-License-Identifier: Apache-2.0
// A report's files in its folder.
#pragma once

#include <string>

#include "report/report_result.hpp"

namespace weft::tool {

struct ReportParts {
    bool results = true;    ///< the figures themselves, as JSON
    bool plot = true;       ///< pictures
    bool combined = false;  ///< one of all kernels together
};

/// Writes the files, keeps their names in the report, and prints findings and names. A picture that cannot be
/// made is a note of the report. Errors: Failure with Exit::failed - a file cannot be written.
void write_report(Report& report, const std::string& folder, const ReportParts& parts);

}  // namespace weft::tool
