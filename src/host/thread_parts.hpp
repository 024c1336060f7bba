// SPDX-License-Identifier: Apache-2.0
// Work on the host, cut into parts for some threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace weft::kernels {

/// Calls work(part, first, last) for consecutive parts of [0, count) on at most `threads` threads, the
/// caller's among them; each part has at least `least` where there is more than one, and none is empty.
/// `work` must not throw.
template <class Work>
void in_parts(std::uint64_t count, std::uint64_t least, std::uint32_t threads, const Work& work) {
    if (count == 0) return;
    const std::uint64_t parts = std::clamp<std::uint64_t>(
        std::min<std::uint64_t>(threads, count / std::max<std::uint64_t>(1, least)), 1, count);
    const auto run = [&](std::uint64_t part) {
        work(part, count / parts * part, part + 1 == parts ? count : count / parts * (part + 1));
    };
    std::vector<std::jthread> workers;
    std::uint64_t started = 1;
    try {
        for (; started < parts; ++started) workers.emplace_back(run, started);
    } catch (const std::system_error&) {  // no more threads: the caller does the rest
        for (std::uint64_t part = started; part < parts; ++part) run(part);
    }
    run(0);
}

}  // namespace weft::kernels
