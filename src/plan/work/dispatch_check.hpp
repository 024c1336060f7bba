// SPDX-License-Identifier: Apache-2.0
// Whether a dispatch fits its program and its device. Pure: called before anything is recorded.
#pragma once

#include <cstdint>
#include <span>
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
};

/// Errors: invalid_argument - the text names program, binding by number and name, got and need.
void check_dispatch(const DispatchRequest& request, const DeviceLimits& limits);

}  // namespace weft::core
