// SPDX-License-Identifier: Apache-2.0
// The whole plan of one device, and its public description.
#include "plan/device/device_plan.hpp"

#include <algorithm>
#include <cstdio>

#include <weft/error.hpp>

#include "base/bytes.hpp"
#include "base/enums.hpp"
#include "plan/device/adoption.hpp"
#include "plan/device/setting_limits.hpp"

namespace weft {

const char* to_string(DeviceType type) noexcept {
    return core::enum_name<DeviceType::other>(type, {"discrete", "integrated", "virtual", "cpu", "other"});
}

}  // namespace weft

namespace weft::core {
namespace {

// One slot for each stage under way. If the stages have queues of their own, a fourth slot hides the time
// that passes until the host notices that the oldest slot is free.
constexpr std::uint32_t kDefaultSlots = 3, kDefaultSplitSlots = 4;
constexpr std::uint32_t kStorageBuffers = 16;
constexpr std::uint32_t kPushConstantBytes = 256;
/// Staging copies saturate the memory of a host at about this many threads.
constexpr std::uint32_t kCopyThreadsForBus = 16;
/// Without a bus the kernel itself competes for the same cores and memory.
constexpr std::uint32_t kCopyThreadsForSharedMemory = 4;

void check_range(const char* name, std::optional<std::uint64_t> value, std::uint64_t most) {
    if (value) check_setting("Backend", name, *value, 1, most);
}

void check(const Config& config) {
    check_range("ring_slots (WEFT_SLOTS)", config.ring_slots, kMostRingSlots);
    check_range("copy_threads (WEFT_COPY_THREADS)", config.copy_threads, kMostCopyThreads);
    check_range("chunk_elements (GPU_STREAM_CHUNK_ELEMS)", config.chunk_elements, kMostChunkElements);
    check_range("dispatch_ms (WEFT_DISPATCH_MS)", config.dispatch_ms, 0xffffffffu);
}

/// The node next to the device, if the process may run there and elsewhere; null: none.
const HostNode* node_of(const DeviceSnapshot& device, const HostFacts& host) {
    if (device.numa_node < 0 || host.nodes.size() < 2) return nullptr;
    for (const HostNode& node : host.nodes)
        if (node.node == device.numa_node && node.cores > 0) return &node;
    return nullptr;
}

/// The threads of one backend, so that all backends together have no more than cores.
std::uint32_t cores_of_one(const DeviceSnapshot& device, const HostFacts& host) {
    const HostNode* node = node_of(device, host);
    const std::uint32_t cores = node != nullptr ? node->cores : host.cores;
    const std::uint32_t backends = node != nullptr ? node->backends : host.backends;
    return std::max(1u, cores / std::max(1u, backends));
}

std::uint32_t copy_threads(const DeviceSnapshot& device, const Config& config, const HostFacts& host) {
    if (config.copy_threads) return *config.copy_threads;
    const std::uint32_t most =
        device.type == DeviceType::discrete ? kCopyThreadsForBus : kCopyThreadsForSharedMemory;
    return std::min(cores_of_one(device, host), most);
}

/// With few threads the host's copies are the slowest part, so they go straight to device memory: the host
/// writes inputs where the kernel reads them, and reads outputs where it wrote them. Measured on an H100 with
/// 1, 2 and 4 threads: 5 to 25 % faster than staging. With 16 threads the copy engines are faster.
bool host_copies_bound(const DeviceSnapshot& device, const DevicePlan& plan, const Config& config) {
    constexpr std::uint32_t kFewThreads = 4;
    return config.path == Path::automatic && !config.device_local && device.type == DeviceType::discrete &&
           plan.memory.mapped_device && plan.copy_threads <= kFewThreads;
}

std::string gibibytes(std::uint64_t bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (1u << 30));
    return text;
}

std::string slot_text(QueueSlot slot) {
    return std::to_string(slot.family) + "." + std::to_string(slot.queue);
}

std::string size_text(const DeviceInfo& info) {
    return info.name + ": " + to_string(info.type) + " with " + gibibytes(info.device_memory_bytes);
}

std::string device_reason(const std::vector<DeviceSnapshot>& devices, std::uint32_t chosen,
                          const Config& config) {
    const DeviceInfo info = describe(devices[chosen], chosen);
    const std::string which = config.device.empty() ? "the best of " + std::to_string(devices.size())
                                                    : "asked for as \"" + config.device + "\"";
    return "device " + std::to_string(chosen) + ", " + size_text(info) + ", " + which;
}

std::string memory_reason(const MemoryPlan& memory) {
    return "memory types: device " + std::to_string(memory.device) + ", upload " +
           std::to_string(memory.upload) + ", download " + std::to_string(memory.download) +
           (memory.mapped_device
                ? ", device memory mapped by the host " + std::to_string(*memory.mapped_device)
                : ", the host cannot map the bulk of device memory");
}

std::string transfer_reason(const DevicePlan& plan, const Config& config) {
    const TransferPlan& transfer = plan.transfer;
    std::string text = std::string("paths: page-locked ") + to_string(transfer.large_pinned) + ", ordinary " +
                       to_string(transfer.large_ordinary) + ", up to " +
                       std::to_string(transfer.small_bytes) + " bytes " + to_string(transfer.small);
    if (config.path != Path::automatic)
        return text + "; forced by path=" + to_string(config.path) +
               (config.device_local ? ", which wins over device_local" : "");
    const tune::Engine& tuned = plan.tuning.values;
    if (tuned.page_locked_path != Path::automatic || tuned.ordinary_path != Path::automatic)
        text += "; tuned where the device can";
    else if (plan.transfer.large_ordinary == Path::direct && plan.transfer.large_pinned == Path::staged)
        text += "; few copy threads write through the BAR";
    if (config.device_local)
        text += std::string("; device_local=") + (*config.device_local ? "1" : "0") +
                (*config.device_local ? " stages everything" : " stages nothing");
    return text;
}

std::string subgroup_reason(const DevicePlan& plan, const DeviceSnapshot& device) {
    std::string text = "subgroups: " + std::to_string(device.limits.subgroup_size) + " invocations";
    if (!plan.subgroup_size_control) return text + ", not to be chosen";
    return text + ", " + std::to_string(device.limits.min_subgroup_size) + " to " +
           std::to_string(device.limits.max_subgroup_size) + " can be asked for" +
           (plan.subgroup_size_extension ? " (VK_EXT_subgroup_size_control)" : "");
}

std::string by_default(bool asked, bool tuned) {
    return asked ? " (asked for)" : tuned ? " (tuned)" : " (default)";
}

std::string chunk_reason(const DevicePlan& plan) {
    if (plan.chunk_bytes != 0)
        return "chunks: " + std::to_string(plan.chunk_bytes) + " bytes in and out (tuned)";
    return "chunks: " + std::to_string(plan.chunk_elements) + " elements" +
           (plan.chunk_exact ? " (asked for)" : " at most (default)");
}

void explain(DevicePlan& plan, const std::vector<DeviceSnapshot>& devices, const Config& config,
             const HostFacts& host) {
    std::vector<std::string>& lines = plan.reasons;
    lines.push_back(device_reason(devices, plan.device, config));
    for (std::uint32_t i = 0; i < devices.size(); ++i)
        for (const std::string& why : refusals(devices[i]))
            lines.push_back("device " + std::to_string(i) + ", " + devices[i].name + ": refused, " + why);
    lines.push_back("queues: upload " + slot_text(plan.queues.of(QueueRole::upload)) + ", compute " +
                    slot_text(plan.queues.of(QueueRole::compute)) + ", download " +
                    slot_text(plan.queues.of(QueueRole::download)) +
                    (plan.queues.split ? ", submitted separately: " : ", submitted together: ") +
                    plan.queues.reason);
    lines.push_back(memory_reason(plan.memory));
    lines.push_back("page-locked memory: " + plan.host_memory_reason);
    lines.push_back("copies within the device: by " + plan.copies.reason);
    lines.push_back(transfer_reason(plan, config));
    lines.push_back("ring: " + std::to_string(plan.ring_slots) + " slots" +
                    by_default(config.ring_slots.has_value(), plan.tuning.values.ring_slots.has_value()));
    lines.push_back(
        "copy threads: " + std::to_string(plan.copy_threads) +
        by_default(config.copy_threads.has_value(), plan.tuning.values.copy_threads.has_value()) +
        (host.backends > 1 ? ", " + std::to_string(host.backends) + " backends share the cores" : ""));
    if (const auto& bytes = plan.tuning.values.ntt_tile_bytes)
        lines.push_back("tiles of transforms: " + std::to_string(*bytes) +
                        " bytes, as stored by weft tune ntt");
    if (plan.numa_node >= 0)
        lines.push_back("host memory: copy threads and page-locked memory stay on NUMA node " +
                        std::to_string(plan.numa_node) + ", next to the device");
    lines.push_back(chunk_reason(plan));
    lines.push_back("dispatches: cut if they take longer than " + std::to_string(plan.dispatch_ms) + " ms");
    if (!plan.tuning.file.empty())
        lines.push_back("tuning: " + plan.tuning.state + ", " + plan.tuning.file.string());
    const bool has_newer = devices[plan.device].synchronization2;
    lines.push_back(std::string("barriers: ") + (plan.synchronization2 ? "synchronization2" : "Vulkan 1.0") +
                    (has_newer && !plan.synchronization2 ? " (vulkan_1_2_only)" : ""));
    lines.push_back(subgroup_reason(plan, devices[plan.device]));
    lines.push_back(std::string("timestamps: ") + (!plan.timestamps
                                                       ? "no, the device or the compute queue has none"
                                                   : plan.calibrated_timestamps == CalibratedTimestamps::none
                                                       ? "yes, brought to the host's clock by bracketing"
                                                       : "yes, brought to the host's clock by the device"));
}

/// Everything but the choice of the device and of its queues.
void fill(DevicePlan& plan, const DeviceSnapshot& device, const Config& config, const HostFacts& host) {
    plan.synchronization2 = device.synchronization2 && !config.vulkan_1_2_only;
    plan.shader_int64 = device.shader_int64;
    plan.shader_float64 = device.shader_float64;
    plan.memory_budget = device.memory_budget;
    plan.external_memory_host = device.external_memory_host;
    const bool vulkan_1_3 = (device.api_major > 1 || device.api_minor >= 3) && !config.vulkan_1_2_only;
    plan.subgroup_size_extension = !vulkan_1_3 && device.subgroup_size_extension;
    const bool can_control = vulkan_1_3 || plan.subgroup_size_extension;
    plan.subgroup_size_control = device.subgroup_size_control && can_control;
    plan.full_subgroups = device.full_subgroups && can_control;
    plan.external_memory_fd = device.external_memory_fd;
    plan.shared_buffers_fd = device.shared_buffers_fd;
    plan.shared_timelines_fd = device.shared_timelines_fd;
    plan.storage_buffers = std::min(kStorageBuffers, device.limits.max_storage_buffers);
    plan.push_constant_bytes = std::min(kPushConstantBytes, device.limits.max_push_constant_bytes);
    plan.device_fault = device.device_fault;
    const std::uint32_t compute = plan.queues.of(QueueRole::compute).family;
    plan.timestamps = device.host_query_reset && device.families[compute].timestamp_valid_bits > 0;
    // The older name has precedence, because every validation layer knows it.
    if (plan.timestamps)
        plan.calibrated_timestamps = device.calibrated_timestamps_ext   ? CalibratedTimestamps::ext
                                     : device.calibrated_timestamps_khr ? CalibratedTimestamps::khr
                                                                        : CalibratedTimestamps::none;
    plan.memory = plan_memory(device);
    plan.cuda_host_memory = plan_cuda_host_memory(device, plan.queues, config, plan.host_memory_reason);
    plan.copies = plan_copies(device);
    plan.transfer = plan_transfer(device, plan.memory, config);
    plan.ring_slots = config.ring_slots.value_or(plan.queues.split ? kDefaultSplitSlots : kDefaultSlots);
    plan.copy_threads = copy_threads(device, config, host);
    if (const HostNode* node = node_of(device, host)) plan.numa_node = node->node;
    if (host_copies_bound(device, plan, config)) plan.transfer.large_ordinary = Path::direct;
    plan.chunk_elements = config.chunk_elements.value_or(kDefaultChunkElements);
    plan.chunk_exact = config.chunk_elements.has_value();
    plan.dispatch_ms = config.dispatch_ms;
}

/// The stored number of copy threads was measured by a backend alone, so several have no more than cores.
void apply_stored(DevicePlan& plan, const DeviceSnapshot& device, const Config& config, const HostFacts& host,
                  const TuningSource& tuning) {
    if (!tuning) return;
    apply_tuning(plan, device, config, tuning(device));
    if (!config.copy_threads && host.backends > 1)
        plan.copy_threads = std::min(plan.copy_threads, cores_of_one(device, host));
}

}  // namespace

void apply_tuning(DevicePlan& plan, const DeviceSnapshot& device, const Config& config,
                  const tune::EngineReport& tuning) {
    plan.tuning = tuning;
    const tune::Engine& tuned = tuning.values;
    if (!config.ring_slots && tuned.ring_slots) plan.ring_slots = *tuned.ring_slots;
    if (!config.copy_threads && tuned.copy_threads) plan.copy_threads = *tuned.copy_threads;
    if (!config.chunk_elements && tuned.chunk_bytes) plan.chunk_bytes = *tuned.chunk_bytes;
    if (config.path != Path::automatic || config.device_local) return;
    const auto take = [&](Path path, Path& to) {
        if (path != Path::automatic && can_take(device, plan.memory, path)) to = path;
    };
    take(tuned.page_locked_path, plan.transfer.large_pinned);
    take(tuned.ordinary_path, plan.transfer.large_ordinary);
}

HostFacts share_host(HostFacts host, const std::vector<DeviceSnapshot>& devices,
                     const std::vector<std::uint32_t>& chosen) {
    host.backends = static_cast<std::uint32_t>(chosen.size());
    for (HostNode& node : host.nodes)
        node.backends =
            static_cast<std::uint32_t>(std::count_if(chosen.begin(), chosen.end(), [&](std::uint32_t i) {
                return devices[i].numa_node == node.node;
            }));
    return host;
}

DevicePlan plan_device(const std::vector<DeviceSnapshot>& devices, const Config& config,
                       const HostFacts& host, const TuningSource& tuning) {
    check(config);
    DevicePlan plan;
    plan.device = choose_device(devices, config);
    plan.queues = plan_queues(devices[plan.device], config.queues);
    fill(plan, devices[plan.device], config, host);
    apply_stored(plan, devices[plan.device], config, host, tuning);
    explain(plan, devices, config, host);
    return plan;
}

DevicePlan plan_adopted(const DeviceSnapshot& device, const Adoption& adoption, const Config& config,
                        const HostFacts& host, const TuningSource& tuning) {
    check(config);
    DevicePlan plan;
    plan.queues = adopted_queues(adoption, config.queues);
    fill(plan, device, config, host);
    apply_stored(plan, device, config, host, tuning);
    explain(plan, {device}, config, host);
    plan.reasons.front() = "device " + size_text(describe(device, 0)) + ", made by the application";
    return plan;
}

DeviceInfo describe(const DeviceSnapshot& device, std::uint32_t index) {
    DeviceInfo info;
    info.index = index;
    info.name = device.name;
    info.driver = device.driver_text;
    info.uuid = hex(device.uuid);
    info.pci_address = device.pci_address;
    info.numa_node = device.numa_node;
    info.type = device.type;
    info.vendor_id = device.vendor_id;
    info.device_id = device.device_id;
    info.driver_version = device.driver_version;
    info.api_major = device.api_major;
    info.api_minor = device.api_minor;
    for (std::uint32_t heap = 0; heap < device.heaps.size(); ++heap) {
        if (!device.heaps[heap].device_local) continue;
        info.device_memory_bytes += device.heaps[heap].bytes;
        const bool mappable =
            std::any_of(device.memory_types.begin(), device.memory_types.end(),
                        [&](const MemoryTypeSnapshot& t) { return t.heap == heap && t.host_visible; });
        if (mappable) info.host_visible_device_bytes += device.heaps[heap].bytes;
    }
    info.unified_memory = has_unified_memory(device);
    info.shader_int64 = device.shader_int64;
    info.shader_float64 = device.shader_float64;
    info.import_host_memory = device.external_memory_host;
    info.memory_budget = device.memory_budget;
    info.synchronization2 = device.synchronization2;
    info.subgroup_size_control = device.subgroup_size_control;
    info.full_subgroups = device.full_subgroups;
    constexpr std::uint32_t kShuffle = 0x10;  // VK_SUBGROUP_FEATURE_SHUFFLE_BIT
    info.subgroup_shuffles = (device.subgroup_operations & kShuffle) != 0;
    info.cooperative_matrix_khr = device.cooperative_matrix_khr;
    info.cooperative_matrix_nv = device.cooperative_matrix_nv;
    info.matrix_shapes_khr = device.matrix_shapes_khr;
    info.matrix_shapes_nv = device.matrix_shapes_nv;
    for (std::uint32_t i = 0; i < device.families.size(); ++i) {
        const QueueFamilySnapshot& family = device.families[i];
        info.queue_families.push_back({i, family.count, family.graphics, family.compute,
                                       family.can_transfer(), family.timestamp_valid_bits});
    }
    info.limits = device.limits;
    info.refused = refusals(device);
    return info;
}

}  // namespace weft::core
