// SPDX-License-Identifier: Apache-2.0
// What the figures of a report show, in sentences.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/report_result.hpp"

namespace weft::tool {

/// The smallest size from which on this path was faster than the CPU at every size that both ran; none: it
/// was not faster even at the largest one.
std::optional<std::uint64_t> wins_from(const KernelResult& result, std::size_t process, ReportPath path);

/// The size with the best `value` of a path; null: the path never ran.
struct Best {
    const SizeResult* size = nullptr;
    const PathResult* path = nullptr;
};
enum class BestBy {
    speedup,
    measured_speedup,  ///< only at sizes whose CPU time is not extrapolated
    rate,              ///< only from times that were measured
    ceiling,
};
Best best_of(const KernelResult& result, std::size_t process, ReportPath path, BestBy value);

/// "12.3x"; "~12.3x" if it depends on a CPU time that is extrapolated.
std::string speedup_text(const PathResult& path);

/// One sentence for each finding.
std::vector<std::string> findings(const KernelResult& result);

}  // namespace weft::tool
