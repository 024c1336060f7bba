// SPDX-License-Identifier: Apache-2.0
#include "base/span_set.hpp"

#include <algorithm>

namespace weft::core {

std::optional<Overlap> find_overlap(std::span<JobSpan> spans) {
    std::sort(spans.begin(), spans.end(),
              [](const JobSpan& a, const JobSpan& b) { return a.begin < b.begin; });
    // Spans that begin at the same address are compared with each other. Of all spans that began earlier,
    // only the read one and the written one that reach furthest matter: in-place output begins where its
    // input begins.
    const JobSpan* furthest_read = nullptr;
    const JobSpan* furthest_written = nullptr;
    for (std::size_t i = 0; i < spans.size();) {
        std::size_t end = i;
        const JobSpan* written = nullptr;
        for (; end < spans.size() && spans[end].begin == spans[i].begin; ++end) {
            const JobSpan& span = spans[end];
            if (span.written && written == nullptr) written = &span;
            if (furthest_written != nullptr && furthest_written->end > span.begin)
                return Overlap{*furthest_written, span};
            if (span.written && furthest_read != nullptr && furthest_read->end > span.begin)
                return Overlap{*furthest_read, span};
        }
        for (std::size_t k = i; k < end; ++k) {
            const JobSpan& span = spans[k];
            if (written != nullptr && &span != written &&
                (span.written || span.job != written->job || span.end != written->end))
                return Overlap{*written, span};
            const JobSpan*& mine = span.written ? furthest_written : furthest_read;
            if (mine == nullptr || span.end > mine->end) mine = &span;
        }
        i = end;
    }
    return std::nullopt;
}

const JobSpan* SpanSet::overlapping(const Side& side, const JobSpan& span) {
    const std::uintptr_t from = span.begin > side.longest ? span.begin - side.longest : 0;
    for (auto it = side.spans.lower_bound(from); it != side.spans.end() && it->first < span.end; ++it)
        if (it->second.end > span.begin) return &it->second;
    return nullptr;
}

const JobSpan* SpanSet::conflict(const JobSpan& span) const {
    if (const JobSpan* hit = overlapping(written_, span)) return hit;
    return span.written ? overlapping(read_, span) : nullptr;
}

void SpanSet::insert(const JobSpan& span) {
    Side& side = span.written ? written_ : read_;
    side.spans.emplace(span.begin, span);
    side.longest = std::max(side.longest, span.end - span.begin);
}

void SpanSet::erase(const JobSpan& span) {
    Side& side = span.written ? written_ : read_;
    const auto [first, last] = side.spans.equal_range(span.begin);
    const auto it = std::find_if(first, last, [&](const auto& entry) {
        return entry.second.job == span.job && entry.second.end == span.end;
    });
    if (it != last) side.spans.erase(it);
    if (side.spans.empty()) side.longest = 0;
}

}  // namespace weft::core
