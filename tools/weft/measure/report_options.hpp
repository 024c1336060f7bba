// SPDX-License-Identifier: Apache-2.0
// Options that the reports of `weft profile` share: sizes, repeats, device, and the folder of the files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "device/device_options.hpp"
#include "measure/report_measure.hpp"

namespace weft::tool {

struct ReportOptions {
    std::vector<std::uint64_t> batch_sizes{1, 10, 100, 1000, 10000};
    std::string output_dir = "weft-profile";
    bool no_plot = false;
    double total_seconds = 90;
    Repeats repeats;
    DeviceOptions device;

    /// Adds all of them.
    void add_to(CLI::App& command);
    /// --batch-sizes, --output-dir, --no-plot, --max-seconds, --total-seconds: the options that a report has
    /// and a single run lacks.
    std::vector<CLI::Option*> add_report(CLI::App& command);
};

/// "1,10, 100": whole numbers of at least 1, separated by commas; the result is sorted, without duplicates.
/// Errors: std::invalid_argument - what is wrong with them.
std::vector<std::uint64_t> parse_sizes(std::string_view text);

/// Makes the folder. Errors: Failure with Exit::failed - it cannot be made or written to.
void require_folder(const std::string& folder);

/// The current time, UTC, as "20260131_235959", for names of files.
std::string make_stamp();

}  // namespace weft::tool
