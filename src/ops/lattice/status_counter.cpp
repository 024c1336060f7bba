// SPDX-License-Identifier: Apache-2.0
#include "ops/lattice/status_counter.hpp"

#include <algorithm>
#include <system_error>

namespace weft::kernels {

namespace {

// Counted between two looks at whether to stop; fewer are not worth a thread.
constexpr std::size_t kPart = std::size_t{1} << 17;

}  // namespace

void StatusCounter::in_place(std::size_t vectors) {
    // Little or nothing goes on beside it then, and finish() has more threads.
    if (vectors < kPart || status_.size() - std::min(vectors, status_.size()) < kPart) return;
    ready_.store(vectors, std::memory_order_release);
    ready_.notify_one();
    if (thread_.joinable()) return;
    try {
        thread_ = std::thread([this] { serve(); });
    } catch (const std::system_error&) {
        // No more threads to be had: finish() counts all.
    }
}

void StatusCounter::serve() {
    for (std::size_t ready = 0; ready != kStop; ready = ready_.load(std::memory_order_acquire)) {
        if (counted_ >= ready) {
            ready_.wait(ready, std::memory_order_acquire);
            continue;
        }
        const std::size_t end = std::min(ready, counted_ + kPart);
        count_.add(count_statuses(status_.first(end), 1, counted_));
        counted_ = end;
    }
}

void StatusCounter::stop() {
    if (!thread_.joinable()) return;
    ready_.store(kStop, std::memory_order_release);
    ready_.notify_one();
    thread_.join();
}

StatusCount StatusCounter::finish(std::uint32_t threads) {
    stop();
    count_.add(count_statuses(status_, threads, counted_));
    counted_ = status_.size();
    return count_;
}

}  // namespace weft::kernels
