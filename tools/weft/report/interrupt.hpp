// SPDX-License-Identifier: Apache-2.0
// The first Ctrl-C ends the measuring and not the command.
#pragma once

#include <csignal>

namespace weft::tool {

/// While it lives, the first SIGINT prints `line` on stderr and is noted; a further one ends the process as
/// it would without this object. One at a time, on the main thread. A process that ignores SIGINT ignores it
/// still.
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
