// SPDX-License-Identifier: Apache-2.0
// A bar on stderr for people who wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include <weft/batch.hpp>

namespace weft::tool {

/// ", about 2 min 5 s left"; empty for 0, which is not known.
std::string left_text(double seconds);

/// Shown only on a terminal and only for work that takes longer than half a second; erased when it ends.
class ProgressBar {
  public:
    explicit ProgressBar(std::string label);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    /// `note` follows the bar.
    void show(std::size_t done, std::size_t total, const std::string& note = {});
    /// Erases the bar until it is shown again: for lines on stdout.
    void hide();
    /// Shows what a call of the library reports; the bar outlives the call.
    ProgressCallback callback() {
        return [this](const Progress& p) { show(p.done, p.total, left_text(p.remaining_s())); };
    }

  private:
    using Clock = std::chrono::steady_clock;
    std::string label_;
    bool terminal_ = false, drawn_ = false;
    Clock::time_point next_;
};

}  // namespace weft::tool
