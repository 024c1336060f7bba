// SPDX-License-Identifier: Apache-2.0
#include "base/startup.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace weft::core {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

nanoseconds read_clock(clockid_t clock) {
    timespec time{};
    return clock_gettime(clock, &time) == 0 ? std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec)
                                            : nanoseconds(0);
}

struct Loaded {
    SteadyTime at = steady_clock::now();
    nanoseconds processor_time = read_clock(CLOCK_PROCESS_CPUTIME_ID);
};
const Loaded kLoaded;

/// Clock ticks from boot to the start of this process: field 22 of /proc/self/stat. Counted from the end of
/// the command's name, which may contain any characters.
std::optional<std::uint64_t> start_ticks() {
    std::ifstream file("/proc/self/stat");
    std::string text;
    if (!std::getline(file, text)) return std::nullopt;
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream fields(text.substr(name_end + 1));
    std::string skipped;
    for (int field = 3; field < 22; ++field) fields >> skipped;
    std::uint64_t ticks = 0;
    return fields >> ticks ? std::optional(ticks) : std::nullopt;
}

}  // namespace

SteadyTime estimate_start(SteadyTime tick_begin, nanoseconds tick, SteadyTime loaded,
                          nanoseconds processor_time) {
    return std::clamp(loaded - processor_time, tick_begin, tick_begin + tick);
}

SteadyTime process_start() {
    const auto ticks = start_ticks();
    const long per_second = sysconf(_SC_CLK_TCK);
    if (!ticks || per_second <= 0) return kLoaded.at;
    const nanoseconds tick = nanoseconds(std::chrono::seconds(1)) / per_second;
    // The kernel counts from boot and includes sleep; the steady clock does not.
    const nanoseconds ago = read_clock(CLOCK_BOOTTIME) - tick * static_cast<std::int64_t>(*ticks);
    return estimate_start(steady_clock::now() - ago, tick, kLoaded.at, kLoaded.processor_time);
}

double FirstWork::took_s() const {
    const std::int64_t begin = submitted_.load(), end = done_.load();
    if (begin == 0 || end == 0) return 0;
    return std::chrono::duration<double>(steady_clock::duration(end - begin)).count();
}

double FirstWork::done_after_s(SteadyTime start) const {
    const std::int64_t end = done_.load();
    return end == 0 ? 0 : seconds_between(start, SteadyTime(steady_clock::duration(end)));
}

}  // namespace weft::core
