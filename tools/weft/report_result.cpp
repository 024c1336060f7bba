// SPDX-License-Identifier: Apache-2.0
#include "report_result.hpp"

#include <algorithm>

namespace weft::tool {

const char* to_string(ReportPath path) noexcept {
    switch (path) {
        case ReportPath::cpu:
            return "cpu";
        case ReportPath::ordinary:
            return "ordinary";
        case ReportPath::page_locked:
            return "page-locked";
        case ReportPath::resident:
            return "resident";
    }
    return "unknown";
}

const PathResult* SizeResult::of(ReportPath path) const {
    const auto found = std::find_if(paths.begin(), paths.end(),
                                    [&](const PathResult& p) { return p.path == path && p.ran(); });
    return found == paths.end() ? nullptr : &*found;
}

std::string SizeResult::common_failure() const {
    const bool same = !paths.empty() && std::all_of(paths.begin(), paths.end(), [&](const PathResult& p) {
        return p.failure == paths.front().failure;
    });
    return same ? paths.front().failure : std::string();
}

bool KernelResult::any_ran() const {
    return std::any_of(sizes.begin(), sizes.end(), [](const SizeResult& size) {
        return std::any_of(size.paths.begin(), size.paths.end(),
                           [](const PathResult& p) { return p.ran() && p.path != ReportPath::cpu; });
    });
}

}  // namespace weft::tool
