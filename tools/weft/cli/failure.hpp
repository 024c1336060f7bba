// SPDX-License-Identifier: Apache-2.0
// How a run of the command ends.
#pragma once

#include <stdexcept>
#include <string>

namespace weft::tool {

enum class Exit : int {
    success = 0,
    usage = 2,          ///< usage, a bad value, an input that is missing or cannot be used
    device = 3,         ///< no device that can be used
    failed = 4,         ///< the device failed or an output cannot be written
    interrupted = 130,  ///< by Ctrl-C, after what was done has been written; as shells count a SIGINT
};

/// Ends the command with one line on stderr and this exit status.
class Failure : public std::runtime_error {
  public:
    Failure(Exit exit, const std::string& what) : std::runtime_error(what), exit_(exit) {}
    Exit exit() const noexcept { return exit_; }

  private:
    Exit exit_;
};

}  // namespace weft::tool
