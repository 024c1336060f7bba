// SPDX-License-Identifier: Apache-2.0
// A file without a disk, for readers that open one by its path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "fuzz/target.hpp"

namespace weft_fuzz {

class MemoryFile {
  public:
    explicit MemoryFile(std::string_view bytes) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
        require(descriptor_ >= 0 &&
                    write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
                "the file of the input is made");
    }
    ~MemoryFile() { close(descriptor_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  private:
    int descriptor_;
};

}  // namespace weft_fuzz
