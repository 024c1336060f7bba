// SPDX-License-Identifier: Apache-2.0
// weft info: the devices of this machine, which one would be used, and why.
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/version.hpp>
#include <weft/weft.hpp>

#include "cli/print_json.hpp"
#include "commands/commands.hpp"
#include "device/device_options.hpp"
#include "device/loader_files.hpp"

namespace weft::tool {
namespace {

/// What a Backend on the chosen device reports.
struct Chosen {
    DeviceInfo device;
    PlanReport plan;
    PipelineReport cache;
    MemoryReport memory;
    StartupReport startup;
    std::string first_result;  // "verified", or what went wrong
    std::string tiles_state;   // of the tiles of kernel matrices
    std::vector<tune::KeptTile> tiles;
};

/// Everything that is printed; `failure` has the reason if `chosen` is empty.
struct Inventory {
    LoaderFile loader;
    std::vector<DriverManifest> drivers;
    std::vector<DeviceInfo> devices;
    std::optional<Chosen> chosen;
    std::optional<Failure> failure;
};

/// Runs the smallest real work, so that the whole start-up is measured. A device that fails here is still
/// described.
std::string run_first(Backend& backend) {
    try {
        constexpr std::uint64_t kA = 3, kB = 4;
        std::vector<std::uint64_t> a(kBls12381FpLimbs, 0), b(a), sum(a);
        a[0] = kA;
        b[0] = kB;
        std::vector<std::uint64_t> expected(a);
        expected[0] = kA + kB;
        field_add(backend, Field::bls12_381_fp, a, b, sum);
        return sum == expected ? "verified" : "WRONG";
    } catch (const Error& error) {
        return error.what();
    }
}

Inventory take_inventory(const Config& config) {
    Inventory inventory;
    const auto attempt = [&](auto&& body) {
        try {
            body();
        } catch (const Failure& failure) {
            if (!inventory.failure) inventory.failure = failure;
        } catch (const Error& error) {
            if (!inventory.failure) inventory.failure = Failure(exit_of(error), error.what());
        }
    };
    // This comes first, while nothing is loaded, because its start-up times are the ones that are reported.
    attempt([&] {
        Backend backend = open_backend(config);
        Chosen chosen{backend.device(),
                      backend.plan(),
                      backend.pipelines(),
                      backend.memory(),
                      {},
                      {},
                      tune::tiles_state(backend),
                      tune::kept_tiles(backend)};
        chosen.first_result = run_first(backend);
        chosen.startup = backend.startup();
        inventory.chosen = std::move(chosen);
    });
    attempt([&] { inventory.devices = list_devices(config); });
    inventory.loader = open_loader(config);
    inventory.drivers = driver_manifests(inventory.loader);
    return inventory;
}

std::vector<std::string_view> features_of(const DeviceInfo& d) {
    std::vector<std::string_view> names;
    if (d.unified_memory) names.push_back("unified_memory");
    if (d.shader_int64) names.push_back("shader_int64");
    if (d.shader_float64) names.push_back("shader_float64");
    if (d.import_host_memory) names.push_back("import_host_memory");
    if (d.memory_budget) names.push_back("memory_budget");
    if (d.synchronization2) names.push_back("synchronization2");
    if (d.subgroup_size_control) names.push_back("subgroup_size_control");
    if (d.full_subgroups) names.push_back("full_subgroups");
    if (d.subgroup_shuffles) names.push_back("subgroup_shuffles");
    if (d.cooperative_matrix_khr) names.push_back("cooperative_matrix_khr");
    if (d.cooperative_matrix_nv) names.push_back("cooperative_matrix_nv");
    return names;
}

Json json_of(const tune::EngineReport& tuning) {
    Json json{{"state", tuning.state}, {"file", tuning.file.string()}};
    if (tuning.values.ntt_tile_bytes) json["ntt_tile_bytes"] = *tuning.values.ntt_tile_bytes;
    return json;
}

Json json_of(const QueueFamilyInfo& q) {
    return {{"family", q.index},      {"queues", q.queue_count},
            {"graphics", q.graphics}, {"compute", q.compute},
            {"transfer", q.transfer}, {"timestamp_valid_bits", q.timestamp_valid_bits}};
}

Json json_of(const DeviceLimits& l) {
    return {{"max_storage_buffer_range", l.max_storage_buffer_range},
            {"max_buffer_bytes", l.max_buffer_bytes},
            {"storage_buffer_offset_alignment", l.storage_buffer_offset_alignment},
            {"non_coherent_atom_bytes", l.non_coherent_atom_bytes},
            {"import_alignment", l.import_alignment},
            {"max_workgroup_count", l.max_workgroup_count},
            {"max_workgroup_size", l.max_workgroup_size},
            {"max_workgroup_invocations", l.max_workgroup_invocations},
            {"max_shared_memory_bytes", l.max_shared_memory_bytes},
            {"max_push_constant_bytes", l.max_push_constant_bytes},
            {"max_storage_buffers", l.max_storage_buffers},
            {"subgroup_size", l.subgroup_size},
            {"min_subgroup_size", l.min_subgroup_size},
            {"max_subgroup_size", l.max_subgroup_size},
            {"timestamp_period_ns", l.timestamp_period_ns}};
}

Json json_of(const DeviceInfo& d) {
    Json queues = Json::array();
    for (const QueueFamilyInfo& q : d.queue_families) queues.push_back(json_of(q));
    return {{"index", d.index},
            {"name", d.name},
            {"type", to_string(d.type)},
            {"driver", d.driver},
            {"uuid", d.uuid},
            {"pci_address", d.pci_address.empty() ? Json() : Json(d.pci_address)},
            {"numa_node", d.numa_node < 0 ? Json() : Json(d.numa_node)},
            {"vendor_id", d.vendor_id},
            {"device_id", d.device_id},
            {"api", std::to_string(d.api_major) + "." + std::to_string(d.api_minor)},
            {"device_memory_bytes", d.device_memory_bytes},
            {"host_visible_device_bytes", d.host_visible_device_bytes},
            {"features", features_of(d)},
            {"queue_families", std::move(queues)},
            {"limits", json_of(d.limits)},
            {"refused", d.refused},
            {"chosen", d.chosen}};
}

Json json_of_tiles(const Chosen& c) {
    Json kept = Json::array();
    for (const tune::KeptTile& tile : c.tiles)
        kept.push_back({{"products", tile.products}, {"tile", tile.tile}});
    return {{"state", c.tiles_state}, {"kept", std::move(kept)}};
}

Json json_of(const Chosen& c) {
    Json heaps = Json::array();
    for (const MemoryReport::Heap& heap : c.memory.heaps)
        heaps.push_back({{"size", heap.size},
                         {"budget", heap.budget},
                         {"usage", heap.usage},
                         {"device_local", heap.device_local}});
    return {{"device", c.device.index},
            {"upload_queue", c.plan.upload_queue},
            {"compute_queue", c.plan.compute_queue},
            {"download_queue", c.plan.download_queue},
            {"split_queues", c.plan.split_queues},
            {"large_path", to_string(c.plan.large_path)},
            {"ordinary_path", to_string(c.plan.ordinary_path)},
            {"small_path", to_string(c.plan.small_path)},
            {"small_bytes", c.plan.small_bytes},
            {"chunk_elements", c.plan.chunk_elements},
            {"chunk_bytes", c.plan.chunk_bytes},
            {"slots", c.plan.ring_slots},
            {"copy_threads", c.plan.copy_threads},
            {"host_allocator", c.plan.host_allocator},
            {"synchronization2", c.plan.synchronization2},
            {"tuning", json_of(c.plan.tuning)},
            {"kernel_tiles", json_of_tiles(c)},
            {"reasons", c.plan.reasons},
            {"heaps", std::move(heaps)}};
}

Json json_of(const StartupReport& s) {
    return {{"before_s", s.before_s},
            {"loader_s", s.loader_s},
            {"instance_s", s.instance_s},
            {"devices_s", s.devices_s},
            {"device_s", s.device_s},
            {"caches_s", s.caches_s},
            {"first_pipeline_s", s.first_pipeline_s},
            {"first_dispatch_s", s.first_dispatch_s},
            {"first_result_s", s.first_result_s}};
}

Json json_of_loader(const Inventory& inventory) {
    const LoaderFile& loader = inventory.loader;
    const auto path = [](const std::filesystem::path& file) {
        return file.empty() ? Json() : Json(file.string());
    };
    Json drivers = Json::array();
    for (const DriverManifest& d : inventory.drivers) {
        drivers.push_back({{"manifest", d.file.string()},
                           {"from", d.from},
                           {"library", d.library},
                           {"api", d.api},
                           {"problem", d.problem}});
    }
    return {{"file", path(loader.file)},
            {"environment", path(loader.environment)},
            {"drivers", std::move(drivers)},
            {"filters", driver_filters()}};
}

void print_inventory_json(const Inventory& inventory) {
    Json json{
        {"version", WEFT_VERSION_STRING}, {"loader", json_of_loader(inventory)}, {"devices", Json::array()}};
    for (const DeviceInfo& device : inventory.devices) json["devices"].push_back(json_of(device));
    if (inventory.chosen) {
        const PipelineReport& cache = inventory.chosen->cache;
        json["plan"] = json_of(*inventory.chosen);
        json["cache"] = {{"state", cache.disk_state}, {"bytes", cache.disk_bytes_loaded}};
        json["startup"] = json_of(inventory.chosen->startup);
        json["startup"]["first_result"] = inventory.chosen->first_result;
    }
    if (inventory.failure) json["error"] = inventory.failure->what();
    print_json(json);
}

std::string size_text(std::uint64_t bytes) {
    constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
    char text[32];
    std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
    return text;
}

void row(const char* label, const std::string& text) {
    std::printf("  %-10s %s\n", label, text.c_str());
}

std::string text_of(const QueueFamilyInfo& q) {
    return "family " + std::to_string(q.index) + ": " + std::to_string(q.queue_count) +
           (q.queue_count == 1 ? " queue," : " queues,") + (q.graphics ? " graphics" : "") +
           (q.compute ? " compute" : "") + (q.transfer ? " transfer" : "") +
           (q.timestamp_valid_bits == 0
                ? ", no timestamps"
                : ", timestamps of " + std::to_string(q.timestamp_valid_bits) + " bits");
}

std::string axes(const std::uint32_t (&values)[3]) {
    return std::to_string(values[0]) + " x " + std::to_string(values[1]) + " x " + std::to_string(values[2]);
}

void print_limits(const DeviceLimits& l) {
    row("limits", "a binding spans " + size_text(l.max_storage_buffer_range) + ", a buffer holds " +
                      size_text(l.max_buffer_bytes));
    row("", "a dispatch has " + axes(l.max_workgroup_count) + " workgroups, a workgroup " +
                axes(l.max_workgroup_size) + ", at most " + std::to_string(l.max_workgroup_invocations) +
                " invocations, subgroup " + std::to_string(l.subgroup_size) + " (" +
                std::to_string(l.min_subgroup_size) + " to " + std::to_string(l.max_subgroup_size) + ")");
    row("", "shared memory " + size_text(l.max_shared_memory_bytes) + ", push constants " +
                size_text(l.max_push_constant_bytes) + ", storage buffers " +
                std::to_string(l.max_storage_buffers));
    row("", "alignment: storage " + size_text(l.storage_buffer_offset_alignment) + ", non-coherent " +
                size_text(l.non_coherent_atom_bytes) + ", import " +
                (l.import_alignment == 0 ? "none" : size_text(l.import_alignment)));
}

void print_device(const DeviceInfo& d) {
    std::printf("device %" PRIu32 ": %s%s\n", d.index, d.name.c_str(),
                d.chosen            ? "  [chosen]"
                : d.refused.empty() ? ""
                                    : "  [refused]");
    for (const std::string& reason : d.refused) row("refused", reason);
    row("type", to_string(d.type));
    row("driver", d.driver + ", Vulkan " + std::to_string(d.api_major) + "." + std::to_string(d.api_minor));
    row("uuid", d.uuid);
    if (!d.pci_address.empty())
        row("pci",
            d.pci_address + (d.numa_node < 0 ? "" : ", next to NUMA node " + std::to_string(d.numa_node)));
    row("memory", size_text(d.device_memory_bytes) + " on the device, " +
                      size_text(d.host_visible_device_bytes) + " of it in reach of the host");
    const char* label = "queues";
    for (const QueueFamilyInfo& q : d.queue_families) {
        row(label, text_of(q));
        label = "";
    }
    std::string features;
    for (const std::string_view name : features_of(d))
        features += (features.empty() ? "" : ", ") + std::string(name);
    row("features", features.empty() ? "none of the optional ones" : features);
    print_limits(d.limits);
}

std::string ms_text(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", seconds * 1e3);
    return text;
}

void print_startup(const StartupReport& s, const std::string& first_result) {
    row("start-up", "ms: before " + ms_text(s.before_s) + ", loader " + ms_text(s.loader_s) + ", instance " +
                        ms_text(s.instance_s) + ", devices " + ms_text(s.devices_s) + ", device " +
                        ms_text(s.device_s) + ", caches " + ms_text(s.caches_s));
    row("", "    first pipeline " + ms_text(s.first_pipeline_s) + ", first dispatch " +
                ms_text(s.first_dispatch_s) + "; first result " + ms_text(s.first_result_s) +
                " after the process started, " + first_result);
}

void print_chosen(const Chosen& c) {
    std::printf("plan for device %" PRIu32 "\n", c.device.index);
    row("queues", "upload " + c.plan.upload_queue + ", compute " + c.plan.compute_queue + ", download " +
                      c.plan.download_queue + (c.plan.split_queues ? ", separate" : ", one submission"));
    row("paths", std::string("page-locked memory ") + to_string(c.plan.large_path) + ", ordinary memory " +
                     to_string(c.plan.ordinary_path) + ", up to " + size_text(c.plan.small_bytes) + " " +
                     to_string(c.plan.small_path));
    row("engine", (c.plan.chunk_bytes != 0
                       ? "chunks of " + size_text(c.plan.chunk_bytes) + " in and out, "
                       : "chunks of at most " + std::to_string(c.plan.chunk_elements) + " elements, ") +
                      std::to_string(c.plan.ring_slots) + " slots, " + std::to_string(c.plan.copy_threads) +
                      " copy threads, page-locked memory by " + c.plan.host_allocator);
    row("tuning",
        c.plan.tuning.state + (c.plan.tuning.file.empty() ? "" : ", " + c.plan.tuning.file.string()));
    const char* tiles_label = "tiles";
    if (c.tiles.empty()) row(tiles_label, c.tiles_state + ", of kernel matrices");
    for (const tune::KeptTile& kept : c.tiles) {
        row(tiles_label, kept.tile + " for " + kept.products);
        tiles_label = "";
    }
    const char* label = "reasons";
    for (const std::string& reason : c.plan.reasons) {
        row(label, reason);
        label = "";
    }
    for (const MemoryReport::Heap& heap : c.memory.heaps)
        row("heap", size_text(heap.size) + (heap.device_local ? " device" : " host") +
                        (heap.budget == 0 ? "" : ", " + size_text(heap.budget) + " within budget"));
    row("cache", c.cache.disk_state +
                     (c.cache.disk_bytes_loaded == 0 ? "" : ", " + size_text(c.cache.disk_bytes_loaded)));
    print_startup(c.startup, c.first_result);
}

void print_loader(const Inventory& inventory) {
    const LoaderFile& loader = inventory.loader;
    row("loader", loader.file.empty() ? "none is open" : loader.file.string());
    if (!loader.environment.empty())
        row("", "of the environment " + loader.environment.string() +
                    ", not of the system: it may not find the system's drivers (WEFT_VULKAN_LIBRARY names "
                    "another loader)");
    const char* label = "drivers";
    for (const DriverManifest& d : inventory.drivers) {
        row(label, d.file.string() + " (" + d.from +
                       "): " + (d.library.empty() ? std::string() : d.library + ", Vulkan " + d.api) +
                       (d.problem.empty() ? "" : (d.library.empty() ? "" : ", ") + d.problem));
        label = "";
    }
    if (inventory.drivers.empty()) row(label, "no manifest where the loader looks");
    for (const std::string& filter : driver_filters()) row("", "filtered by " + filter);
}

void print_text(const Inventory& inventory) {
    std::printf("weft %s\n", WEFT_VERSION_STRING);
    print_loader(inventory);
    for (const DeviceInfo& device : inventory.devices) print_device(device);
    if (inventory.devices.empty()) std::printf("no device\n");
    if (inventory.chosen) print_chosen(*inventory.chosen);
}

void run(const DeviceOptions& options, bool json) {
    const Inventory inventory = take_inventory(options.config());
    if (json)
        print_inventory_json(inventory);
    else
        print_text(inventory);
    if (inventory.failure) throw Failure(*inventory.failure);
}

}  // namespace

void add_info(CLI::App& command) {
    CLI::App& info = *command.add_subcommand(
        "info", "Devices, queues, limits, the plan, and why each other device was refused");
    const auto options = std::make_shared<DeviceOptions>();
    const auto json = std::make_shared<bool>(false);
    options->add_to(info);
    info.add_flag("--json", *json, "Print JSON");
    info.footer("Example: weft info --device cpu");
    info.callback([options, json] { run(*options, *json); });
}

}  // namespace weft::tool
