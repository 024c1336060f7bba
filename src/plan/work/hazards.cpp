// SPDX-License-Identifier: Apache-2.0
#include "plan/work/hazards.hpp"

#include <algorithm>
#include <iterator>

namespace weft::core {

HazardBarrier HazardTracker::next(WorkStage stage, std::span<const RangeUse> uses) {
    HazardBarrier barrier;
    for (const RangeUse& use : uses) {
        if (use.begin >= use.end) continue;
        const auto found = buffers_.find(use.buffer);
        if (found != buffers_.end()) collect(found->second, stage, use, barrier);
    }
    const auto to = static_cast<std::size_t>(stage);
    for (std::size_t from = 0; from < kWorkStages; ++from) {
        if (!barrier.after[from]) continue;
        executed_[from][to] = now_;
        if (barrier.memory) visible_[from][to] = now_;
    }
    ++now_;
    for (const RangeUse& use : uses)
        if (use.begin < use.end) mark(buffers_[use.buffer], stage, use);
    return barrier;
}

void HazardTracker::clear() {
    // The next list uses the same buffers, so their entries stay and it allocates nothing.
    constexpr std::size_t kMostBuffers = 256;
    if (buffers_.size() > kMostBuffers) buffers_.clear();
    for (auto& [buffer, spans] : buffers_) {
        if (spans.size() > 1) spans.erase(std::next(spans.begin()), spans.end());
        for (auto& [begin, span] : spans) span.last = {};
    }
    now_ = 0;
    executed_ = {};
    visible_ = {};
}

void HazardTracker::collect(const Spans& spans, WorkStage stage, const RangeUse& use,
                            HazardBarrier& barrier) const {
    const auto to = static_cast<std::size_t>(stage);
    auto it = spans.upper_bound(use.begin);
    if (it != spans.begin()) --it;
    for (; it != spans.end() && it->first < use.end; ++it) {
        if (it->second.end <= use.begin) continue;
        const Last& last = it->second.last;
        for (std::size_t from = 0; from < kWorkStages; ++from) {
            if (last.write[from] > visible_[from][to]) barrier.after[from] = barrier.memory = true;
            if (use.writes && last.read[from] > executed_[from][to]) barrier.after[from] = true;
        }
    }
}

void HazardTracker::mark(Spans& spans, WorkStage stage, const RangeUse& use) const {
    const auto of = static_cast<std::size_t>(stage);
    split(spans, use.begin);
    split(spans, use.end);
    const auto touch = [&](Last& last) {
        // Earlier accesses are ordered before this write, so a later command only has to check the write.
        if (use.writes) last = {};
        if (use.writes) last.write[of] = now_;
        if (use.reads) last.read[of] = now_;
    };
    std::uint64_t at = use.begin;
    auto it = spans.lower_bound(at);
    while (at < use.end) {
        if (it == spans.end() || it->first > at) {
            const std::uint64_t end = it == spans.end() ? use.end : std::min(use.end, it->first);
            it = spans.emplace_hint(it, at, Span{end, {}});
        }
        touch(it->second.last);
        at = it->second.end;
        ++it;
    }
    // Parts that became equal because a command used all of them are merged.
    it = spans.lower_bound(use.begin);
    for (auto after = std::next(it); after != spans.end() && after->first < use.end;) {
        if (it->second.last == after->second.last) {
            it->second.end = after->second.end;
            after = spans.erase(after);
        } else {
            it = after++;
        }
    }
}

void HazardTracker::split(Spans& spans, std::uint64_t at) {
    auto it = spans.lower_bound(at);
    if (it == spans.begin()) return;
    --it;
    if (it->second.end <= at) return;
    spans.emplace_hint(std::next(it), at, Span{it->second.end, it->second.last});
    it->second.end = at;
}

}  // namespace weft::core
