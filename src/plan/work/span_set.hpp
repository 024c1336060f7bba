// SPDX-License-Identifier: Apache-2.0
// Memory of jobs under way, for refusing one that would collide with them. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>

#include "plan/work/batch_plan.hpp"

namespace weft::core {

class SpanSet {
  public:
    /// The job of a span in the set that shares memory with `span` where one of the two is written; nothing:
    /// no conflict.
    const JobSpan* conflict(const JobSpan& span) const;
    void insert(const JobSpan& span);
    void erase(const JobSpan& span);

  private:
    using Map = std::multimap<std::uintptr_t, JobSpan>;
    struct Side {
        Map spans;
        std::uintptr_t longest = 0;  // no span is longer: bounds how far back an overlap can begin
    };
    static const JobSpan* overlapping(const Side& side, const JobSpan& span);
    Side read_, written_;
};

}  // namespace weft::core
