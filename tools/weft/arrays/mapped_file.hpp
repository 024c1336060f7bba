// SPDX-License-Identifier: Apache-2.0
// A file that is read through a mapping, so that arrays larger than memory work.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "cli/file_watch.hpp"

namespace weft::tool {

class MappedFile {
  public:
    /// Errors: Failure with Exit::usage - the file is missing, empty, or cannot be read. The text begins with
    /// `name`.
    MappedFile(const std::string& file, std::string name);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::span<const std::byte> bytes() const noexcept { return bytes_; }
    /// Call it after the last read. Errors: Failure with Exit::usage - another program wrote to the file
    /// after it was opened, so the bytes that were read may belong to two versions.
    void require_unchanged() const;

  private:
    std::string name_;
    Descriptor descriptor_;
    FileWatch watch_;  // made before the first byte is read
    std::span<const std::byte> bytes_;
};

}  // namespace weft::tool
