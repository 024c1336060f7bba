// SPDX-License-Identifier: Apache-2.0
#include "commands/fit.hpp"

#include <unistd.h>

#include <algorithm>

#include <weft/error.hpp>

namespace weft::tool {

std::uint64_t memory_of_machine() {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t largest_that_fits(std::uint64_t most, const std::function<bool(std::uint64_t)>& fits) {
    const auto good = [&](std::uint64_t n) {
        try {
            return fits(n);
        } catch (const Error&) {
            return false;
        }
    };
    // The number is doubled first, because a plan for a number far above the answer may take long.
    std::uint64_t low = 0, high = 1;
    while (high <= most && good(high)) {
        low = high;
        if (high > most / 2) {
            high = most + 1;
            break;
        }
        high *= 2;
    }
    high = std::min(high, most + 1);
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        (good(middle) ? low : high) = middle;
    }
    return low;
}

}  // namespace weft::tool
