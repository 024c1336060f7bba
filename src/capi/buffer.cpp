// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: buffers and registrations.
#include <cstddef>

#include "capi/arrays.hpp"
#include "capi/handle.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

namespace {

void make_host_memory(weft::Backend& backend, std::size_t bytes, const char* name, weft_buffer& buffer) {
    buffer.object = weft::detail::make_host_buffer(backend, bytes, 1, text_of(name));
}
/// Memory of the first device that all devices reach.
void make_host_memory(weft::Devices& devices, std::size_t bytes, const char* name, weft_buffer& buffer) {
    make_host_memory(weft::detail::first_of(devices), bytes, name, buffer);
    buffer.imports = weft::detail::import_into_others(devices, *buffer.object);
}

}  // namespace

weft_status weft_buffer_create(weft_backend* backend, weft_memory_kind kind, uint64_t bytes, const char* name,
                               weft_buffer** buffer) {
    constexpr const char* kName = "weft_buffer_create";
    const Uses uses(backend);
    return guarded(kName, [&] {
        given(kName, "buffer", buffer);
        *buffer = nullptr;
        given(kName, "backend", backend);
        auto made = std::make_unique<weft_buffer>();
        made->host = enum_of<std::uint32_t>(kName, "kind", kind, WEFT_HOST_MEMORY + 1) == WEFT_HOST_MEMORY;
        made->bytes = bytes;
        const auto count = static_cast<std::size_t>(bytes);
        if (made->host)
            on_devices(kName, backend, [&](auto& owner) { make_host_memory(owner, count, name, *made); });
        else
            made->object =
                weft::detail::make_device_buffer(one_device(kName, backend), count, 1, text_of(name));
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
        return on_devices(kName, backend, [&](auto& owner) { return weft::HostRegistration(owner, range); });
    });
}

WEFT_DEFINE_HANDLE(weft_registration)
