// SPDX-License-Identifier: Apache-2.0
#include "plan/work/workgroup_plan.hpp"

#include <algorithm>

namespace weft::core {
namespace {

constexpr std::uint64_t kIndices = std::uint64_t{1} << 32;  // of invocations, in a shader

/// Rounded up, without a sum that could exceed 64 bits.
std::uint64_t parts(std::uint64_t whole, std::uint64_t part) {
    return whole / part + (whole % part != 0 ? 1 : 0);
}

std::uint64_t unbounded_workgroups(std::uint64_t elements, const WorkgroupRule& rule) {
    return parts(elements, rule.elements_per_workgroup) * rule.workgroups_per_element;
}

std::uint64_t wanted_workgroups(std::uint64_t elements, const WorkgroupRule& rule) {
    const std::uint64_t workgroups = unbounded_workgroups(elements, rule);
    return rule.max_workgroups != 0 ? std::min<std::uint64_t>(workgroups, rule.max_workgroups) : workgroups;
}

}  // namespace

std::uint64_t most_workgroups(const WorkgroupRule& rule, const DeviceLimits& limits) {
    const std::uint64_t x = limits.max_workgroup_count[0];
    return rule.folds ? x * limits.max_workgroup_count[1] : x;
}

std::optional<WorkgroupGrid> plan_workgroups(std::uint64_t elements, const WorkgroupRule& rule,
                                             const DeviceLimits& limits) {
    const std::uint64_t workgroups = wanted_workgroups(elements, rule);
    if (workgroups > most_workgroups(rule, limits)) return std::nullopt;
    // A shader that loops adds the number of all invocations to its index once more at the end.
    const bool loops = workgroups < unbounded_workgroups(elements, rule);
    const std::uint64_t most_indices = kIndices - (loops ? std::min(elements, kIndices) : 0);
    for (std::uint64_t rows = std::max<std::uint64_t>(1, parts(workgroups, limits.max_workgroup_count[0]));;
         ++rows) {
        if (rows > 1 && (!rule.folds || rows > limits.max_workgroup_count[1])) return std::nullopt;
        const std::uint64_t columns = parts(workgroups, rows);
        if (columns * rows <= most_indices / rule.invocations)
            return WorkgroupGrid{static_cast<std::uint32_t>(columns), static_cast<std::uint32_t>(rows)};
    }
}

std::string too_many_workgroups(const std::string& program, std::uint64_t elements, const WorkgroupRule& rule,
                                const DeviceLimits& limits) {
    if (wanted_workgroups(elements, rule) <= most_workgroups(rule, limits))
        return "dispatch: program \"" + program + "\" has too many elements for 32-bit indices in its last " +
               "workgroups (got " + std::to_string(elements) + ", need at most 2147483648 to be safe)";
    return "dispatch: program \"" + program + "\" needs more workgroups than the device allows " +
           (rule.folds ? "on the x and y axes" : "on the x axis") + " (got " +
           std::to_string(wanted_workgroups(elements, rule)) + ", need " +
           std::to_string(most_workgroups(rule, limits)) + " at most; " +
           (rule.folds ? "" : "take the index from weft_index() of weft.glsl, which reads both axes, ") +
           "raise ProgramOptions::elements_per_workgroup or set max_workgroups)";
}

}  // namespace weft::core
