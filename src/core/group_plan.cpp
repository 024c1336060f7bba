// SPDX-License-Identifier: Apache-2.0
#include "core/group_plan.hpp"

#include <algorithm>

namespace weft::core {
namespace {

/// Rounded up without the sum that could pass 64 bits.
std::uint64_t parts(std::uint64_t whole, std::uint64_t part) {
    return whole / part + (whole % part != 0 ? 1 : 0);
}

std::uint64_t wanted_groups(std::uint64_t elements, const GroupRule& rule) {
    const std::uint64_t groups = parts(elements, rule.elements_per_group);
    return rule.max_groups != 0 ? std::min<std::uint64_t>(groups, rule.max_groups) : groups;
}

}  // namespace

std::uint64_t most_groups(const GroupRule& rule, const DeviceLimits& limits) {
    const std::uint64_t x = limits.max_group_count[0];
    return rule.folds ? x * limits.max_group_count[1] : x;
}

std::optional<GroupGrid> plan_groups(std::uint64_t elements, const GroupRule& rule,
                                     const DeviceLimits& limits) {
    const std::uint64_t groups = wanted_groups(elements, rule);
    if (groups > most_groups(rule, limits)) return std::nullopt;
    if (groups <= limits.max_group_count[0]) return GroupGrid{static_cast<std::uint32_t>(groups), 1};
    const std::uint64_t rows = parts(groups, limits.max_group_count[0]);
    return GroupGrid{static_cast<std::uint32_t>(parts(groups, rows)), static_cast<std::uint32_t>(rows)};
}

std::string too_many_groups(const std::string& program, std::uint64_t elements, const GroupRule& rule,
                            const DeviceLimits& limits) {
    return "dispatch: program \"" + program + "\" needs more workgroups than the device allows " +
           (rule.folds ? "on the x and y axes" : "on the x axis") + " (got " +
           std::to_string(wanted_groups(elements, rule)) + ", need " +
           std::to_string(most_groups(rule, limits)) + " at most; " +
           (rule.folds ? "" : "take the index from weft_index() of weft.glsl, which reads both axes, ") +
           "raise ProgramOptions::elements_per_group or set max_groups)";
}

}  // namespace weft::core
