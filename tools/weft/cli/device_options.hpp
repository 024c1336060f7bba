// SPDX-License-Identifier: Apache-2.0
// Options of every subcommand that uses a device: which device, and the exit status if there is none.
#pragma once

#include <string>

#include <CLI/CLI.hpp>
#include <weft/weft.hpp>

#include "cli/failure.hpp"

namespace weft::tool {

struct DeviceOptions {
    std::string device;  ///< empty: as WEFT_DEVICE says
    std::string backend = "vulkan";

    /// `cuda`: whether the command can also run on CUDA.
    void add_to(CLI::App& command, bool cuda = false);
    /// The environment, with --device in place of WEFT_DEVICE. Errors: weft::Error - a variable with a value
    /// that is not legal.
    Config config() const;
    /// For --explain. Errors: Failure with Exit::usage - the back end is not Vulkan, because only Vulkan has
    /// a plan.
    void require_planned() const;
};

/// Exit status for an error of the library.
Exit exit_of(const Error& error) noexcept;

/// A Backend. Errors: Failure with Exit::device - no device can be used, or the device setting matches
/// nothing.
Backend open_backend(const Config& config);

}  // namespace weft::tool
