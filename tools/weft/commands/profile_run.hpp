// SPDX-License-Identifier: Apache-2.0
// What the subcommands of `weft profile` have in common: how often, on which device, and where the report
// goes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <weft/weft.hpp>

#include "cli/device_options.hpp"
#include "cli/print_json.hpp"

namespace weft::tool {

struct ProfileRun {
    std::size_t repeats = 5, warmup = 1;
    std::string json, csv, trace;  ///< files; empty: none
    DeviceOptions device;

    /// Returns those of a single run only: the files.
    std::vector<CLI::Option*> add_to(CLI::App& command);

    /// One run of the work; tells how much of it is done.
    using Work = std::function<BatchReport(const ProgressCallback& progress)>;

    /// Runs `work` warmup + repeats times, the repeats under a Profile; calls `verify` after the warm-up and
    /// at the end, `forget` (destroys the results of the warm-up) in between; then prints the table and
    /// writes the files. `about`: what was run, for the JSON. Errors: whatever the parts throw; no file is
    /// written then.
    void run(Backend& backend, const std::string& label, const Json& about, const Work& work,
             const std::function<void()>& forget, const std::function<void()>& verify) const;
    /// Errors: Failure with Exit::failed - a file that cannot be written.
    void require_outputs() const;
};

void add_profile_field(CLI::App& profile);

}  // namespace weft::tool
