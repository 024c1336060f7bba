// SPDX-License-Identifier: Apache-2.0
// Work of a stream that is recorded once and runs many times.
//
// Example:
//     weft::Backend backend;
//     weft::Stream stream(backend);
//     weft::Buffer<float> x(backend, 1024);
//     const weft::Sequence zeros = stream.record([&](weft::Stream& steps) { steps.fill(x.view(), 0.0f); });
//     stream.replay(zeros).wait();
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <weft/event.hpp>

namespace weft {

namespace core {
class CommandList;
}

/// Steps recorded by Stream::record, with the barriers between them. It runs any number of times, each time
/// for the cost of one submission. Keeps the buffers that it uses alive. Cheap to copy; streams of the same
/// backend may replay it from different threads. One that was moved from refuses use.
class Sequence {
  public:
    Sequence() = default;  ///< of no steps

    std::uint64_t steps() const;       ///< dispatches, copies, fills and uploads
    std::uint64_t dispatches() const;  ///< those of them that run a program
    /// Barriers between the steps. There is none between steps that use different memory.
    std::uint64_t barriers() const;

  private:
    friend struct detail::Access;
    explicit Sequence(std::shared_ptr<core::CommandList> list) : list_(std::move(list)) {}
    const std::shared_ptr<core::CommandList>& list() const { return list_.get("Sequence"); }

    detail::Movable<core::CommandList> list_;
};

}  // namespace weft
