// SPDX-License-Identifier: Apache-2.0
// Options and functions that the subcommands of `weft profile` share: the number of runs, the device, and the
// files of the report.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <weft/weft.hpp>

#include "cli/print_json.hpp"
#include "device/device_options.hpp"

namespace weft::tool {

struct ProfileRun {
    std::size_t repeats = 5, warmup = 1;
    std::string json, csv, trace;  ///< files; empty: none
    DeviceOptions device;

    /// Returns the options that only a single run has: the files.
    std::vector<CLI::Option*> add_to(CLI::App& command);

    /// Runs the work one time and reports its progress.
    using Work = std::function<BatchReport(const ProgressCallback& progress)>;

    /// Runs `work` warmup + repeats times, the repeats under a Profile. Calls `verify` after the warm-up and
    /// at the end, and between them `forget`, which destroys the results of the warm-up. Then prints the
    /// table and writes the files. `about`: what was run, for the JSON. Errors: whatever these functions
    /// throw; no file is written then.
    void run(Backend& backend, const std::string& label, const Json& about, const Work& work,
             const std::function<void()>& forget, const std::function<void()>& verify) const;
    /// Errors: Failure with Exit::failed - a file that cannot be written.
    void require_outputs() const;
};

void add_profile_field(CLI::App& profile);

}  // namespace weft::tool
