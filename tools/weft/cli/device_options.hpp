// SPDX-License-Identifier: Apache-2.0
// What every subcommand that uses a device has in common: which one, and what it means when there is none.
#pragma once

#include <string>

#include <CLI/CLI.hpp>
#include <weft/weft.hpp>

#include "cli/failure.hpp"

namespace weft::tool {

struct DeviceOptions {
    std::string device;  ///< empty: as WEFT_DEVICE says
    std::string backend = "vulkan";

    /// `cuda`: whether the command runs on it too.
    void add_to(CLI::App& command, bool cuda = false);
    /// The environment with --device on top. Errors: weft::Error - a variable with a value that is not legal.
    Config config() const;
    /// For --explain. Errors: Failure with Exit::usage - the back end is not Vulkan, the only one that is
    /// planned.
    void require_planned() const;
};

/// Exit status for an error of the library.
Exit exit_of(const Error& error) noexcept;

/// A Backend. Errors: Failure with Exit::device where no device can be used, also because the device setting
/// matches nothing.
Backend open_backend(const Config& config);

}  // namespace weft::tool
