// SPDX-License-Identifier: Apache-2.0
// Which spans of host memory collide, within one call and with the unfinished jobs of a pipeline.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

namespace weft::core {

/// Memory [begin, end) of a job, as addresses: pointers into different arrays have no order.
struct JobSpan {
    std::uintptr_t begin = 0, end = 0;
    std::uint64_t job = 0;
    bool written = false;
};

inline JobSpan span_of(const void* data, std::size_t bytes, std::uint64_t job, bool written) {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    return {begin, begin + bytes, job, written};
}

inline bool share_memory(const JobSpan& a, const JobSpan& b) {
    return std::max(a.begin, b.begin) < std::min(a.end, b.end);
}

/// Two spans that share memory where they must not.
struct Overlap {
    JobSpan a, b;
    std::uintptr_t bytes() const { return std::min(a.end, b.end) - std::max(a.begin, b.begin); }
};

/// Finds two spans of different jobs that share memory which one of them writes, or two spans of one job of
/// which one is written and that overlap without being exactly the same (in place). Sorts `spans` by their
/// begin.
std::optional<Overlap> find_overlap(std::span<JobSpan> spans);

/// Spans of unfinished jobs. Not thread-safe.
class SpanSet {
  public:
    /// A span of the set that shares memory with `span` where one of the two is written; null: none does.
    const JobSpan* conflict(const JobSpan& span) const;
    void insert(const JobSpan& span);
    void erase(const JobSpan& span);

  private:
    using Map = std::multimap<std::uintptr_t, JobSpan>;
    struct Side {
        Map spans;
        std::uintptr_t longest = 0;  // no span is longer, so no overlap begins further back
    };
    static const JobSpan* overlapping(const Side& side, const JobSpan& span);
    Side read_, written_;
};

}  // namespace weft::core
