// SPDX-License-Identifier: Apache-2.0
// Takes events while there is a listener. Without one, every hook costs one relaxed load. Thread-safe; never
// throws.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/trace_events.hpp"

namespace weft::core {

/// One listener: a Profile, or the trace of a backend.
struct TraceSink {
    std::uint64_t max_events = 0;
    TraceData data;
};

class TraceRecorder {
  public:
    TraceRecorder();
    TraceRecorder(const TraceRecorder&) = delete;
    TraceRecorder& operator=(const TraceRecorder&) = delete;

    /// Whether there is a listener. Callers ask first, so that no event is computed for nothing.
    bool active() const noexcept { return active_.load(std::memory_order_relaxed); }

    /// `live_bytes`: in use by buffers at this moment. The caller holds the lock that guards that figure.
    std::shared_ptr<TraceSink> open(std::uint64_t max_events, std::uint64_t live_bytes);
    void close(const std::shared_ptr<TraceSink>& sink) noexcept;
    /// A copy with rows and names, whose window ends now.
    TraceData read(const TraceSink& sink) const;

    /// Adds a row; 0, the row of the host, if there are too many.
    TrackId add_row(TraceTrack row);
    /// Takes event_of(0) to event_of(count - 1), one for each thread that copied; those without bytes are
    /// left out. The row of each is found here: the first copy row whose last copy had ended when this one
    /// began. So rows stay few even if many threads come and go, and two simultaneous copies never share one.
    template <class EventOf>
    void copies(std::size_t count, const EventOf& event_of) noexcept {
        const std::lock_guard lock(mutex_);
        for (std::size_t i = 0; i < count; ++i) copy_locked(event_of(i));
    }

    /// The number of a name, which never changes. Long names are cut, and after kMostNames all others share
    /// one.
    NameId name(std::string_view text) noexcept;

    void stage(const StageEvent& event) noexcept;
    /// A slot was taken.
    void ring_acquire() noexcept;
    /// No slot was free, and the caller waited for one.
    void ring_wait(std::int64_t begin_ns, std::int64_t end_ns) noexcept;
    /// A recorded sequence was submitted again.
    void replay(NameId stream, std::uint64_t dispatches) noexcept;
    /// A buffer asked the pool for memory; `hit`: the driver was not asked.
    void pool_request(bool hit) noexcept;
    void allocation(std::string_view name, std::uint64_t bytes, std::uint64_t live_bytes) noexcept;
    void release(std::string_view name, std::uint64_t bytes, std::uint64_t live_bytes) noexcept;

    static constexpr std::size_t kMostNames = std::size_t{1} << 16, kMostNameBytes = 200, kMostRows = 1024;

  private:
    template <class Each>
    void each(const Each& act) noexcept;
    template <class Each>
    void each_locked(const Each& act) noexcept;
    void memory(InstantEvent::Kind kind, std::string_view name, std::uint64_t bytes,
                std::uint64_t live_bytes) noexcept;
    NameId name_locked(std::string_view text);
    void copy_locked(StageEvent event) noexcept;
    void stage_locked(const StageEvent& event) noexcept;
    TrackId copy_row_locked(std::int64_t begin_ns, std::int64_t end_ns) noexcept;

    std::atomic<bool> active_{false};
    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<TraceSink>> sinks_;
    std::vector<TraceTrack> rows_;
    struct CopyRow {
        TrackId row;
        std::int64_t until_ns;  // end of its last copy
    };
    std::vector<CopyRow> copy_rows_;
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };
    std::vector<std::string> names_;
    std::unordered_map<std::string, NameId, TextHash, std::equal_to<>> ids_;
};

}  // namespace weft::core
