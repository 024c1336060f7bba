// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: buffers and registrations.
#include <cstddef>

#include "capi/arrays.hpp"
#include "capi/handle.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

weft_status weft_buffer_create(weft_backend* backend, weft_memory_kind kind, uint64_t bytes, const char* name,
                               weft_buffer** buffer) {
    constexpr const char* kName = "weft_buffer_create";
    const Uses uses(backend);
    return guarded(kName, [&] {
        given(kName, "buffer", buffer);
        *buffer = nullptr;
        weft::Backend& owner = given(kName, "backend", backend).object;
        auto made = std::make_unique<weft_buffer>();
        made->host = enum_of<std::uint32_t>(kName, "kind", kind, WEFT_HOST_MEMORY + 1) == WEFT_HOST_MEMORY;
        made->bytes = bytes;
        const auto count = static_cast<std::size_t>(bytes);
        made->object = made->host ? weft::detail::make_host_buffer(owner, count, 1, text_of(name))
                                  : weft::detail::make_device_buffer(owner, count, 1, text_of(name));
        *buffer = made.release();
    });
}

WEFT_DEFINE_HANDLE(weft_buffer)

uint64_t weft_buffer_bytes(const weft_buffer* buffer) {
    return buffer == nullptr ? 0 : buffer->bytes;
}

void* weft_buffer_data(const weft_buffer* buffer) {
    return buffer == nullptr || !buffer->host ? nullptr : weft::detail::mapped(*buffer->object);
}

weft_view weft_buffer_view(weft_buffer* buffer) {
    return {buffer, 0, weft_buffer_bytes(buffer)};
}

weft_status weft_registration_create(weft_backend* backend, weft_span memory,
                                     weft_registration** registration) {
    constexpr const char* kName = "weft_registration_create";
    const Uses uses(backend);
    return create(kName, registration, [&] {
        if (memory.data == nullptr) refuse(std::string(kName) + ": memory.data is NULL");
        const std::span<std::byte> range(static_cast<std::byte*>(memory.data),
                                         static_cast<std::size_t>(memory.bytes));
        return weft::HostRegistration(given(kName, "backend", backend).object, range);
    });
}

WEFT_DEFINE_HANDLE(weft_registration)
