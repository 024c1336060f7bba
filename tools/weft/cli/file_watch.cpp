// SPDX-License-Identifier: Apache-2.0
#include "cli/file_watch.hpp"

#include <cerrno>
#include <cstring>

namespace weft::tool {

FileWatch::FileWatch(int descriptor)
    : descriptor_(descriptor), valid_(descriptor >= 0 && fstat(descriptor, &then_) == 0) {}

// The time is compared as well as the size, because a file may shrink, be read, and grow to its old size
// again.
std::string FileWatch::change() const {
    struct stat now {};
    if (fstat(descriptor_, &now) != 0) return std::string("cannot be read: ") + std::strerror(errno);
    if (now.st_size < then_.st_size)
        return "the file shrank while it was read (got " + std::to_string(now.st_size) + " bytes, need " +
               std::to_string(then_.st_size) + ")";
    const bool same = now.st_size == then_.st_size && now.st_mtim.tv_sec == then_.st_mtim.tv_sec &&
                      now.st_mtim.tv_nsec == then_.st_mtim.tv_nsec;
    return same ? "" : "the file was written to while it was read";
}

}  // namespace weft::tool
