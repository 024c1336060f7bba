// SPDX-License-Identifier: Apache-2.0
// Files that are read. If another program writes to a file meanwhile, the rows may belong to two versions, or
// be zeros beyond its new end.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace weft::tool {

/// A file's descriptor, closed at the end of a scope.
class Descriptor {
  public:
    /// Opens the file for reading; if get() is below 0, errno has the reason. O_NONBLOCK: a named pipe that
    /// no program writes to must not hang the command.
    explicit Descriptor(const std::string& path)
        : value_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~Descriptor() {
        if (value_ >= 0) close(value_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const noexcept { return value_; }

  private:
    int value_;
};

/// The state of a file when it was opened.
class FileWatch {
  public:
    /// The caller owns `descriptor` and keeps it open while this object is used; -1: none.
    explicit FileWatch(int descriptor);
    bool valid() const noexcept { return valid_; }
    std::uint64_t size() const noexcept { return static_cast<std::uint64_t>(then_.st_size); }
    /// How the file has changed since then, in one line; empty if it has not. In that case everything that
    /// was read before this call belongs to one version of the file.
    std::string change() const;

  private:
    int descriptor_;
    struct stat then_ {};
    bool valid_;
};

}  // namespace weft::tool
