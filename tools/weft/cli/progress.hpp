// SPDX-License-Identifier: Apache-2.0
// A bar on stderr for people who wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include <weft/batch.hpp>

namespace weft::tool {

/// Shown only on a terminal and only for work that takes longer than half a second; erased when it ends.
class ProgressBar {
  public:
    explicit ProgressBar(std::string label);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    /// `note` follows the bar.
    void show(std::size_t done, std::size_t total, const std::string& note = {});
    /// Shows what a call of the library reports; the bar outlives the call.
    ProgressCallback callback() {
        return [this](const Progress& p) { show(p.done, p.total); };
    }

  private:
    using Clock = std::chrono::steady_clock;
    std::string label_;
    bool terminal_ = false, drawn_ = false;
    Clock::time_point next_;
};

}  // namespace weft::tool
