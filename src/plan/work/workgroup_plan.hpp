// SPDX-License-Identifier: Apache-2.0
// How many workgroups a number of elements takes, and how they lie on the axes of a dispatch. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <weft/device.hpp>

namespace weft::core {

/// Workgroups along x and y.
struct WorkgroupGrid {
    std::uint32_t x = 0, y = 1;
    bool operator==(const WorkgroupGrid&) const = default;
};

/// What a program says about its workgroups.
struct WorkgroupRule {
    std::uint32_t elements_per_workgroup = 1;  // not 0
    std::uint32_t max_workgroups = 0;          // 0: no bound
    bool folds = false;                        // the shader takes its index from both axes
    std::uint32_t invocations = 1;             // of a workgroup
    std::uint32_t workgroups_per_element = 1;  // workgroups that share one element
};

/// Most workgroups of one dispatch: along x, or over x and y for a shader that folds.
std::uint64_t most_workgroups(const WorkgroupRule& rule, const DeviceLimits& limits);

/// Workgroups for `elements`: along x alone as long as they fit there, else in the fewest equal rows, which
/// leaves less than one workgroup a row to spare, or in some more where a shader's 32-bit index would
/// otherwise start again at 0 in the workgroups to spare. Nothing: more than the device or that index allows.
std::optional<WorkgroupGrid> plan_workgroups(std::uint64_t elements, const WorkgroupRule& rule,
                                             const DeviceLimits& limits);

/// Why plan_workgroups returned nothing, with the limit and what a caller can do.
std::string too_many_workgroups(const std::string& program, std::uint64_t elements, const WorkgroupRule& rule,
                                const DeviceLimits& limits);

}  // namespace weft::core
