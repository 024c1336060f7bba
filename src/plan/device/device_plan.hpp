// SPDX-License-Identifier: Apache-2.0
// Which device, which queues, which features, which paths: decided here and nowhere else, by pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <weft/config.hpp>
#include <weft/tune/engine.hpp>

#include "plan/device/copy_plan.hpp"
#include "plan/device/device_snapshot.hpp"

namespace weft::core {

struct QueueSlot {
    std::uint32_t family = 0, queue = 0;
    bool operator==(const QueueSlot&) const = default;
};

/// Logical queues. Two of them may be the same QueueSlot; each still has a timeline of its own.
enum class QueueRole : std::uint32_t { upload = 0, compute = 1, download = 2 };
inline constexpr std::size_t kQueueRoles = 3;
inline constexpr std::array<const char*, kQueueRoles> kRoleNames{"upload", "compute", "download"};
/// "family 1 queue 0"
std::string queue_text(const QueueSlot& slot);

struct QueuePlan {
    std::array<QueueSlot, kQueueRoles> slots;  // by QueueRole
    bool split = false;                        // submit the stages separately
    std::vector<std::uint32_t> families;       // unique, ascending: sharing list of every buffer
    std::string reason;                        // one line for people
    const QueueSlot& of(QueueRole role) const { return slots[static_cast<std::size_t>(role)]; }
};
/// The plan that these queues make, and `other_families` that share buffers with them.
QueuePlan queue_plan(const std::array<QueueSlot, kQueueRoles>& slots, QueueMode mode, std::string reason,
                     const std::vector<std::uint32_t>& other_families = {});

/// Which memory type has which use, as indices into DeviceSnapshot::memory_types.
struct MemoryPlan {
    std::uint32_t device = 0;    // device-local, and not host-visible if there is a choice
    std::uint32_t upload = 0;    // host-visible for writing in order
    std::uint32_t download = 0;  // host-visible, and cached if there is such a type
    /// Device-local and host-visible, in a heap about as large as the device's largest.
    std::optional<std::uint32_t> mapped_device;
};

/// What the engine may do on this device.
struct TransferPlan {
    Path large_pinned = Path::staged, large_ordinary = Path::staged;
    Path small = Path::host;
    std::uint64_t small_bytes = 0;          // a bundle of at most this many bytes takes `small`
    std::uint64_t bundle_bytes = 8u << 20;  // neighbouring small jobs share a bundle up to this
    bool keep_imports = false;              // the device reads through the page tables of the process
    std::uint64_t import_min_bytes = 0;     // smaller ordinary spans are copied instead of imported
    bool spin_wait = false;                 // poll the timeline briefly before sleeping
};

/// The extension that reads the device's and the host's clock together.
enum class CalibratedTimestamps { none, ext, khr };

struct DevicePlan {
    std::uint32_t device = 0;  // index into the snapshots
    bool synchronization2 = false, timestamps = false, shader_int64 = false, shader_float64 = false;
    bool memory_budget = false, external_memory_host = false, external_memory_fd = false;
    bool shared_buffers_fd = false, shared_timelines_fd = false;  // interop with CUDA needs both
    bool device_fault = false;
    bool subgroup_size_control = false, full_subgroups = false;
    bool subgroup_size_extension = false;  // both through VK_EXT_subgroup_size_control, not Vulkan 1.3
    bool cuda_host_memory = false;         // large page-locked blocks from the CUDA driver library
    std::string host_memory_reason;
    CopyPlan copies;
    CalibratedTimestamps calibrated_timestamps = CalibratedTimestamps::none;
    std::uint32_t storage_buffers = 0;      // bindings of the one descriptor set layout
    std::uint32_t push_constant_bytes = 0;  // range of the one pipeline layout
    QueuePlan queues;
    MemoryPlan memory;
    TransferPlan transfer;
    std::uint32_t ring_slots = 3;
    std::uint32_t copy_threads = 1;
    int numa_node = -1;  // copy threads and page-locked memory stay on this node of the host; -1: anywhere
    std::uint64_t chunk_elements = kDefaultChunkElements;
    bool chunk_exact = false;          // chunk_elements was asked for, not a default
    std::uint32_t dispatch_ms = 250;   // longer dispatches are cut
    std::uint64_t chunk_bytes = 0;     // tuned: chunks have exactly this size; 0: not tuned
    tune::EngineReport tuning;         // stored for the device
    std::vector<std::string> reasons;  // one line a choice, for people
};

/// A NUMA node of the host.
struct HostNode {
    int node = 0;
    std::uint32_t cores = 0;     // that this process may use
    std::uint32_t backends = 1;  // that share one call and have their device on this node
};

/// Facts about the host that the plan depends on.
struct HostFacts {
    std::uint32_t cores = 1;     // that this process may use
    std::uint32_t backends = 1;  // that share one call
    std::vector<HostNode> nodes{};
};

/// The facts for backends on the `chosen` devices that share one call, instead of one that is alone.
HostFacts share_host(HostFacts host, const std::vector<DeviceSnapshot>& devices,
                     const std::vector<std::uint32_t>& chosen);

/// Why weft cannot run on a device; empty: it can.
std::vector<std::string> refusals(const DeviceSnapshot& device);

/// Indices of the devices that config.device names, at least one. Empty: the best usable one. "all": every
/// usable one, the best first; software devices only if nothing else is usable. A list: for each name in
/// turn the usable devices that it matches, by index; a name that is repeated gives its devices again. A UUID
/// that appears twice with different drivers under one name counts once, the first.
/// Errors: invalid_argument - a name is empty or matches nothing (the text lists what is there); no_device -
/// a name matches nothing usable (the text lists each device with its reasons).
std::vector<std::uint32_t> choose_devices(const std::vector<DeviceSnapshot>& devices, const Config& config);

/// Index of the one device to use: the best of choose_devices, with its errors. Order: discrete, integrated,
/// virtual, other, software. Ties: more device memory, then the first named, then the lower index.
std::uint32_t choose_device(const std::vector<DeviceSnapshot>& devices, const Config& config);

/// Integrated and software devices, and any whose device-local heaps have host-visible types only.
bool has_unified_memory(const DeviceSnapshot& device);

/// Errors of both, on a device that refusals() refuses: unsupported - no compute family, no host-visible or
/// no device-local memory type. QueueMode::split uses separate queues on unified memory too.
QueuePlan plan_queues(const DeviceSnapshot& device, QueueMode mode);
MemoryPlan plan_memory(const DeviceSnapshot& device);

/// Whether large page-locked blocks should come from the CUDA driver library; `reason` says why, for people.
/// Errors: unsupported - HostAllocator::cuda on a device that cannot.
bool plan_cuda_host_memory(const DeviceSnapshot& device, const QueuePlan& queues, const Config& config,
                           std::string& reason);

/// config.path wins over config.device_local. Errors: unsupported - a forced path that the device cannot
/// take.
TransferPlan plan_transfer(const DeviceSnapshot& device, const MemoryPlan& memory, const Config& config);
/// Whether plan_transfer would take `path` if it were forced.
bool can_take(const DeviceSnapshot& device, const MemoryPlan& memory, Path path);

/// Replaces defaults by a stored tuning. What Config asks for stays, and so does a default if the device
/// cannot take the tuned path.
void apply_tuning(DevicePlan& plan, const DeviceSnapshot& device, const Config& config,
                  const tune::EngineReport& tuning);

/// Finds the tuning that is stored for a device.
using TuningSource = std::function<tune::EngineReport(const DeviceSnapshot&)>;

/// The whole plan for the device that choose_device picks. Errors: those of choose_device; invalid_argument -
/// a Config value out of range; unsupported - a forced path that the device cannot take.
DevicePlan plan_device(const std::vector<DeviceSnapshot>& devices, const Config& config,
                       const HostFacts& host, const TuningSource& tuning = {});

/// Public view of a snapshot.
DeviceInfo describe(const DeviceSnapshot& device, std::uint32_t index);

}  // namespace weft::core
