// SPDX-License-Identifier: Apache-2.0
// Completes plan/device/device_plan.hpp: which memory serves what, and by which path bytes reach a kernel.
#include <algorithm>

#include <weft/error.hpp>

#include "plan/device/device_plan.hpp"

namespace weft::core {
namespace {

using Type = MemoryTypeSnapshot;

constexpr std::uint64_t kSmallBytes = 1u << 20;
/// On devices that import without copying, a smaller copy is cheaper than an import and its bookkeeping.
constexpr std::uint64_t kImportBytes = 65536;

std::uint64_t heap_bytes(const DeviceSnapshot& device, const Type& type) {
    return type.heap < device.heaps.size() ? device.heaps[type.heap].bytes : 0;
}

/// The type with the highest score, and of equal ones the first: drivers list a plain type before its special
/// variants (protected, lazily allocated, uncached on the device). A negative score excludes.
template <class Score>
std::optional<std::uint32_t> best_type(const DeviceSnapshot& device, Score score) {
    std::optional<std::uint32_t> best;
    int best_score = -1;
    for (std::uint32_t i = 0; i < device.memory_types.size(); ++i) {
        const int value = score(device.memory_types[i]);
        if (value > best_score) {
            best_score = value;
            best = i;
        }
    }
    return best;
}

std::uint64_t largest_device_heap(const DeviceSnapshot& device) {
    std::uint64_t largest = 0;
    for (const Type& type : device.memory_types)
        if (type.device_local) largest = std::max(largest, heap_bytes(device, type));
    return largest;
}

std::uint32_t required(std::optional<std::uint32_t> type, const DeviceSnapshot& device, const char* what) {
    if (type) return *type;
    throw Error(Errc::unsupported, std::string("Backend: no ") + what + " memory on " + device.name +
                                       " (got " + std::to_string(device.memory_types.size()) +
                                       " memory types, need one)");
}

bool can_import(const DeviceSnapshot& device) {
    return device.external_memory_host && device.limits.import_alignment > 0;
}

Path without_staging(const DeviceSnapshot& device, const MemoryPlan& memory) {
    return has_unified_memory(device) || memory.mapped_device ? Path::direct : Path::host;
}

TransferPlan automatic_transfer(const DeviceSnapshot& device, const MemoryPlan& memory) {
    TransferPlan plan;
    plan.spin_wait = device.type != DeviceType::cpu;
    plan.small_bytes = kSmallBytes;
    plan.small = without_staging(device, memory);
    if (device.type == DeviceType::cpu) {
        plan.large_pinned = Path::direct;
        plan.large_ordinary = can_import(device) ? Path::imported : Path::direct;
        plan.small_bytes = kImportBytes;
        plan.keep_imports = true;
        plan.import_min_bytes = kImportBytes;
    } else if (has_unified_memory(device)) {
        plan.large_pinned = plan.large_ordinary = Path::direct;
    }
    return plan;
}

void check_forced(const DeviceSnapshot& device, const MemoryPlan& memory, Path path) {
    if (can_take(device, memory, path)) return;
    if (path == Path::imported)
        throw Error(Errc::unsupported,
                    "Backend: path imported is not possible on " + device.name +
                        " (got no VK_EXT_external_memory_host, need it; other paths: auto, staged, host)");
    throw Error(Errc::unsupported,
                "Backend: path direct is not possible on " + device.name + " (got " +
                    std::to_string(describe(device, 0).host_visible_device_bytes) + " of " +
                    std::to_string(largest_device_heap(device)) +
                    " bytes of device memory mapped by the host, need unified memory or a mapped heap of "
                    "at least half the largest; other paths: auto, staged, host)");
}

}  // namespace

bool has_unified_memory(const DeviceSnapshot& device) {
    if (device.type == DeviceType::integrated || device.type == DeviceType::cpu) return true;
    bool any = false;
    for (const Type& type : device.memory_types) {
        if (type.heap >= device.heaps.size() || !device.heaps[type.heap].device_local) continue;
        if (!type.host_visible) return false;
        any = true;
    }
    return any;
}

MemoryPlan plan_memory(const DeviceSnapshot& device) {
    const bool unified = has_unified_memory(device);
    const std::uint64_t largest = largest_device_heap(device);
    const auto device_score = [&](const Type& t) {
        return !t.device_local ? -1 : (heap_bytes(device, t) == largest ? 2 : 0) + (t.host_visible ? 0 : 1);
    };
    // If the device has memory of its own, host memory comes first: reading device memory through the bus is
    // far slower than any kind of host memory.
    const auto placement = [&](const Type& t) { return unified || !t.device_local ? 4 : 0; };
    // Cached upload memory is preferred if it is coherent: users read and write it like any other memory.
    const auto upload_score = [&](const Type& t) {
        return !t.host_visible ? -1 : placement(t) + (t.host_coherent ? 2 : 0) + (t.host_cached ? 1 : 0);
    };
    const auto download_score = [&](const Type& t) {
        return !t.host_visible ? -1 : placement(t) + (t.host_cached ? 2 : 0) + (t.host_coherent ? 1 : 0);
    };
    const auto mapped_score = [&](const Type& t) {
        if (!t.device_local || !t.host_visible || heap_bytes(device, t) < largest - largest / 2) return -1;
        return (t.host_coherent ? 2 : 0) + (t.host_cached ? 1 : 0);
    };
    MemoryPlan plan;
    plan.device = required(best_type(device, device_score), device, "device-local");
    plan.upload = required(best_type(device, upload_score), device, "host-visible");
    plan.download = required(best_type(device, download_score), device, "host-visible");
    plan.mapped_device = best_type(device, mapped_score);
    return plan;
}

bool plan_cuda_host_memory(const DeviceSnapshot& device, const QueuePlan& queues, const Config& config,
                           std::string& reason) {
    constexpr std::uint32_t kNvidia = 0x10de;
    const bool two_ways = queues.split && !(queues.of(QueueRole::upload) == queues.of(QueueRole::download));
    if (config.host_allocator == HostAllocator::vulkan)
        reason = "Vulkan (asked for)";
    else if (device.vendor_id != kNvidia)
        reason = "Vulkan (not an NVIDIA GPU)";
    else if (!device.external_memory_fd)
        reason = "Vulkan (no VK_KHR_external_memory_fd to import memory with)";
    else if (config.host_allocator == HostAllocator::cuda)
        return reason = "CUDA driver library for large blocks (asked for)", true;
    else if (!two_ways)
        reason = "Vulkan (copies do not go both ways simultaneously)";
    else
        return reason =
                   "CUDA driver library for large blocks, if it is there: uploads and downloads then do not "
                   "slow each other down",
               true;
    if (config.host_allocator == HostAllocator::cuda)
        throw Error(Errc::unsupported, "Backend: host allocator cuda is not possible on " + device.name +
                                           " (got " + reason + "; others: auto, vulkan)");
    return false;
}

bool can_take(const DeviceSnapshot& device, const MemoryPlan& memory, Path path) {
    if (path == Path::imported) return can_import(device);
    return path != Path::direct || without_staging(device, memory) == Path::direct;
}

TransferPlan plan_transfer(const DeviceSnapshot& device, const MemoryPlan& memory, const Config& config) {
    TransferPlan plan = automatic_transfer(device, memory);
    if (config.path != Path::automatic) {
        check_forced(device, memory, config.path);
        plan.large_pinned = plan.large_ordinary = plan.small = config.path;
        plan.import_min_bytes = 0;
    } else if (config.device_local == true) {
        plan.large_pinned = plan.large_ordinary = plan.small = Path::staged;
    } else if (config.device_local == false) {
        for (Path* path : {&plan.large_pinned, &plan.large_ordinary, &plan.small})
            if (*path == Path::staged) *path = without_staging(device, memory);
    }
    return plan;
}

}  // namespace weft::core
