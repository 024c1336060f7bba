// SPDX-License-Identifier: Apache-2.0
// The first Ctrl-C ends the measurement but not the command.
#pragma once

#include <csignal>

namespace weft::tool {

/// While the object lives, the first SIGINT prints `line` on stderr and sets a flag. A further one ends the
/// process as it would without this object. Only one object at a time, on the main thread. A process that
/// ignores SIGINT continues to ignore it.
class FirstInterrupt {
  public:
    /// `line` must outlive the object.
    explicit FirstInterrupt(const char* line);
    ~FirstInterrupt();
    FirstInterrupt(const FirstInterrupt&) = delete;
    FirstInterrupt& operator=(const FirstInterrupt&) = delete;

    bool noted() const;

  private:
    bool ignored_ = false;
};

}  // namespace weft::tool
