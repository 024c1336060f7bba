// SPDX-License-Identifier: Apache-2.0
// How a run of the command ends.
#pragma once

#include <stdexcept>
#include <string>

namespace weft::tool {

enum class Exit : int {
    success = 0,
    usage = 2,   ///< wrong usage, a bad value, an input that is missing or cannot be used
    device = 3,  ///< no device that can be used
    failed = 4,  ///< the device failed or an output cannot be written
    interrupted =
        130,  ///< Ctrl-C, after the finished part was written; shells report SIGINT with this number
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
