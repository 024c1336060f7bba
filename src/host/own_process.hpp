// SPDX-License-Identifier: Apache-2.0
// Whether a process is the one in which an object was made, or a fork of it. getpid() would tell as well, but
// it is a call of the kernel, and small calls of weft ask dozens of times.
#pragma once

#include <cstdint>

#include <sys/types.h>

namespace weft::core {

class OwnProcess {
  public:
    /// The process that runs.
    OwnProcess() noexcept;
    /// Whether it still runs. False in a child that fork() made since.
    bool here() const noexcept;
    pid_t id() const noexcept { return id_; }

  private:
    std::uint64_t forks_;  // before it, if they are counted
    pid_t id_;
};

}  // namespace weft::core
