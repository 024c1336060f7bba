// SPDX-License-Identifier: Apache-2.0
// Which barrier a command needs, from the ranges that it and earlier commands of the same list use.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>

namespace weft::core {

enum class WorkStage : std::uint8_t { transfer = 0, kernel = 1 };
inline constexpr std::size_t kWorkStages = 2;

/// Bytes [begin, end) of a buffer that a command reads, writes, or both.
struct RangeUse {
    std::uint64_t buffer = 0;  // BufferObject::id
    std::uint64_t begin = 0, end = 0;
    bool reads = false, writes = false;
};

/// The barrier between earlier commands and the next one.
struct HazardBarrier {
    std::array<bool, kWorkStages> after{};  // stages of earlier commands to wait for
    bool memory = false;                    // their writes must become visible; else only order matters
    bool needed() const { return after[0] || after[1]; }
};

/// Tracks commands in the order they are recorded. Later commands see a write, and nothing is overwritten
/// before earlier commands have read or written it. Reads of one range, and uses of ranges that do not
/// overlap, need no barrier between them.
class HazardTracker {
  public:
    /// The barrier to record before the next command. The command counts as recorded afterwards.
    HazardBarrier next(WorkStage stage, std::span<const RangeUse> uses);
    /// Forgets everything, as after a barrier between all earlier and all later work.
    void clear();

  private:
    using Index = std::uint64_t;  // of a command, from 1; 0: none
    /// Last write and last read of a range by each stage.
    struct Last {
        std::array<Index, kWorkStages> write{}, read{};
        bool operator==(const Last&) const = default;
    };
    struct Span {
        std::uint64_t end = 0;
        Last last;
    };
    using Spans = std::map<std::uint64_t, Span>;  // by begin; disjoint

    void collect(const Spans& spans, WorkStage stage, const RangeUse& use, HazardBarrier& barrier) const;
    void mark(Spans& spans, WorkStage stage, const RangeUse& use) const;
    static void split(Spans& spans, std::uint64_t at);

    std::unordered_map<std::uint64_t, Spans> buffers_;
    Index now_ = 0;
    // [from][to]: the last command whose execution, and whose writes, a barrier already ordered before `to`.
    std::array<std::array<Index, kWorkStages>, kWorkStages> executed_{}, visible_{};
};

}  // namespace weft::core
