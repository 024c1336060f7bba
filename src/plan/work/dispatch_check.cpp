// SPDX-License-Identifier: Apache-2.0
#include "plan/work/dispatch_check.hpp"

#include <string>

#include <weft/error.hpp>

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
    if (binding.access != Access::read && !range.writable)
        refuse(request, binding_text(binding) + " is written but was given a read-only view");
    if (range.bytes == 0) refuse(request, binding_text(binding) + " was given an empty range");
    if (range.bytes > limits.max_storage_buffer_range)
        refuse(request, binding_text(binding) + " range is larger than one binding can be" +
                            got_need(range.bytes, limits.max_storage_buffer_range, "bytes at most"));
    if (range.offset % limits.storage_buffer_offset_alignment != 0)
        refuse(request,
               binding_text(binding) + " offset is not aligned" +
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

}  // namespace

void check_dispatch(const DispatchRequest& request, const DeviceLimits& limits) {
    if (request.arguments != request.bindings.size()) {
        std::string list;
        for (const Binding& binding : request.bindings) {
            list += list.empty() ? "of them: " : ", ";
            list += std::to_string(binding.binding) + " \"" + binding.name + "\"";
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
    constexpr std::uint64_t kMostElements = 0xffffffffu;  // `uint count`
    if (request.elements > kMostElements)
        refuse(request, "too many elements" + got_need(request.elements, kMostElements, "at most"));
    for (std::size_t i = 0; i < request.bindings.size(); ++i) {
        check_range(request, i, limits);
        for (std::size_t k = 0; k < i; ++k) check_apart(request, k, i);
    }
}

}  // namespace weft::core
