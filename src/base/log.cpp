// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <cstdio>
#include <utility>

namespace weft::core {

namespace {

/// The log whose callback this thread is in. A callback that made weft log again would wait for itself.
thread_local const Log* current = nullptr;

void print(std::string_view line) {
    std::fprintf(stderr, "weft: %.*s\n", static_cast<int>(line.size()), line.data());
}

}  // namespace

Log::Log(LogLevel level, LogCallback callback) : level_(level), callback_(std::move(callback)) {}

void Log::write(LogLevel level, std::string_view line) const noexcept {
    if (!enabled(level)) return;
    if (!callback_ || current == this) return print(line);
    const Log* const outer = current;
    try {
        const std::lock_guard lock(mutex_);
        current = this;
        callback_(level, line);
    } catch (...) {
        // A throwing callback must not unwind through a driver or a destructor.
    }
    current = outer;
}

std::string ms_text(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
    return text;
}

}  // namespace weft::core
