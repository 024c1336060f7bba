// SPDX-License-Identifier: Apache-2.0
// A bar on stderr for people who wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace weft::tool {

/// Shown only on a terminal and only for work that takes longer than half a second; erased when it ends.
class Progress {
  public:
    explicit Progress(std::string label);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// `note` follows the bar.
    void show(std::size_t done, std::size_t total, const std::string& note = {});

  private:
    using Clock = std::chrono::steady_clock;
    std::string label_;
    bool terminal_ = false, drawn_ = false;
    Clock::time_point next_;
};

}  // namespace weft::tool
