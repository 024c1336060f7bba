// SPDX-License-Identifier: Apache-2.0
// Counts the statuses of a call while the device works on the vectors behind them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>

#include "ops/lattice/lattice_check.hpp"

namespace weft::kernels {

/// Counts in a thread of its own, because the thread of the caller feeds the device. The thread is started
/// only if there is something to count while the device works. Used by one thread; `status` must outlive it.
class StatusCounter {
  public:
    explicit StatusCounter(std::span<const std::uint8_t> status) : status_(status) {}
    /// Stops counting.
    ~StatusCounter() { stop(); }
    StatusCounter(const StatusCounter&) = delete;
    StatusCounter& operator=(const StatusCounter&) = delete;

    /// The first `vectors` statuses are in place, which are no fewer than before.
    void in_place(std::size_t vectors);
    /// Called when all statuses are in place: counts the rest with up to `threads` threads and returns the
    /// totals.
    StatusCount finish(std::uint32_t threads);

  private:
    void serve();
    void stop();

    static constexpr std::size_t kStop = ~std::size_t{0};
    std::span<const std::uint8_t> status_;
    std::atomic<std::size_t> ready_ = 0;
    std::size_t counted_ = 0;  // the thread uses it and count_ until it ends
    StatusCount count_;
    std::thread thread_;
};

}  // namespace weft::kernels
