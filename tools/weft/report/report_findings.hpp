// SPDX-License-Identifier: Apache-2.0
// What the figures of a report say, in sentences.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/report_result.hpp"

namespace weft::tool {

/// The smallest size from which on this path was faster than the CPU at every size that both ran; none: not
/// even at the largest.
std::optional<std::uint64_t> wins_from(const KernelResult& result, std::size_t process, ReportPath path);

/// The size at which a path did best by `value`; null: it never ran.
struct Best {
    const SizeResult* size = nullptr;
    const PathResult* path = nullptr;
};
enum class BestBy {
    speedup,
    measured_speedup,  ///< where the CPU's time is not extrapolated
    rate,              ///< of times that were measured
    ceiling,
};
Best best_of(const KernelResult& result, std::size_t process, ReportPath path, BestBy value);

/// "12.3x"; "~12.3x" where it rests on a CPU's time that is extrapolated.
std::string speedup_text(const PathResult& path);

/// One sentence each.
std::vector<std::string> findings(const KernelResult& result);

}  // namespace weft::tool
