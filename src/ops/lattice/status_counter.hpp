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

/// A thread of its own, since the caller's has the device to feed; started only where something can be
/// counted beside work that goes on. Used by one thread; `status` must outlive it.
class StatusCounter {
  public:
    explicit StatusCounter(std::span<const std::uint8_t> status) : status_(status) {}
    /// What is not counted stays so.
    ~StatusCounter() { stop(); }
    StatusCounter(const StatusCounter&) = delete;
    StatusCounter& operator=(const StatusCounter&) = delete;

    /// The first so many statuses are in place; never fewer than before.
    void in_place(std::size_t vectors);
    /// With all of them in place: counts what is left on up to `threads`, and returns the whole.
    StatusCount finish(std::uint32_t threads);

  private:
    void serve();
    void stop();

    static constexpr std::size_t kStop = ~std::size_t{0};
    std::span<const std::uint8_t> status_;
    std::atomic<std::size_t> ready_ = 0;
    std::size_t counted_ = 0;  // with count_ the thread's until it has ended
    StatusCount count_;
    std::thread thread_;
};

}  // namespace weft::kernels
