// SPDX-License-Identifier: Apache-2.0
#include "measure/report_result.hpp"

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
        case ReportPath::cuda:
            return "cuda";
    }
    return "unknown";
}

const PathResult* SizeResult::of(ReportPath path) const {
    const auto found = std::find_if(paths.begin(), paths.end(),
                                    [&](const PathResult& p) { return p.path == path && p.ran(); });
    return found == paths.end() ? nullptr : &*found;
}

void SizeResult::compare() {
    const PathResult* cpu = of(ReportPath::cpu);
    if (cpu == nullptr) return;
    const PathResult *vulkan = of(ReportPath::ordinary), *resident = of(ReportPath::resident);
    const double baseline = cpu->timing.seconds.median;
    bool any_verified = false;
    for (PathResult& path : paths) {
        const double median = path.timing.seconds.median;
        if (path.ran() && median > 0) path.speedup = baseline / median;
        path.over_extrapolated = path.speedup > 0 && cpu->extrapolated() && &path != cpu;
        if (path.path == ReportPath::cuda && path.ran() && median > 0 && vulkan != nullptr)
            path.over_vulkan = vulkan->timing.seconds.median / median;
        if (path.ran() && median > 0 && resident != nullptr && path.path != ReportPath::cpu &&
            path.path != ReportPath::resident)
            path.of_resident = resident->timing.seconds.median / median;
        any_verified = any_verified || path.verified;
    }
    for (PathResult& path : paths)
        if (path.path == ReportPath::cpu) path.verified = any_verified;
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

bool KernelResult::has(ReportPath path) const {
    return std::any_of(sizes.begin(), sizes.end(),
                       [&](const SizeResult& size) { return size.of(path) != nullptr; });
}

}  // namespace weft::tool
