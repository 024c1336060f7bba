// SPDX-License-Identifier: Apache-2.0
// Log lines to the callback of a Config, or to stderr.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include <weft/config.hpp>

namespace weft::core {

class Log {
  public:
    Log(LogLevel level, LogCallback callback);

    bool enabled(LogLevel level) const noexcept { return level <= level_ && level != LogLevel::off; }
    /// Ignores exceptions of the callback, because destructors and driver callbacks write lines too. A line
    /// written from within the callback goes to stderr.
    void write(LogLevel level, std::string_view line) const noexcept;

  private:
    LogLevel level_;
    LogCallback callback_;
    mutable std::mutex mutex_;  // one line at a time
};

/// "12.3 ms", for lines of the log.
std::string ms_text(double seconds);

}  // namespace weft::core
