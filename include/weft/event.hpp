// SPDX-License-Identifier: Apache-2.0
// Points in the work of a stream, to wait for.
//
// Example:
//     weft::Backend backend;
//     weft::Stream stream(backend);
//     const weft::Event copied = stream.submit();
//     copied.wait(std::chrono::milliseconds(100));
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <weft/error.hpp>

namespace weft {

namespace core {
struct EventState;
}

namespace detail {

/// A shared_ptr that refuses use once it was moved from, while one that was never set is legal.
template <class T>
class Movable {
  public:
    Movable() = default;
    explicit Movable(std::shared_ptr<T> object) : object_(std::move(object)) {}
    Movable(const Movable&) = default;
    Movable& operator=(const Movable&) = default;
    Movable(Movable&& other) noexcept
        : object_(std::move(other.object_)), moved_(std::exchange(other.moved_, true)) {}
    Movable& operator=(Movable&& other) noexcept {
        if (this == &other) return *this;
        object_ = std::move(other.object_);
        moved_ = std::exchange(other.moved_, true);
        return *this;
    }
    ~Movable() = default;

    const std::shared_ptr<T>& get(const char* type) const {
        if (moved_) throw Error(Errc::invalid_argument, std::string(type) + ": used after it was moved from");
        return object_;
    }

  private:
    std::shared_ptr<T> object_;
    bool moved_ = false;
};

}  // namespace detail

/// A point in the work of a stream: reached when everything submitted to it before is done. Cheap to copy;
/// may be used from any thread. A default-made Event is always reached; one that was moved from refuses use.
class Event {
  public:
    Event() = default;
    /// Errors: device_lost.
    bool done() const;
    /// false: not yet reached when the time was up; nothing is lost. Errors: device_lost, driver.
    bool wait(std::chrono::nanoseconds timeout = (std::chrono::nanoseconds::max)()) const;

  private:
    friend struct detail::Access;
    explicit Event(std::shared_ptr<const core::EventState> state) : state_(std::move(state)) {}
    const std::shared_ptr<const core::EventState>& state() const { return state_.get("Event"); }

    detail::Movable<const core::EventState> state_;
};

}  // namespace weft
