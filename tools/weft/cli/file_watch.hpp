// SPDX-License-Identifier: Apache-2.0
// A file that somebody writes while it is read yields rows of two files, or zeros behind its new end.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace weft::tool {

/// A file as it was when it was opened.
class FileWatch {
  public:
    /// `descriptor` stays the caller's, open for as long as this is used; -1: none.
    explicit FileWatch(int descriptor);
    bool valid() const noexcept { return valid_; }
    std::uint64_t size() const noexcept { return static_cast<std::uint64_t>(then_.st_size); }
    /// What happened to it since: a line, empty if nothing did. What was read before this was of one file.
    std::string change() const;

  private:
    int descriptor_;
    struct stat then_ {};
    bool valid_;
};

}  // namespace weft::tool
