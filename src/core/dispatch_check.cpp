// SPDX-License-Identifier: Apache-2.0
#include "core/dispatch_check.hpp"

#include <string>

#include <weft/error.hpp>

#include "core/reflection.hpp"

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
    for (std::size_t i = 0; i < request.bindings.size(); ++i) check_range(request, i, limits);
}

}  // namespace weft::core
