// SPDX-License-Identifier: Apache-2.0
#include "capi/arrays.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <weft/job.hpp>

namespace weft::capi {

namespace {

void check_host(const char* function, const char* name, const void* data, std::uint64_t bytes,
                ElementType type) {
    const std::string begin = std::string(function) + ": " + name;
    if (data == nullptr && bytes != 0) refuse(begin + " is NULL (got " + std::to_string(bytes) + " bytes)");
    if (bytes % type.bytes() != 0)
        refuse(begin + " is not a whole number of " + to_string(type) + " elements (got " +
               std::to_string(bytes) + " bytes, need a multiple of " + std::to_string(type.bytes()) + ")");
    const std::uint32_t alignment = std::min<std::uint32_t>(type.bytes(), 8);
    if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0)
        refuse(begin + " is not aligned to its elements (need a multiple of " + std::to_string(alignment) +
               " as its address)");
}

/// Parameters are one object of their size: a single word is passed as an integer or a float would be,
/// unconverted.
template <std::size_t... words>
Parameters of_words(const void* data, std::size_t count, std::index_sequence<words...>) {
    Parameters parameters;
    const auto take = [&]<std::size_t n>() {
        if (n != count) return;
        std::array<std::uint32_t, n> values;
        std::memcpy(values.data(), data, sizeof(values));
        parameters = Parameters(values);
    };
    (take.template operator()<words + 1>(), ...);
    return parameters;
}

}  // namespace

ElementType element_type_of(const char* function, const char* name, weft_type type) {
    switch (type) {
        case WEFT_FLOAT32:
            return kFloat32;
        case WEFT_FLOAT64:
            return kFloat64;
        case WEFT_COMPLEX64:
            return kComplex64;
        case WEFT_COMPLEX128:
            return kComplex128;
        case WEFT_INT64:
            return kInt64;
        default:
            refuse(std::string(function) + ": " + name + ": no such type (got " + std::to_string(type) +
                   ", need one of weft_type, 1 to " + std::to_string(WEFT_INT64) + ")");
    }
}

ConstHostArray array_of(const char* function, const char* name, weft_const_span span, ElementType type) {
    check_host(function, name, span.data, span.bytes, type);
    return {span.data, span.bytes / type.bytes(), type};
}

HostArray array_of(const char* function, const char* name, weft_span span, ElementType type) {
    check_host(function, name, span.data, span.bytes, type);
    return {span.data, span.bytes / type.bytes(), type};
}

void check_view(const char* function, const char* name, const weft_view& view, std::uint64_t element_bytes) {
    const std::string begin = std::string(function) + ": " + name;
    if (view.buffer == nullptr) refuse(begin + ".buffer is NULL");
    const std::uint64_t size = view.buffer->bytes;
    if (view.offset > size || view.bytes > size - view.offset)
        refuse(begin + ": range beyond the end (got first byte " + std::to_string(view.offset) + " and " +
               std::to_string(view.bytes) + " bytes, need at most " + std::to_string(size) + " together)");
    if (view.offset % element_bytes != 0 || view.bytes % element_bytes != 0)
        refuse(begin + ": offset and bytes are not whole elements (got " + std::to_string(view.offset) +
               " and " + std::to_string(view.bytes) + ", need multiples of " + std::to_string(element_bytes) +
               ")");
}

DeviceArray array_of(const char* function, const char* name, const weft_view& view, ElementType type) {
    const auto typed = [&]<class T>() { return DeviceArray(view_of<T>(function, name, view)); };
    if (type == kFloat32) return typed.operator()<float>();
    if (type == kFloat64) return typed.operator()<double>();
    if (type == kComplex64) return typed.operator()<c32>();
    if (type == kComplex128) return typed.operator()<c64>();
    if (type == kInt64) return typed.operator()<std::int64_t>();
    if (type == kUint64) return typed.operator()<std::uint64_t>();
    return typed.operator()<std::uint32_t>();
}

Parameters parameters_of(const char* function, weft_const_span bytes) {
    if (bytes.bytes > kMaxParameterBytes || bytes.bytes % 4 != 0 ||
        (bytes.data == nullptr && bytes.bytes != 0))
        refuse(std::string(function) + ": parameters are 32-bit words (got " + std::to_string(bytes.bytes) +
               " bytes, need a multiple of 4, at most " + std::to_string(kMaxParameterBytes) + ")");
    return of_words(bytes.data, static_cast<std::size_t>(bytes.bytes / 4),
                    std::make_index_sequence<kMaxParameterBytes / 4>());
}

}  // namespace weft::capi
