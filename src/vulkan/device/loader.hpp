// SPDX-License-Identifier: Apache-2.0
// The Vulkan loader and an instance of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weft/config.hpp>

#include "base/log.hpp"
#include "vulkan/device/vulkan.hpp"

namespace weft::core {

/// The functions of one instance. They are not global, because an adopted instance may come from another
/// loader.
struct InstanceTable {
    PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr = nullptr;
    PFN_vkGetDeviceProcAddr vkGetDeviceProcAddr = nullptr;
    PFN_vkDestroyInstance vkDestroyInstance = nullptr;
    PFN_vkEnumeratePhysicalDevices vkEnumeratePhysicalDevices = nullptr;
    PFN_vkEnumerateDeviceExtensionProperties vkEnumerateDeviceExtensionProperties = nullptr;
    PFN_vkGetPhysicalDeviceProperties vkGetPhysicalDeviceProperties = nullptr;
    PFN_vkGetPhysicalDeviceProperties2 vkGetPhysicalDeviceProperties2 = nullptr;
    PFN_vkGetPhysicalDeviceFeatures2 vkGetPhysicalDeviceFeatures2 = nullptr;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties vkGetPhysicalDeviceQueueFamilyProperties = nullptr;
    PFN_vkGetPhysicalDeviceMemoryProperties vkGetPhysicalDeviceMemoryProperties = nullptr;
    PFN_vkGetPhysicalDeviceMemoryProperties2 vkGetPhysicalDeviceMemoryProperties2 = nullptr;
    PFN_vkGetPhysicalDeviceExternalBufferProperties vkGetPhysicalDeviceExternalBufferProperties = nullptr;
    PFN_vkGetPhysicalDeviceExternalSemaphoreProperties vkGetPhysicalDeviceExternalSemaphoreProperties =
        nullptr;
    PFN_vkCreateDevice vkCreateDevice = nullptr;
    // Null if the instance or the loader lacks them.
    PFN_vkGetPhysicalDeviceToolProperties vkGetPhysicalDeviceToolProperties = nullptr;
    PFN_vkSetDebugUtilsObjectNameEXT vkSetDebugUtilsObjectNameEXT = nullptr;
    PFN_vkCmdBeginDebugUtilsLabelEXT vkCmdBeginDebugUtilsLabelEXT = nullptr;
    PFN_vkCmdEndDebugUtilsLabelEXT vkCmdEndDebugUtilsLabelEXT = nullptr;
    PFN_vkCreateDebugUtilsMessengerEXT vkCreateDebugUtilsMessengerEXT = nullptr;
    PFN_vkDestroyDebugUtilsMessengerEXT vkDestroyDebugUtilsMessengerEXT = nullptr;
};

/// The application's instance.
struct AdoptedInstance {
    VkInstance handle = VK_NULL_HANDLE;
    PFN_vkGetInstanceProcAddr get_proc = nullptr;  // null: that of the loader that the Config names
    std::uint32_t api_version = 0;                 // of its VkApplicationInfo
};

/// A VkInstance and, if the Config asks for them, the validation layer and its messages. Instances are
/// independent of each other.
class Instance {
  public:
    /// Errors: no_loader - the text names what was tried; unsupported - validation asked for and the layer is
    /// absent; driver.
    explicit Instance(const Config& config);
    /// weft uses the instance and never destroys it. If the Config asks for validation, weft receives the
    /// messages of the layer that the application enabled. Errors: no_loader; invalid_argument - the loader
    /// does not know the instance.
    Instance(const Config& config, const AdoptedInstance& adopted);
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    VkInstance handle() const { return handle_; }
    /// The version that was asked for; a device of the instance must not be used beyond it.
    std::uint32_t api_version() const { return api_version_; }
    /// Empty when no driver is installed.
    std::vector<VkPhysicalDevice> physical_devices() const;
    const Log& log() const { return log_; }
    double loader_s() const { return loader_s_; }
    double create_s() const { return create_s_; }
    bool validation() const { return validation_; }
    std::uint64_t validation_messages() const { return validation_messages_.load(std::memory_order_relaxed); }
    void count_validation_message() { validation_messages_.fetch_add(1, std::memory_order_relaxed); }
    /// Fills a device's table through this instance's loader.
    VolkDeviceTable device_table(VkDevice device) const;

    InstanceTable vk{};

  private:
    void create(const Config& config);
    VkResult create_with(VkInstanceCreateInfo info, const Config& config, bool debug_utils);
    void load_table();
    void add_listener();
    void release() noexcept;

    Log log_;
    double loader_s_ = 0, create_s_ = 0;
    VkInstance handle_ = VK_NULL_HANDLE;
    std::uint32_t api_version_ = 0;
    bool adopted_ = false, validation_ = false;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
    std::atomic<std::uint64_t> validation_messages_{0};
};

}  // namespace weft::core
