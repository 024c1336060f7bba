// SPDX-License-Identifier: Apache-2.0
// Reports of `weft profile`: measure the kernels at all sizes, then write the files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "measure/report_kernel.hpp"
#include "measure/report_options.hpp"

namespace weft::tool {

using ReportKernels = std::vector<std::unique_ptr<ReportKernel>>;

/// `name`: "field", .., or "all", which adds a picture of all kernels. Prints a line for each figure when it
/// is measured, writes the files of each kernel before the next begins, and prints findings and advice at the
/// end. A first SIGINT ends the measurement, and the results so far are reported. Errors: Failure with
/// Exit::failed - nothing ran, a result was wrong (the files are written nevertheless), or files cannot be
/// written; with Exit::interrupted.
void run_report(const std::string& name, const ReportOptions& options, const ReportKernels& kernels);

void add_profile_ntt(CLI::App& profile);
void add_profile_encode(CLI::App& profile);
void add_profile_kernel(CLI::App& profile);
void add_profile_lattice(CLI::App& profile);
void add_profile_all(CLI::App& profile);
void add_profile_from(CLI::App& profile);

}  // namespace weft::tool
