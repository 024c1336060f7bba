// SPDX-License-Identifier: Apache-2.0
// Whether a dispatch fits its program and its device, and how its workgroups lie on the axes. Pure: called
// before anything is recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <weft/device.hpp>
#include <weft/program.hpp>

namespace weft::core {

/// A range as it will be bound.
struct DispatchRange {
    std::uint64_t offset = 0, bytes = 0;
    bool writable = true;
    std::uint64_t buffer = 0;  // ranges of one buffer have the same number; 0: overlaps no other range
};

struct DispatchRequest {
    std::string_view function;  // the caller, e.g. "Stream::dispatch"
    std::string_view program;
    std::span<const Binding> bindings;
    std::span<const DispatchRange> ranges;  // of the first arguments, at least as many as bindings
    std::size_t arguments = 0;
    std::uint32_t push_constant_bytes = 0;
    std::uint64_t parameter_bytes = 0;
    std::uint64_t elements = 0;
    std::string_view unlike_parameter{};  // what is wrong with the kind of the parameters; empty: nothing
};

/// Errors: invalid_argument - the text names program, binding by number and name, got and need.
void check_dispatch(const DispatchRequest& request, const DeviceLimits& limits);

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

/// Workgroups for `elements`. They lie along x if they fit there, else in the fewest equal rows, so that less
/// than one workgroup a row is unused. More rows are taken if the 32-bit index of a shader would otherwise
/// start again at 0 in unused workgroups. Nothing: the device or that index does not allow so many.
std::optional<WorkgroupGrid> plan_workgroups(std::uint64_t elements, const WorkgroupRule& rule,
                                             const DeviceLimits& limits);

/// Why plan_workgroups returned nothing, with the limit and what a caller can do.
std::string too_many_workgroups(const std::string& program, std::uint64_t elements, const WorkgroupRule& rule,
                                const DeviceLimits& limits);

}  // namespace weft::core
