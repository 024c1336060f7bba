// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: devices and backends.
#include <unistd.h>

#include <weft/config.hpp>
#include <weft/device.hpp>
#include <weft/memory_report.hpp>

#include "capi/batch_options.hpp"
#include "capi/handle.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

struct weft_device_list {
    mutable UseCount uses{1};
    std::vector<weft::DeviceInfo> devices;
    std::vector<std::string> refused;  ///< of each device, a line for each reason
};

namespace {

/// A driver does not survive a fork, so the first process that asks for devices is the only one.
/// Errors: unsupported - it was forked from one that did.
void require_own_driver(const char* function) {
    static std::atomic<pid_t> first{0};
    pid_t opened = 0;
    const pid_t self = getpid();
    if (!first.compare_exchange_strong(opened, self) && opened != self)
        throw weft::Error(weft::Errc::unsupported,
                          std::string(function) +
                              ": this process was forked after its parent had opened a driver, which does "
                              "not survive that; fork before, or use exec in the child");
}

std::string lines_of(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

weft::LogCallback log_of(weft_log_fn call, void* user) {
    return [call, user](weft::LogLevel level, std::string_view line) {
        const std::string text(line);
        call(user, static_cast<weft_log_level>(level) + WEFT_LOG_OFF, text.c_str());
    };
}

void apply_choices(const char* function, const weft_backend_options& given, weft::Config& config) {
    const auto choice = [&](const char* name, weft_choice value) { return choice_of(function, name, value); };
    const weft::Choice local = choice("weft_backend_options.device_local", given.device_local);
    if (local != weft::Choice::automatic) config.device_local = local == weft::Choice::on;
    const weft::Choice cache = choice("weft_backend_options.cache", given.cache);
    if (cache != weft::Choice::automatic) config.cache = cache == weft::Choice::on;
    const weft::Path path = path_of(function, "weft_backend_options.path", given.path);
    if (path != weft::Path::automatic) config.path = path;
    const weft::QueueMode queues = queue_mode_of(function, "weft_backend_options.queues", given.queues);
    if (queues != weft::QueueMode::automatic) config.queues = queues;
    const auto allocator = enum_of<weft::HostAllocator>(function, "weft_backend_options.host_allocator",
                                                        given.host_allocator, WEFT_ALLOCATOR_CUDA + 1);
    if (allocator != weft::HostAllocator::automatic) config.host_allocator = allocator;
    const auto validation = enum_of<std::uint32_t>(function, "weft_backend_options.validation",
                                                   given.validation, WEFT_VALIDATION_SYNC + 1);
    if (validation != WEFT_VALIDATION_DEFAULT)
        config.validation = static_cast<weft::Validation>(validation - WEFT_VALIDATION_OFF);
    const auto level = enum_of<std::uint32_t>(function, "weft_backend_options.log_level", given.log_level,
                                              WEFT_LOG_DEBUG + 1);
    if (level != WEFT_LOG_DEFAULT) config.log_level = static_cast<weft::LogLevel>(level - WEFT_LOG_OFF);
}

weft::Config config_of(const char* function, const weft_backend_options* options) {
    const weft_backend_options given = read_options(function, "weft_backend_options", options);
    const bool ignore =
        flag_of(function, "weft_backend_options.ignore_environment", given.ignore_environment);
    weft::Config config = ignore ? weft::Config() : weft::Config::from_env();
    if (given.device != nullptr) config.device = given.device;
    if (given.chunk_elements != 0) config.chunk_elements = given.chunk_elements;
    if (given.memory_limit != 0) config.memory_limit = given.memory_limit;
    if (given.ring_slots != 0) config.ring_slots = given.ring_slots;
    if (given.copy_threads != 0) config.copy_threads = given.copy_threads;
    if (given.dispatch_ms != 0) config.dispatch_ms = given.dispatch_ms;
    apply_choices(function, given, config);
    if (flag_of(function, "weft_backend_options.vulkan_1_2_only", given.vulkan_1_2_only))
        config.vulkan_1_2_only = true;
    if (given.log != nullptr) config.log = log_of(given.log, given.log_user);
    if (given.trace != nullptr) config.trace = given.trace;
    if (given.cache_dir != nullptr) config.cache_dir = given.cache_dir;
    if (given.vulkan_library != nullptr) config.vulkan_library = given.vulkan_library;
    return config;
}

weft_device_info figures_of(const weft::DeviceInfo& device, const std::string& refused) {
    weft_device_info all{};
    all.index = device.index;
    all.name = device.name.c_str();
    all.driver = device.driver.c_str();
    all.uuid = device.uuid.c_str();
    all.refused = refused.c_str();
    all.type = static_cast<weft_device_type>(device.type);
    all.chosen = device.chosen ? 1 : 0;
    all.vendor_id = device.vendor_id;
    all.device_id = device.device_id;
    all.api_major = device.api_major;
    all.api_minor = device.api_minor;
    all.memory_bytes = device.device_memory_bytes;
    all.max_buffer_bytes = device.limits.max_buffer_bytes;
    all.unified_memory = device.unified_memory ? 1 : 0;
    all.int64 = device.shader_int64 ? 1 : 0;
    all.float64 = device.shader_float64 ? 1 : 0;
    all.subgroup_size = device.limits.subgroup_size;
    all.view_alignment = static_cast<std::uint32_t>(device.limits.storage_buffer_offset_alignment);
    return all;
}

}  // namespace

weft_status weft_list_devices(const weft_backend_options* options, weft_device_list** list) {
    constexpr const char* kName = "weft_list_devices";
    return guarded(kName, [&] {
        given(kName, "list", list);
        *list = nullptr;
        auto made = std::make_unique<weft_device_list>();
        const weft::Config config = config_of(kName, options);
        require_own_driver(kName);
        made->devices = weft::list_devices(config);
        for (const weft::DeviceInfo& device : made->devices)
            made->refused.push_back(lines_of(device.refused));
        *list = made.release();
    });
}

WEFT_DEFINE_HANDLE(weft_device_list)

uint64_t weft_device_list_count(const weft_device_list* list) {
    return list == nullptr ? 0 : list->devices.size();
}

weft_status weft_device_list_get(const weft_device_list* list, uint64_t at, weft_device_info* info) {
    constexpr const char* kName = "weft_device_list_get";
    const Uses uses(list);
    return guarded(kName, [&] {
        const weft_device_list& all = given(kName, "list", list);
        if (at >= all.devices.size())
            refuse(std::string(kName) + ": no such device (got " + std::to_string(at) + ", need below " +
                   std::to_string(all.devices.size()) + ")");
        write_report(kName, "weft_device_info", figures_of(all.devices[at], all.refused[at]), info);
    });
}

weft_backend::weft_backend(const weft::Config& config) {
    if (config.device.empty()) {
        one = &own.emplace(config);
    } else {
        devices = std::make_shared<weft::Devices>(config);
        if (devices->size() == 1) one = &(*devices)[0];
    }
    describe();
}

weft_backend::weft_backend(std::shared_ptr<weft::Devices> all, std::size_t at)
    : devices(std::move(all)), one(&(*devices)[at]) {
    describe();
}

void weft_backend::describe() {
    if (one != nullptr) {
        name = one->name();
        refused = lines_of(one->device().refused);
        return;
    }
    for (std::size_t i = 0; i < devices->size(); ++i) name += (i == 0 ? "" : " + ") + (*devices)[i].name();
}

weft::Backend& weft::capi::one_device(const char* function, const weft_backend* backend) {
    const weft_backend& handle = given(function, "backend", backend);
    if (handle.one == nullptr)
        refuse(std::string(function) + ": works on one device (got a backend of " +
               std::to_string(handle.devices->size()) +
               ", need one of them, which weft_backend_at returns, or a backend whose options or WEFT_DEVICE "
               "name one)");
    return *handle.one;
}

weft_status weft_backend_create(const weft_backend_options* options, weft_backend** backend) {
    constexpr const char* kName = "weft_backend_create";
    return create(kName, backend, [&] {
        weft::Config config = config_of(kName, options);
        require_own_driver(kName);
        return config;
    });
}

WEFT_DEFINE_HANDLE(weft_backend)

uint64_t weft_backend_count(const weft_backend* backend) {
    if (backend == nullptr) return 0;
    return backend->one != nullptr ? 1 : backend->devices->size();
}

weft_status weft_backend_at(weft_backend* backend, uint64_t at, weft_backend** one) {
    constexpr const char* kName = "weft_backend_at";
    const Uses uses(backend);
    return guarded(kName, [&] {
        given(kName, "the pointer for the result", one);
        *one = nullptr;
        weft_backend& handle = given(kName, "backend", backend);
        const std::uint64_t count = weft_backend_count(backend);
        if (at >= count)
            refuse(std::string(kName) + ": no such device (got " + std::to_string(at) + ", need below " +
                   std::to_string(count) + ")");
        if (handle.one == nullptr) {
            *one = new weft_backend(handle.devices, static_cast<std::size_t>(at));
        } else {
            retain(backend);
            *one = backend;
        }
    });
}

const char* weft_backend_name(const weft_backend* backend) {
    return backend == nullptr ? "" : backend->name.c_str();
}

weft_status weft_backend_device(const weft_backend* backend, weft_device_info* info) {
    constexpr const char* kName = "weft_backend_device";
    const Uses uses(backend);
    return guarded(kName, [&] {
        const weft::Backend& owner = one_device(kName, backend);
        write_report(kName, "weft_device_info", figures_of(owner.device(), backend->refused), info);
    });
}

weft_status weft_backend_plan(const weft_backend* backend, weft_text** text) {
    constexpr const char* kName = "weft_backend_plan";
    const Uses uses(backend);
    return create(kName, text, [&] { return lines_of(one_device(kName, backend).plan().reasons); });
}

weft_status weft_backend_wait_idle(weft_backend* backend) {
    constexpr const char* kName = "weft_backend_wait_idle";
    const Uses uses(backend);
    return guarded(kName, [&] { on_devices(kName, backend, [](auto& where) { where.wait_idle(); }); });
}

weft_status weft_backend_trim(weft_backend* backend) {
    constexpr const char* kName = "weft_backend_trim";
    const Uses uses(backend);
    return guarded(kName, [&] { on_devices(kName, backend, [](auto& where) { where.trim(); }); });
}

weft_status weft_backend_save_pipeline_cache(weft_backend* backend, uint32_t* saved) {
    constexpr const char* kName = "weft_backend_save_pipeline_cache";
    const Uses uses(backend);
    return guarded(kName, [&] {
        const bool done = on_devices(kName, backend, [](auto& where) { return where.save_pipeline_cache(); });
        if (saved != nullptr) *saved = done ? 1 : 0;
    });
}

weft_status weft_backend_counters(const weft_backend* backend, weft_counters* counters) {
    constexpr const char* kName = "weft_backend_counters";
    const Uses uses(backend);
    return guarded(kName, [&] {
        const weft::Backend& owner = one_device(kName, backend);
        const weft::Counters now = owner.counters();
        const weft::PipelineReport pipelines = owner.pipelines();
        write_report(kName, "weft_counters",
                     weft_counters{0, 0, now.objects_created, now.memory_allocations, now.descriptor_updates,
                                   now.recordings, now.submissions, now.imports, now.validation_messages,
                                   pipelines.created, pipelines.reused},
                     counters);
    });
}

weft_status weft_backend_memory(const weft_backend* backend, weft_memory* memory) {
    constexpr const char* kName = "weft_backend_memory";
    const Uses uses(backend);
    return guarded(kName, [&] {
        const weft::MemoryReport now = one_device(kName, backend).memory();
        write_report(kName, "weft_memory",
                     weft_memory{0, 0, now.live_bytes, now.peak_bytes, now.live_buffers, now.block_bytes,
                                 now.blocks, now.limit, now.fragmentation},
                     memory);
    });
}

weft_status weft_backend_startup(const weft_backend* backend, weft_startup* startup) {
    constexpr const char* kName = "weft_backend_startup";
    const Uses uses(backend);
    return guarded(kName, [&] {
        const weft::StartupReport now = one_device(kName, backend).startup();
        write_report(
            kName, "weft_startup",
            weft_startup{0, 0, now.loader_s, now.instance_s, now.devices_s, now.device_s, now.caches_s,
                         now.first_pipeline_s, now.first_dispatch_s, now.first_result_s},
            startup);
    });
}

const char* weft_text_data(const weft_text* text) {
    return text == nullptr ? "" : text->object.c_str();
}

WEFT_DEFINE_HANDLE(weft_text)
