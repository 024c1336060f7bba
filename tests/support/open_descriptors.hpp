// SPDX-License-Identifier: Apache-2.0
// The number of file descriptors of this process, to find those that were left open.
#pragma once

#include <dirent.h>
#include <doctest/doctest.h>

#include <cstddef>

namespace weft_test {

inline std::size_t open_descriptors() {
    std::size_t count = 0;
    DIR* const folder = opendir("/proc/self/fd");
    REQUIRE(folder != nullptr);
    while (readdir(folder) != nullptr) ++count;
    closedir(folder);
    return count;
}

}  // namespace weft_test
