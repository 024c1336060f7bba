// SPDX-License-Identifier: Apache-2.0
// Takes events while somebody listens. Off, every hook is one relaxed load. Thread-safe; never throws.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/trace_events.hpp"

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

    /// Whether anybody listens. Call sites ask first, so that nothing is computed for nobody.
    bool active() const noexcept { return active_.load(std::memory_order_relaxed); }

    /// `live_bytes`: in use by buffers at this moment, under the lock that guards that figure.
    std::shared_ptr<TraceSink> open(std::uint64_t max_events, std::uint64_t live_bytes);
    void close(const std::shared_ptr<TraceSink>& sink) noexcept;
    /// A copy with rows and names, whose window ends now.
    TraceData read(const TraceSink& sink) const;

    /// Device rows are added once; 0 where there is no room for one.
    RowId add_row(TraceRow row);
    /// The lowest row of this kind that no thread uses right now: rows stay few however many threads come
    /// and go, and two copies at once never share one.
    RowId take_copy_row() noexcept;
    void give_copy_row(RowId row) noexcept;

    /// Stable number of a name; long ones are cut, and after kMostNames all others are one.
    NameId name(std::string_view text) noexcept;

    void stage(const StageEvent& event) noexcept;
    /// A slot was taken.
    void ring_acquire() noexcept;
    /// No slot was free, and somebody waited for one.
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
    void memory(InstantEvent::Kind kind, std::string_view name, std::uint64_t bytes,
                std::uint64_t live_bytes) noexcept;
    static void keep(TraceSink& sink, const InstantEvent& event);
    NameId name_locked(std::string_view text);

    std::atomic<bool> active_{false};
    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<TraceSink>> sinks_;
    std::vector<TraceRow> rows_;
    std::vector<bool> row_taken_;
    std::vector<std::string> names_;
    std::unordered_map<std::string, NameId> ids_;
};

/// A copy row for as long as a thread copies.
class CopyRow {
  public:
    explicit CopyRow(TraceRecorder& recorder) : recorder_(recorder), row_(recorder.take_copy_row()) {}
    ~CopyRow() { recorder_.give_copy_row(row_); }
    CopyRow(const CopyRow&) = delete;
    CopyRow& operator=(const CopyRow&) = delete;
    RowId id() const { return row_; }

  private:
    TraceRecorder& recorder_;
    RowId row_;
};

}  // namespace weft::core
