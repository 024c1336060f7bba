// SPDX-License-Identifier: Apache-2.0
// Also completes weft/host_buffer.hpp and weft/memory_report.hpp.
#include <weft/buffer.hpp>

#include <limits>

#include <weft/host_buffer.hpp>
#include <weft/memory_report.hpp>
#include <weft/stream.hpp>

#include "vulkan/engine/backend_state.hpp"

namespace weft {
namespace {

std::uint64_t checked_bytes(std::size_t count, std::size_t element_bytes, const char* what) {
    if (element_bytes != 0 && count > std::numeric_limits<std::uint64_t>::max() / element_bytes / 2)
        throw Error(Errc::invalid_argument, std::string(what) + ": too many elements (got " +
                                                std::to_string(count) + " of " +
                                                std::to_string(element_bytes) + " bytes)");
    return std::uint64_t{count} * element_bytes;
}

std::shared_ptr<core::BufferObject> make_device_buffer(core::BackendState& backend_state, std::size_t count,
                                                       std::size_t element_bytes, std::string_view name) {
    const auto& context = backend_state.context();
    context->device.require_usable("Buffer");
    return core::BufferObject::create(context, core::MemoryKind::device,
                                      checked_bytes(count, element_bytes, "Buffer"),
                                      name.empty() ? "buffer" : std::string(name));
}

}  // namespace

namespace detail {

std::shared_ptr<core::BufferObject> make_device_buffer(Backend& backend, std::size_t count,
                                                       std::size_t element_bytes, std::string_view name) {
    return weft::make_device_buffer(*detail::Access::backend_state(backend), count, element_bytes, name);
}

std::shared_ptr<core::BufferObject> make_device_buffer(const Stream& stream, std::size_t count,
                                                       std::size_t element_bytes, std::string_view name) {
    return weft::make_device_buffer(*detail::Access::backend_state(stream), count, element_bytes, name);
}

const PlanReport& plan_report(const Stream& stream) {
    return detail::Access::backend_state(stream)->plan_report();
}

MemoryReport memory_report(const Stream& stream) {
    return detail::Access::backend_state(stream)->context()->memory.report();
}

std::shared_ptr<core::BufferObject> make_host_buffer(Backend& backend, std::size_t count,
                                                     std::size_t element_bytes, std::string_view name) {
    const auto& context = detail::Access::backend_state(backend)->context();
    context->device.require_usable("HostBuffer");
    // Download memory is cached, which suits both directions: users read and write these buffers.
    auto buffer = core::BufferObject::create(context, core::MemoryKind::download,
                                             checked_bytes(count, element_bytes, "HostBuffer"),
                                             name.empty() ? "host buffer" : std::string(name));
    context->host_ranges.insert(buffer);
    return buffer;
}

void check_view(const char* what, std::size_t first, std::size_t count, std::size_t size) {
    if (first <= size && count <= size - first) return;
    throw Error(Errc::invalid_argument, std::string(what) + ": range beyond the end (got first " +
                                            std::to_string(first) + " count " + std::to_string(count) +
                                            ", need at most " + std::to_string(size) + ")");
}

void* mapped(const core::BufferObject& object) noexcept {
    return object.mapped();
}

}  // namespace detail

namespace {

std::shared_ptr<core::BufferObject> register_range(Backend& backend, std::span<std::byte> range) {
    if (range.data() == nullptr || range.empty())
        throw Error(Errc::invalid_argument, "HostRegistration: empty range (got " +
                                                std::to_string(range.size()) + " bytes at " +
                                                (range.data() == nullptr ? "null" : "a pointer") +
                                                ", need at least 1 byte of memory)");
    // Nothing is mapped below this address, and rounding down must not give null.
    constexpr std::uintptr_t kFirstPage = 65536;
    const auto begin = reinterpret_cast<std::uintptr_t>(range.data());
    if (begin < kFirstPage || begin > ~std::uintptr_t{0} / 2 || range.size() > ~std::uintptr_t{0} / 2 - begin)
        throw Error(Errc::invalid_argument, "HostRegistration: no such memory (got " +
                                                std::to_string(range.size()) + " bytes at address " +
                                                std::to_string(begin) + ")");
    const auto& context = detail::Access::backend_state(backend)->context();
    context->device.require_usable("HostRegistration");
    return core::BufferObject::import(context, range.data(), range.size());
}

}  // namespace

HostRegistration::HostRegistration(Backend& backend, std::span<std::byte> range)
    : objects_{register_range(backend, range)} {}

}  // namespace weft
