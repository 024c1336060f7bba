// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_recorder.hpp"

#include <algorithm>

namespace weft::core {
namespace {

constexpr NameId kMoreNames = 1;

/// At most `limit` bytes, not cut inside a UTF-8 sequence.
std::string_view shortened(std::string_view text, std::size_t limit) {
    if (text.size() <= limit) return text;
    while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0u) == 0x80u) --limit;
    return text.substr(0, limit);
}

template <class Events>
void keep(TraceSink& sink, Events& events, const typename Events::value_type& event) {
    if (sink.data.stages.size() + sink.data.instants.size() >= sink.max_events)
        ++sink.data.dropped_events;
    else
        events.push_back(event);
}

}  // namespace

TraceRecorder::TraceRecorder() {
    rows_.push_back({TraceTrack::host, true, "host"});
    names_ = {"", "(more names)"};
}

std::shared_ptr<TraceSink> TraceRecorder::open(std::uint64_t max_events, std::uint64_t live_bytes) {
    auto sink = std::make_shared<TraceSink>();
    sink->max_events = max_events;
    sink->data.begin_ns = monotonic_ns();
    sink->data.start_bytes = sink->data.live_bytes = sink->data.peak_bytes = live_bytes;
    const std::lock_guard lock(mutex_);
    sinks_.push_back(sink);
    active_.store(true, std::memory_order_relaxed);
    return sink;
}

void TraceRecorder::close(const std::shared_ptr<TraceSink>& sink) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(sinks_, sink);
    active_.store(!sinks_.empty(), std::memory_order_relaxed);
}

TraceData TraceRecorder::read(const TraceSink& sink) const {
    const std::lock_guard lock(mutex_);
    TraceData data = sink.data;
    data.end_ns = monotonic_ns();
    data.rows = rows_;
    data.names = names_;
    return data;
}

TrackId TraceRecorder::add_row(TraceTrack row) {
    const std::lock_guard lock(mutex_);
    if (rows_.size() >= kMostRows) return 0;
    rows_.push_back(std::move(row));
    return static_cast<TrackId>(rows_.size() - 1);
}

TrackId TraceRecorder::copy_row_locked(std::int64_t begin_ns, std::int64_t end_ns) noexcept {
    for (CopyRow& row : copy_rows_) {
        if (row.until_ns > begin_ns) continue;
        row.until_ns = std::max(begin_ns, end_ns);
        return row.row;
    }
    if (rows_.size() >= kMostRows) return 0;
    try {
        copy_rows_.reserve(copy_rows_.size() + 1);
        rows_.push_back({TraceTrack::copier, true, "copy worker " + std::to_string(copy_rows_.size() + 1)});
        copy_rows_.push_back({static_cast<TrackId>(rows_.size() - 1), std::max(begin_ns, end_ns)});
        return copy_rows_.back().row;
    } catch (...) {
        return 0;
    }
}

void TraceRecorder::copy_locked(StageEvent event) noexcept {
    if (event.bytes == 0) return;
    event.row = copy_row_locked(event.begin_ns, event.end_ns);
    stage_locked(event);
}

NameId TraceRecorder::name_locked(std::string_view text) {
    text = shortened(text, kMostNameBytes);
    if (const auto it = ids_.find(text); it != ids_.end()) return it->second;
    if (names_.size() >= kMostNames) {
        for (const auto& sink : sinks_) ++sink->data.dropped_names;
        return kMoreNames;
    }
    const auto id = static_cast<NameId>(names_.size());
    names_.emplace_back(text);
    try {
        ids_.emplace(names_.back(), id);
    } catch (...) {
        names_.pop_back();
        throw;
    }
    return id;
}

NameId TraceRecorder::name(std::string_view text) noexcept {
    if (text.empty()) return 0;
    try {
        const std::lock_guard lock(mutex_);
        return name_locked(text);
    } catch (...) {
        return kMoreNames;
    }
}

/// An event for which the host has no memory counts as dropped.
template <class Each>
void TraceRecorder::each_locked(const Each& act) noexcept {
    for (const auto& sink : sinks_) {
        try {
            act(*sink);
        } catch (...) {
            ++sink->data.dropped_events;
        }
    }
}

template <class Each>
void TraceRecorder::each(const Each& act) noexcept {
    const std::lock_guard lock(mutex_);
    each_locked(act);
}

void TraceRecorder::stage_locked(const StageEvent& event) noexcept {
    each_locked([&](TraceSink& sink) { keep(sink, sink.data.stages, event); });
}

void TraceRecorder::stage(const StageEvent& event) noexcept {
    const std::lock_guard lock(mutex_);
    stage_locked(event);
}

void TraceRecorder::ring_acquire() noexcept {
    each([](TraceSink& sink) { ++sink.data.ring_acquires; });
}

void TraceRecorder::ring_wait(std::int64_t begin_ns, std::int64_t end_ns) noexcept {
    const auto waited = static_cast<std::uint64_t>(std::max<std::int64_t>(0, end_ns - begin_ns));
    each([&](TraceSink& sink) {
        ++sink.data.ring_waits;
        sink.data.ring_wait_ns += waited;
        keep(sink, sink.data.instants, {InstantEvent::ring_wait, 0, begin_ns, waited, 0});
    });
}

void TraceRecorder::replay(NameId stream, std::uint64_t dispatches) noexcept {
    const std::int64_t now = monotonic_ns();
    each([&](TraceSink& sink) {
        ++sink.data.replays;
        keep(sink, sink.data.instants, {InstantEvent::replay, stream, now, dispatches, 0});
    });
}

void TraceRecorder::pool_request(bool hit) noexcept {
    each([&](TraceSink& sink) {
        ++sink.data.allocations;
        sink.data.pool_hits += hit ? 1 : 0;
    });
}

void TraceRecorder::memory(InstantEvent::Kind kind, std::string_view text, std::uint64_t bytes,
                           std::uint64_t live_bytes) noexcept {
    const std::int64_t now = monotonic_ns();
    const NameId id = name(text);
    each([&](TraceSink& sink) {
        sink.data.live_bytes = live_bytes;
        sink.data.peak_bytes = std::max(sink.data.peak_bytes, live_bytes);
        keep(sink, sink.data.instants, {kind, id, now, bytes, live_bytes});
    });
}

void TraceRecorder::allocation(std::string_view text, std::uint64_t bytes,
                               std::uint64_t live_bytes) noexcept {
    memory(InstantEvent::allocation, text, bytes, live_bytes);
}

void TraceRecorder::release(std::string_view text, std::uint64_t bytes, std::uint64_t live_bytes) noexcept {
    memory(InstantEvent::release, text, bytes, live_bytes);
}

}  // namespace weft::core
