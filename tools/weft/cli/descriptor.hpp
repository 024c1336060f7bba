// SPDX-License-Identifier: Apache-2.0
// A file's descriptor, closed at the end of a scope.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>

namespace weft::tool {

class Descriptor {
  public:
    /// To read, and errno says why not where get() is below 0. O_NONBLOCK: a named pipe that nobody writes to
    /// must not hang the command.
    explicit Descriptor(const std::string& path)
        : value_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~Descriptor() {
        if (value_ >= 0) close(value_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const noexcept { return value_; }

  private:
    int value_;
};

}  // namespace weft::tool
