// SPDX-License-Identifier: Apache-2.0
#include "cpu_threads.hpp"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace weft::tool {
namespace {

std::string read_cpu_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown";
}

}  // namespace

unsigned cpu_threads() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
    return std::max(1u, std::thread::hardware_concurrency());
}

const char* cpu_name() {
    static const std::string name = read_cpu_name();
    return name.c_str();
}

void parallel_for(std::size_t count, std::size_t grain, unsigned threads,
                  const std::function<void(std::size_t, std::size_t)>& body) {
    const std::size_t parts =
        std::clamp<std::size_t>(count / std::max<std::size_t>(grain, 1), 1, std::max(1u, threads));
    const auto begin_of = [&](std::size_t part) {
        return count / parts * part + std::min(part, count % parts);
    };
    std::vector<std::jthread> others;
    for (std::size_t part = 1; part < parts; ++part)
        others.emplace_back([&, part] { body(begin_of(part), begin_of(part + 1)); });
    if (count != 0) body(0, begin_of(1));
}

}  // namespace weft::tool
