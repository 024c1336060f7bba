// SPDX-License-Identifier: Apache-2.0
#include "config.hpp"

#include "text.hpp"

namespace weft::python {

Config config_of(const Settings& given) {
    Config config = Config::from_env();
    if (given.device) config.device = *given.device == "auto" ? "" : *given.device;
    if (given.path) config.path = path_named(*given.path);
    if (given.queues) config.queues = queues_named(*given.queues);
    if (given.host_allocator) config.host_allocator = host_allocator_named(*given.host_allocator);
    if (given.validation) config.validation = validation_named(*given.validation);
    if (given.log_level) config.log_level = log_level_named(*given.log_level);
    if (given.trace) config.trace = *given.trace;
    if (given.cache_dir) config.cache_dir = *given.cache_dir;
    if (given.vulkan_library) config.vulkan_library = *given.vulkan_library;
    if (given.chunk_elements) config.chunk_elements = given.chunk_elements;
    if (given.memory_limit) config.memory_limit = *given.memory_limit;
    if (given.ring_slots) config.ring_slots = given.ring_slots;
    if (given.copy_threads) config.copy_threads = given.copy_threads;
    if (given.cache) config.cache = *given.cache;
    return config;
}

}  // namespace weft::python
