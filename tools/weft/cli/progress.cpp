// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace weft::tool {
namespace {

constexpr std::chrono::milliseconds kPatience{500}, kRefresh{100};

}  // namespace

ProgressBar::ProgressBar(std::string label)
    : label_(std::move(label)), terminal_(isatty(STDERR_FILENO) == 1), next_(Clock::now() + kPatience) {}

std::string left_text(double seconds) {
    if (!(seconds > 0)) return {};
    const double whole = std::min(std::ceil(seconds), 359999.0);  // 100 hours
    const auto all = static_cast<unsigned long>(whole);
    std::string text;
    if (all >= 3600) text = std::to_string(all / 3600) + " h " + std::to_string(all % 3600 / 60) + " min";
    if (all >= 60 && all < 3600) text = std::to_string(all / 60) + " min " + std::to_string(all % 60) + " s";
    if (all < 60) text = std::to_string(all) + " s";
    return ", about " + text + " left";
}

ProgressBar::~ProgressBar() {
    hide();
}

void ProgressBar::hide() {
    if (!drawn_) return;
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
    drawn_ = false;
}

void ProgressBar::show(std::size_t done, std::size_t total, const std::string& note) {
    constexpr std::size_t kWidth = 30;
    if (!terminal_ || total == 0 || Clock::now() < next_) return;
    const std::size_t filled = done * kWidth / total;
    const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
    std::fprintf(stderr, "\r%s [%s] %3zu%%%s\033[K", label_.c_str(), bar.c_str(), done * 100 / total,
                 note.c_str());
    std::fflush(stderr);
    drawn_ = true;
    next_ = Clock::now() + kRefresh;
}

}  // namespace weft::tool
