// SPDX-License-Identifier: Apache-2.0
#include "core/log.hpp"

#include <cstdio>
#include <utility>

namespace weft::core {

Log::Log(LogLevel level, LogCallback callback) : level_(level), callback_(std::move(callback)) {}

void Log::write(LogLevel level, std::string_view line) const noexcept {
    if (!enabled(level)) return;
    try {
        const std::lock_guard lock(mutex_);
        if (callback_) {
            callback_(level, line);
        } else {
            std::fprintf(stderr, "weft: %.*s\n", static_cast<int>(line.size()), line.data());
        }
    } catch (...) {
        // A throwing callback must not unwind through a driver or a destructor.
    }
}

}  // namespace weft::core
