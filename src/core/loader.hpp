// SPDX-License-Identifier: Apache-2.0
// The Vulkan loader and an instance of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weft/config.hpp>

#include "core/log.hpp"
#include "core/vulkan.hpp"

namespace weft::core {

/// A VkInstance with, where asked for, the validation layer and its messages. Instances are independent of
/// each other.
class Instance {
  public:
    /// Errors: no_loader - the text names what was tried; unsupported - validation asked for and the layer is
    /// absent; driver.
    explicit Instance(const Config& config);
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    VkInstance handle() const { return handle_; }
    /// Empty when no driver is installed.
    std::vector<VkPhysicalDevice> physical_devices() const;
    const Log& log() const { return log_; }
    double loader_ms() const { return loader_ms_; }
    double create_ms() const { return create_ms_; }
    std::uint64_t validation_messages() const { return validation_messages_.load(std::memory_order_relaxed); }
    void count_validation_message() { validation_messages_.fetch_add(1, std::memory_order_relaxed); }

  private:
    void create(const Config& config);

    Log log_;
    double loader_ms_ = 0, create_ms_ = 0;
    VkInstance handle_ = VK_NULL_HANDLE;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
    std::atomic<std::uint64_t> validation_messages_{0};
};

}  // namespace weft::core
