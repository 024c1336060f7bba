// SPDX-License-Identifier: Apache-2.0
// Points in the work of a Stream, and work recorded once to run many times.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <weft/backend.hpp>

namespace weft {

namespace core {
class CommandList;
struct EventState;
}  // namespace core

/// A point in the work of a stream: reached when everything submitted to it before is done. Cheap to copy;
/// may be used from any thread. A default-made Event is always reached.
class Event {
  public:
    Event() = default;
    /// Errors: device_lost.
    bool done() const;
    /// false: not yet reached when the time was up; nothing is lost. Errors: device_lost, driver.
    bool wait(std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max()) const;

    /// For the other parts of weft.
    explicit Event(std::shared_ptr<const core::EventState> state) : state_(std::move(state)) {}
    const std::shared_ptr<const core::EventState>& state() const noexcept { return state_; }

  private:
    std::shared_ptr<const core::EventState> state_;
};

/// Steps recorded by Stream::record, barriers between them included, ready to run any number of times for
/// the price of one submission. Keeps the buffers it uses alive. Cheap to copy; streams of the same backend
/// may replay it from different threads.
class Sequence {
  public:
    Sequence() = default;  ///< of no steps

    std::uint64_t steps() const noexcept;       ///< dispatches, copies, fills and uploads
    std::uint64_t dispatches() const noexcept;  ///< those of them that run a program
    /// Barriers between the steps. Steps that do not meet in memory have none between them.
    std::uint64_t barriers() const noexcept;

    /// For the other parts of weft.
    explicit Sequence(std::shared_ptr<core::CommandList> list) : list_(std::move(list)) {}
    const std::shared_ptr<core::CommandList>& list() const noexcept { return list_; }

  private:
    std::shared_ptr<core::CommandList> list_;
};

}  // namespace weft
