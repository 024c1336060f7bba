// SPDX-License-Identifier: Apache-2.0
// A progress bar on stderr.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include <weft/batch.hpp>

namespace weft::tool {

/// ", about 2 min 5 s left"; empty for 0, which means unknown.
std::string left_text(double seconds);

/// Shown only on a terminal and only for work that takes longer than half a second. The destructor erases it.
class ProgressBar {
  public:
    explicit ProgressBar(std::string label);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    /// `note` is shown after the bar.
    void show(std::size_t done, std::size_t total, const std::string& note = {});
    /// Erases the bar until it is shown again, so that lines can be printed on stdout.
    void hide();
    /// Shows the progress that a call of the library reports. The bar must outlive the call.
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
