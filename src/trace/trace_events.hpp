// SPDX-License-Identifier: Apache-2.0
// Profiles and traces are made of these events. All times are CLOCK_MONOTONIC in nanoseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include <weft/profile.hpp>

namespace weft::core {

/// std::chrono::steady_clock is CLOCK_MONOTONIC on Linux.
inline std::int64_t monotonic_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

using NameId = std::uint32_t;   // index into TraceData::names; 0: none
using TrackId = std::uint16_t;  // index into TraceData::rows; 0: the host

inline constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

/// A stage of a bundle of chunks, or of one step of a stream.
struct StageEvent {
    Stage stage = Stage::kernel;
    bool timed = true;  // false: the queue has no timestamps; the event counts but has no interval
    TrackId row = 0;
    std::uint32_t slot = kNoSlot;
    std::uint32_t operations = 1;  // dispatches or transfers that share the interval
    std::uint32_t jobs = 0;        // chunks of jobs that share the event; 0: not of a batch
    NameId job_name = 0, program = 0, stream = 0;
    std::uint64_t job = 0;  // sequence number of the first
    std::int64_t begin_ns = 0, end_ns = 0;
    std::uint64_t bytes = 0;
};

struct InstantEvent {
    enum Kind : std::uint8_t { ring_wait, replay, allocation, release } kind = ring_wait;
    NameId name = 0;  // of the stream or the buffer
    std::int64_t at_ns = 0;
    std::uint64_t value = 0;  // waited ns; dispatches replayed; bytes
    std::uint64_t live_bytes = 0;
};

struct TraceTrack {
    enum Kind : std::uint8_t { host, queue, copier } kind = host;
    bool timed = true;
    std::string name;
};

/// Everything that one profile collected. Reports are computed from it.
struct TraceData {
    std::string device, clock;
    std::int64_t begin_ns = 0, end_ns = 0;  // the window
    std::vector<TraceTrack> rows;
    std::vector<std::string> names;
    std::deque<StageEvent> stages;
    std::deque<InstantEvent> instants;
    std::uint64_t dropped_events = 0, dropped_names = 0;
    std::uint64_t ring_acquires = 0, ring_waits = 0, ring_wait_ns = 0, replays = 0;
    std::uint64_t start_bytes = 0, live_bytes = 0, peak_bytes = 0, allocations = 0, pool_hits = 0;
};

}  // namespace weft::core
