// SPDX-License-Identifier: Apache-2.0
// Executes a DevicePlan: VkDevice with its own function table, its queues, and the one layout every pipeline
// shares.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/backend.hpp>

#include "host/cpu_set.hpp"
#include "host/own_process.hpp"
#include "host/queue_mutex.hpp"
#include "plan/device/device_plan.hpp"
#include "vulkan/device/driver_calls.hpp"
#include "vulkan/device/loader.hpp"
#include "vulkan/device/vulkan.hpp"

namespace weft::core {

/// Newer than the oldest Vulkan headers that weft builds with.
inline constexpr const char* kKhrCalibratedTimestamps = "VK_KHR_calibrated_timestamps";

/// A VkQueue may be handed to one thread at a time; roles that alias one queue share its lock.
struct PhysicalQueue {
    VkQueue handle = VK_NULL_HANDLE;
    QueueSlot slot;
    QueueMutex mutex;
};

/// The application's device, which weft never destroys, and the application's locks of its queues.
struct AdoptedDevice {
    VkDevice handle = VK_NULL_HANDLE;  // null: weft makes its own device
    std::vector<std::pair<QueueSlot, QueueLockHooks>> locks;
    std::shared_ptr<void> owner;  // released when nothing of weft uses the device any more
};

/// Running totals behind weft::Counters.
struct CounterCells {
    std::atomic<std::uint64_t> objects{0}, allocations{0}, descriptor_updates{0}, recordings{0},
        submissions{0}, imports{0};
    static void add(std::atomic<std::uint64_t>& cell, std::uint64_t n = 1) {
        cell.fetch_add(n, std::memory_order_relaxed);
    }
};

/// Owns the VkDevice (unless the application does), its queues with their locks, and the layouts that all
/// programs share.
class Device {
  public:
    Device(std::shared_ptr<Instance> instance, VkPhysicalDevice physical, DeviceSnapshot snapshot,
           DevicePlan plan, AdoptedDevice adopted = {});
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    VkDevice handle() const { return handle_; }
    VkPhysicalDevice physical() const { return physical_; }
    const DeviceSnapshot& snapshot() const { return snapshot_; }
    const DevicePlan& plan() const { return plan_; }
    /// The CPUs of plan().numa_node that this process may use; empty: any.
    const CpuSet& node_cpus() const { return node_cpus_; }
    const Log& log() const { return instance_->log(); }
    const Instance& instance() const { return *instance_; }
    PhysicalQueue& queue(QueueRole role) const { return *roles_[static_cast<std::size_t>(role)]; }
    /// The roles that a queue serves, joined by `separator`.
    std::string roles_of(const PhysicalQueue& queue, const char* separator) const;
    /// Valid bits of a role's timestamps; 0: its queue has no timestamps.
    std::uint32_t timestamp_bits(QueueRole role) const {
        return snapshot_.families[queue(role).slot.family].timestamp_valid_bits;
    }
    VkDescriptorSetLayout set_layout() const { return set_layout_; }
    VkPipelineLayout pipeline_layout() const { return pipeline_layout_; }

    bool lost() const { return lost_.load(std::memory_order_relaxed); }
    /// The device and its queues belong to the application.
    bool adopted() const { return adopted_.handle != VK_NULL_HANDLE; }
    /// Throws as core::check does. Remembers a loss of the device and adds what the driver says about it.
    void check(VkResult result, const char* what);
    /// Errors: device_lost, and unsupported in a forked child, which shares no driver state with its parent.
    void require_usable(const char* what) const;
    void require_own_process(const char* what) const;
    /// In a forked child, and on the thread that ends the process, nothing of the driver may be used, not
    /// even to free it.
    bool beyond_use() const;
    /// The device counts as lost from now on, for a `reason` that no driver call reports.
    void give_up(const std::string& reason) noexcept;
    /// It cannot be found out whether submitted work has ended: from now on the device counts as lost, and
    /// what it may still use is never freed.
    void wedge() noexcept {
        wedged_.store(true, std::memory_order_relaxed);
        lost_.store(true, std::memory_order_relaxed);
    }
    /// Destructors must free nothing, because nothing may be used or because the device may still run.
    bool untouchable() const { return wedged_.load(std::memory_order_relaxed) || beyond_use(); }

    /// For debuggers, capture tools and validation messages; nothing where the instance lacks
    /// VK_EXT_debug_utils. `handle` must not be in use by another thread.
    template <class Handle>
    void set_name(VkObjectType type, Handle handle, std::string_view name) const noexcept {
        if (names_) name_object(type, (std::uint64_t)handle, name);  // NOLINT: pointer or integer by platform
    }
    /// Labels the commands between begin and end. Nothing is recorded unless the validation layer or a tool
    /// reads labels.
    void begin_label(VkCommandBuffer commands, std::string_view name) const noexcept {
        if (labels_) open_label(commands, name);
    }
    void end_label(VkCommandBuffer commands) const noexcept {
        if (labels_) instance_->vk.vkCmdEndDebugUtilsLabelEXT(commands);
    }

    DriverCalls vk;
    mutable CounterCells counters;

  private:
    void create();
    void take_queues();
    void create_layouts();
    void name_queues() const noexcept;
    void name_object(VkObjectType type, std::uint64_t handle, std::string_view name) const noexcept;
    void open_label(VkCommandBuffer commands, std::string_view name) const noexcept;
    bool observed() const;
    [[noreturn]] void lose(const char* what);
    std::string read_fault() const noexcept;

    AdoptedDevice adopted_;  // first, so that its owner goes last
    std::shared_ptr<Instance> instance_;
    VkPhysicalDevice physical_;
    DeviceSnapshot snapshot_;
    DevicePlan plan_;
    CpuSet node_cpus_;
    VkDevice handle_ = VK_NULL_HANDLE;
    std::vector<std::unique_ptr<PhysicalQueue>> queues_;
    std::array<PhysicalQueue*, kQueueRoles> roles_{};
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkPipelineLayout pipeline_layout_ = VK_NULL_HANDLE;
    bool names_ = false, labels_ = false;
    std::atomic<bool> lost_{false}, wedged_{false};
    mutable std::mutex fault_mutex_;
    std::string fault_;  // guarded; what the driver said about the loss
    OwnProcess process_;
};

}  // namespace weft::core
