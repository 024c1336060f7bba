// SPDX-License-Identifier: Apache-2.0
#include "plan/work/span_set.hpp"

#include <algorithm>

namespace weft::core {

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
