// SPDX-License-Identifier: Apache-2.0
// A report as text: JSON, CSV, Markdown, and gnuplot's scripts.
#pragma once

#include <string>

#include "measure/report_result.hpp"

namespace weft::tool {

std::string json_text(const Report& report, const KernelResult& result);
/// One line for each process, size and path that ran.
std::string csv_text(const Report& report, const KernelResult& result);
/// The whole report.
std::string markdown_text(const Report& report);

/// A script that draws `result` into the PNG `output`. It has one row for each process, with time, rate,
/// speed-up and share of the ceiling by size.
std::string plot_script(const Report& report, const KernelResult& result, const std::string& output);
/// All kernels of the report: speed-ups, rates and shares by size, and the best speed-ups as bars.
std::string combined_script(const Report& report, const std::string& output);

/// Runs gnuplot on a script file in `folder`. Returns why no picture was made; empty: it was made.
std::string run_gnuplot(const std::string& folder, const std::string& script);

}  // namespace weft::tool
