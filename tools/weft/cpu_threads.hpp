// SPDX-License-Identifier: Apache-2.0
// Work over all threads of the processor: what the baselines of the reports run on.
#pragma once

#include <cstddef>
#include <functional>

namespace weft::tool {

/// Threads that this process may use at once.
unsigned cpu_threads();
/// "AMD EPYC ..."; "unknown" where the system does not tell.
const char* cpu_name();

/// Calls `body(first, last)` for parts of [0, count) that together are all of it, on at most `threads`
/// threads, the caller's included; a part has `grain` elements at least, because a thread costs as much as
/// starting it.
void parallel_for(std::size_t count, std::size_t grain, unsigned threads,
                  const std::function<void(std::size_t first, std::size_t last)>& body);

}  // namespace weft::tool
