// SPDX-License-Identifier: Apache-2.0
// Settings of a Backend or a Devices, as Python gives them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <weft/config.hpp>

namespace weft::python {

/// Settings that differ from the environment's, by name.
struct Settings {
    std::optional<std::string> device, path, queues, host_allocator, validation, log_level, trace, cache_dir,
        vulkan_library;
    std::optional<std::uint64_t> chunk_elements, memory_limit;
    std::optional<std::uint32_t> ring_slots, copy_threads;
    std::optional<bool> cache;
};

/// Errors: InvalidArgument - a value that has no such name.
Config config_of(const Settings& given);

/// Binds the __init__ that makes an Object of a Config.
template <class Object>
void bind_init(nanobind::class_<Object>& bound) {
    using nanobind::arg;
    using Text = std::optional<std::string>;
    bound.def(
        "__init__",
        [](Object* self, Text device, Text path, Text queues, Text host_allocator, Text validation,
           Text log_level, Text trace, Text cache_dir, Text vulkan_library,
           std::optional<std::uint64_t> chunk_elements, std::optional<std::uint64_t> memory_limit,
           std::optional<std::uint32_t> ring_slots, std::optional<std::uint32_t> copy_threads,
           std::optional<bool> cache) {
            new (self) Object(
                config_of({device, path, queues, host_allocator, validation, log_level, trace, cache_dir,
                           vulkan_library, chunk_elements, memory_limit, ring_slots, copy_threads, cache}));
        },
        arg("device").none(), arg("path").none(), arg("queues").none(), arg("host_allocator").none(),
        arg("validation").none(), arg("log_level").none(), arg("trace").none(), arg("cache_dir").none(),
        arg("vulkan_library").none(), arg("chunk_elements").none(), arg("memory_limit").none(),
        arg("ring_slots").none(), arg("copy_threads").none(), arg("cache").none());
}

}  // namespace weft::python
