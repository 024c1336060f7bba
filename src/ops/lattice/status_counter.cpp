// SPDX-License-Identifier: Apache-2.0
#include "ops/lattice/status_counter.hpp"

#include <algorithm>
#include <system_error>

namespace weft::kernels {

namespace {

// Statuses that are counted between two tests for the end. Fewer do not repay a thread.
constexpr std::size_t kPart = std::size_t{1} << 17;

}  // namespace

void StatusCounter::in_place(std::size_t vectors) {
    // With little left to do, finish() counts sooner, because it has more threads.
    if (vectors < kPart || status_.size() - std::min(vectors, status_.size()) < kPart) return;
    ready_.store(vectors, std::memory_order_release);
    ready_.notify_one();
    if (thread_.joinable()) return;
    try {
        thread_ = std::thread([this] { serve(); });
    } catch (const std::system_error&) {
        // No thread could be started, so finish() counts all.
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
