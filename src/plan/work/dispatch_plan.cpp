// SPDX-License-Identifier: Apache-2.0
#include "plan/work/dispatch_plan.hpp"

#include <algorithm>
#include <string>

#include <weft/error.hpp>

#include "base/whole_numbers.hpp"
#include "plan/spirv/reflection.hpp"

namespace weft::core {
namespace {

std::string got_need(std::uint64_t got, std::uint64_t need, const char* unit) {
    return " (got " + std::to_string(got) + ", need " + std::to_string(need) + " " + unit + ")";
}

[[noreturn]] void refuse(const DispatchRequest& request, const std::string& what) {
    throw Error(Errc::invalid_argument,
                std::string(request.function) + ": program \"" + std::string(request.program) + "\" " + what);
}

void check_range(const DispatchRequest& request, std::size_t i, const DeviceLimits& limits) {
    const DispatchRange& range = request.ranges[i];
    const Binding& binding = request.bindings[i];
    const auto refuse_range = [&](const std::string& what) {
        refuse(request, binding_text(binding) + ": " + what);
    };
    if (binding.access != Access::read && !range.writable)
        refuse_range("is written but was given a read-only view");
    if (range.bytes == 0) refuse_range("was given an empty range");
    if (range.bytes < binding.least_bytes) refuse_range(shorter_than_block(range.bytes, binding));
    if (range.bytes > limits.max_storage_buffer_range)
        refuse_range("range is larger than one binding can be" +
                     got_need(range.bytes, limits.max_storage_buffer_range, "bytes at most"));
    if (range.offset % limits.storage_buffer_offset_alignment != 0)
        refuse_range("offset is not aligned" +
                     got_need(range.offset, limits.storage_buffer_offset_alignment, "bytes or a multiple"));
}

std::string range_text(const DispatchRange& range) {
    return std::to_string(range.bytes) + " bytes from " + std::to_string(range.offset);
}

/// Exactly the same range is work in place: each invocation reads what it then writes. Where ranges overlap
/// in part, one invocation writes what another one reads, and the result depends on their order.
void check_apart(const DispatchRequest& request, std::size_t i, std::size_t k) {
    const DispatchRange &a = request.ranges[i], &b = request.ranges[k];
    const Binding &first = request.bindings[i], &second = request.bindings[k];
    if (a.buffer == 0 || a.buffer != b.buffer) return;
    if (first.access == Access::read && second.access == Access::read) return;
    if (a.offset == b.offset && a.bytes == b.bytes) return;
    if (a.offset >= b.offset + b.bytes || b.offset >= a.offset + a.bytes) return;
    refuse(request, binding_text(first) + " and " + binding_text(second) +
                        " overlap in part and one is written (got " + range_text(a) + " and " +
                        range_text(b) + ", need the same range or ranges apart)");
}

constexpr std::uint64_t kIndices = std::uint64_t{1} << 32;  // of invocations, in a shader

std::uint64_t unbounded_workgroups(std::uint64_t elements, const WorkgroupRule& rule) {
    return divide_up(elements, rule.elements_per_workgroup) * rule.workgroups_per_element;
}

std::uint64_t wanted_workgroups(std::uint64_t elements, const WorkgroupRule& rule) {
    const std::uint64_t workgroups = unbounded_workgroups(elements, rule);
    return rule.max_workgroups != 0 ? std::min<std::uint64_t>(workgroups, rule.max_workgroups) : workgroups;
}

}  // namespace

void check_dispatch(const DispatchRequest& request, const DeviceLimits& limits) {
    if (request.arguments != request.bindings.size()) {
        std::string list;
        for (const Binding& binding : request.bindings) {
            list += list.empty() ? "of them: " : "; ";
            list += listed_binding(binding);
        }
        if (list.empty()) list = "of them";
        refuse(request, "takes another number of arguments" +
                            got_need(request.arguments, request.bindings.size(), list.c_str()));
    }
    const std::uint32_t push = request.push_constant_bytes;
    const std::uint64_t parameters = push > 8 ? push - 8 : 0;
    if (request.parameter_bytes != parameters)
        refuse(request, "parameters do not fit the push-constant block" +
                            got_need(request.parameter_bytes, parameters, "bytes"));
    if (!request.unlike_parameter.empty()) refuse(request, std::string(request.unlike_parameter));
    constexpr std::uint64_t kMostElements = 0xffffffffu;  // `uint count`
    if (request.elements > kMostElements)
        refuse(request, "too many elements" + got_need(request.elements, kMostElements, "at most"));
    for (std::size_t i = 0; i < request.bindings.size(); ++i) {
        check_range(request, i, limits);
        for (std::size_t k = 0; k < i; ++k) check_apart(request, k, i);
    }
}

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
    for (std::uint64_t rows =
             std::max<std::uint64_t>(1, divide_up(workgroups, limits.max_workgroup_count[0]));
         ; ++rows) {
        if (rows > 1 && (!rule.folds || rows > limits.max_workgroup_count[1])) return std::nullopt;
        const std::uint64_t columns = divide_up(workgroups, rows);
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
