// SPDX-License-Identifier: Apache-2.0
// Spans and views of the caller as the arrays that ops take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <weft/weft.h>
#include <weft/array.hpp>

#include "capi/handle.hpp"

namespace weft::capi {

/// Errors: invalid_argument - not one of weft_type.
ElementType element_type_of(const char* function, const char* name, weft_type type);

/// Errors: invalid_argument - not a whole number of elements, not aligned to them, null with a length.
ConstHostArray array_of(const char* function, const char* name, weft_const_span span, ElementType type);
HostArray array_of(const char* function, const char* name, weft_span span, ElementType type);
/// The same with the bounds of the buffer.
DeviceArray array_of(const char* function, const char* name, const weft_view& view, ElementType type);

/// Elements of T.
template <class T>
std::span<const T> span_of(const char* function, const char* name, weft_const_span span) {
    const ConstHostArray array = array_of(function, name, span, element_type<T>());
    return {static_cast<const T*>(array.data), static_cast<std::size_t>(array.size)};
}
template <class T>
std::span<T> span_of(const char* function, const char* name, weft_span span) {
    const HostArray array = array_of(function, name, span, element_type<T>());
    return {static_cast<T*>(array.data), static_cast<std::size_t>(array.size)};
}
/// Errors: invalid_argument - no buffer, out of its bounds, not a whole number of elements.
void check_view(const char* function, const char* name, const weft_view& view, std::uint64_t element_bytes);
template <class T>
BufferView<T> view_of(const char* function, const char* name, const weft_view& view) {
    check_view(function, name, view, sizeof(T));
    return detail::Access::make<BufferView<T>>(view.buffer->object,
                                               static_cast<std::size_t>(view.offset / sizeof(T)),
                                               static_cast<std::size_t>(view.bytes / sizeof(T)));
}

inline bool is_empty(weft_const_span span) noexcept {
    return span.data == nullptr && span.bytes == 0;
}
inline bool is_empty(const weft_view& view) noexcept {
    return view.buffer == nullptr && view.offset == 0 && view.bytes == 0;
}

/// Parameters of a job or dispatch. Errors: invalid_argument - not words, or too many.
Parameters parameters_of(const char* function, weft_const_span bytes);

}  // namespace weft::capi
