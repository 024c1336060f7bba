// SPDX-License-Identifier: Apache-2.0
// Executes a DevicePlan: VkDevice with its own function table, its queues, and the one layout every pipeline
// shares.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <weft/backend.hpp>

#include "core/device_plan.hpp"
#include "core/loader.hpp"
#include "core/vulkan.hpp"

namespace weft::core {

/// Younger than the oldest Vulkan headers that weft builds with.
inline constexpr const char* kKhrCalibratedTimestamps = "VK_KHR_calibrated_timestamps";

DeviceSnapshot read_snapshot(VkPhysicalDevice device);

/// A VkQueue may be handed to one thread at a time; roles that alias one queue share its lock.
struct PhysicalQueue {
    VkQueue handle = VK_NULL_HANDLE;
    QueueSlot slot;
    std::mutex mutex;
};

/// Running totals behind weft::Counters.
struct CounterCells {
    std::atomic<std::uint64_t> objects{0}, allocations{0}, descriptor_updates{0}, recordings{0},
        submissions{0}, imports{0};
    static void add(std::atomic<std::uint64_t>& cell, std::uint64_t n = 1) {
        cell.fetch_add(n, std::memory_order_relaxed);
    }
};

class Device {
  public:
    Device(std::shared_ptr<Instance> instance, VkPhysicalDevice physical, DeviceSnapshot snapshot,
           DevicePlan plan);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    VkDevice handle() const { return handle_; }
    VkPhysicalDevice physical() const { return physical_; }
    const DeviceSnapshot& snapshot() const { return snapshot_; }
    const DevicePlan& plan() const { return plan_; }
    const Log& log() const { return instance_->log(); }
    const Instance& instance() const { return *instance_; }
    PhysicalQueue& queue(QueueRole role) const { return *roles_[static_cast<std::size_t>(role)]; }
    /// Bits of a role's timestamps that count; 0: its queue may not be given any.
    std::uint32_t timestamp_bits(QueueRole role) const {
        return snapshot_.families[queue(role).slot.family].timestamp_valid_bits;
    }
    VkDescriptorSetLayout set_layout() const { return set_layout_; }
    VkPipelineLayout pipeline_layout() const { return pipeline_layout_; }

    bool lost() const { return lost_.load(std::memory_order_relaxed); }
    /// Remembers a lost device, then throws like core::check.
    void check(VkResult result, const char* what);
    /// Errors: device_lost, and unsupported in a forked child, which shares no driver state with its parent.
    void require_usable(const char* what) const;
    void require_own_process(const char* what) const;
    /// In a forked child nothing of the driver may be touched, not even to free it.
    bool foreign_process() const;

    VolkDeviceTable vk{};
    mutable CounterCells counters;

  private:
    void create();
    void create_layouts();

    std::shared_ptr<Instance> instance_;
    VkPhysicalDevice physical_;
    DeviceSnapshot snapshot_;
    DevicePlan plan_;
    VkDevice handle_ = VK_NULL_HANDLE;
    std::vector<std::unique_ptr<PhysicalQueue>> queues_;
    std::array<PhysicalQueue*, kQueueRoles> roles_{};
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkPipelineLayout pipeline_layout_ = VK_NULL_HANDLE;
    std::atomic<bool> lost_{false};
    pid_t process_;
};

}  // namespace weft::core
