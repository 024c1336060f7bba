// SPDX-License-Identifier: Apache-2.0
// Options of every subcommand that uses a device: which device, and the exit status if there is none.
#pragma once

#include <string>

#include <CLI/CLI.hpp>
#include <weft/weft.hpp>

#include "cli/failure.hpp"

namespace weft::tool {

/// What a command does with a setting that names several devices.
enum class Several { best, shared, refused };

struct DeviceOptions {
    std::string device;  ///< empty: as WEFT_DEVICE says
    std::string backend = "vulkan";
    Several several = Several::best;

    /// `cuda`: whether the command can also run on CUDA.
    void add_to(CLI::App& command, bool cuda = false, Several of_several = Several::best);
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
/// All devices that the setting names if they share the work, else one. Errors: as open_backend; Failure with
/// Exit::usage - they are refused.
Devices open_devices(const DeviceOptions& options, const Config& config);

}  // namespace weft::tool
