// SPDX-License-Identifier: Apache-2.0
// An application with its own Vulkan instance and device, made with the linked loader, which weft then
// adopts. The validation layer checks both.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <weft/native.hpp>
#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"

namespace weft_test {

/// The messages of the validation layer to the application.
struct AppMessages {
    std::atomic<int> count{0};
    std::mutex mutex;
    std::string last;
};

inline VKAPI_ATTR VkBool32 VKAPI_CALL on_app_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                                     VkDebugUtilsMessageTypeFlagsEXT type,
                                                     const VkDebugUtilsMessengerCallbackDataEXT* data,
                                                     void* user) {
    if (type == VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT) return VK_FALSE;
    auto& messages = *static_cast<AppMessages*>(user);
    ++messages.count;
    const std::lock_guard lock(messages.mutex);
    messages.last = data->pMessage;
    return VK_FALSE;
}

struct AppOptions {
    std::uint32_t api_version = VK_API_VERSION_1_3;
    bool timeline = true, int64 = true, debug_utils = true;
    std::vector<std::string> extensions{};
};

class App {
  public:
    explicit App(const AppOptions& options = {}) : options_(options) {
        make_instance();
        make_device();
    }
    ~App() {
        vkDeviceWaitIdle(device);
        if (pool != VK_NULL_HANDLE) vkDestroyCommandPool(device, pool, nullptr);
        vkDestroyDevice(device, nullptr);
        if (messenger_ != VK_NULL_HANDLE)
            instance_function<PFN_vkDestroyDebugUtilsMessengerEXT>("vkDestroyDebugUtilsMessengerEXT")(
                instance, messenger_, nullptr);
        vkDestroyInstance(instance, nullptr);
        CHECK_MESSAGE(messages.count == 0, messages.last);
    }
    App(const App&) = delete;
    App& operator=(const App&) = delete;

    /// A correct description; tests make parts of it wrong.
    weft::native::AdoptedDevice described() const {
        weft::native::AdoptedDevice d;
        d.instance = instance;
        d.physical_device = physical;
        d.device = device;
        d.api_version = options_.api_version;
        d.extensions = options_.extensions;
        d.features = &features;
        d.compute.queue = queue;
        d.compute.family = family;
        return d;
    }

    /// Runs the application's own commands, which `record` records, and waits for them.
    template <class Record>
    void run(weft::Backend* backend, Record&& record) {
        const VkCommandBuffer commands = begin();
        record(commands);
        REQUIRE(vkEndCommandBuffer(commands) == VK_SUCCESS);
        const VkFenceCreateInfo fence_info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, nullptr, 0};
        VkFence fence = VK_NULL_HANDLE;
        REQUIRE(vkCreateFence(device, &fence_info, nullptr, &fence) == VK_SUCCESS);
        VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
        submit.commandBufferCount = 1;
        submit.pCommandBuffers = &commands;
        if (backend != nullptr) {
            const weft::native::QueueLock lock(*backend, weft::native::Role::compute);
            CHECK(lock.queue() == queue);
            REQUIRE(vkQueueSubmit(lock.queue(), 1, &submit, fence) == VK_SUCCESS);
        } else {
            REQUIRE(vkQueueSubmit(queue, 1, &submit, fence) == VK_SUCCESS);
        }
        REQUIRE(vkWaitForFences(device, 1, &fence, VK_TRUE, 10'000'000'000ull) == VK_SUCCESS);
        vkDestroyFence(device, fence, nullptr);
        vkFreeCommandBuffers(device, pool, 1, &commands);
    }

    VkSemaphore make_timeline() const {
        VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
        type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
        const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type, 0};
        VkSemaphore semaphore = VK_NULL_HANDLE;
        REQUIRE(vkCreateSemaphore(device, &info, nullptr, &semaphore) == VK_SUCCESS);
        return semaphore;
    }

    template <class Function>
    Function instance_function(const char* name) const {
        return reinterpret_cast<Function>(vkGetInstanceProcAddr(instance, name));
    }

    AppMessages messages;
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    std::uint32_t family = 0;
    VkCommandPool pool = VK_NULL_HANDLE;
    VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    VkPhysicalDeviceVulkan12Features features12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};

  private:
    void make_instance() {
        VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
        application.apiVersion = options_.api_version;
        const char* layer = "VK_LAYER_KHRONOS_validation";
        const char* extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
        VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
        info.pApplicationInfo = &application;
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = &layer;
        info.enabledExtensionCount = options_.debug_utils ? 1 : 0;
        info.ppEnabledExtensionNames = &extension;
        REQUIRE(vkCreateInstance(&info, nullptr, &instance) == VK_SUCCESS);
        if (!options_.debug_utils) return;
        VkDebugUtilsMessengerCreateInfoEXT listen{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
        listen.messageSeverity =
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
        listen.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
                             VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                             VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
        listen.pfnUserCallback = on_app_message;
        listen.pUserData = &messages;
        const auto make =
            instance_function<PFN_vkCreateDebugUtilsMessengerEXT>("vkCreateDebugUtilsMessengerEXT");
        REQUIRE(make(instance, &listen, nullptr, &messenger_) == VK_SUCCESS);
    }

    /// The device that weft itself would take, so that WEFT_DEVICE selects it here too.
    void choose() {
        std::uint32_t index = 0;
        for (const weft::DeviceInfo& info : weft::list_devices())
            if (info.chosen) index = info.index;
        std::uint32_t count = 0;
        vkEnumeratePhysicalDevices(instance, &count, nullptr);
        REQUIRE(count > index);
        std::vector<VkPhysicalDevice> all(count);
        vkEnumeratePhysicalDevices(instance, &count, all.data());
        physical = all[index];
        std::uint32_t families = 0;
        vkGetPhysicalDeviceQueueFamilyProperties(physical, &families, nullptr);
        std::vector<VkQueueFamilyProperties> properties(families);
        vkGetPhysicalDeviceQueueFamilyProperties(physical, &families, properties.data());
        while (family < families && (properties[family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) ++family;
        REQUIRE(family < families);
    }

    void make_device() {
        choose();
        features12.timelineSemaphore = options_.timeline;
        features12.hostQueryReset = VK_TRUE;
        features.features.shaderInt64 = options_.int64;
        features.pNext = &features12;
        const float priority = 1;
        VkDeviceQueueCreateInfo queues{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
        queues.queueFamilyIndex = family;
        queues.queueCount = 1;
        queues.pQueuePriorities = &priority;
        std::vector<const char*> names;
        for (const std::string& name : options_.extensions) names.push_back(name.c_str());
        VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features};
        info.queueCreateInfoCount = 1;
        info.pQueueCreateInfos = &queues;
        info.enabledExtensionCount = static_cast<std::uint32_t>(names.size());
        info.ppEnabledExtensionNames = names.data();
        REQUIRE(vkCreateDevice(physical, &info, nullptr, &device) == VK_SUCCESS);
        vkGetDeviceQueue(device, family, 0, &queue);
    }

    VkCommandBuffer begin() {
        if (pool == VK_NULL_HANDLE) {
            VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
            info.queueFamilyIndex = family;
            REQUIRE(vkCreateCommandPool(device, &info, nullptr, &pool) == VK_SUCCESS);
        }
        VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
        info.commandPool = pool;
        info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        info.commandBufferCount = 1;
        VkCommandBuffer commands = VK_NULL_HANDLE;
        REQUIRE(vkAllocateCommandBuffers(device, &info, &commands) == VK_SUCCESS);
        const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                             VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, nullptr};
        REQUIRE(vkBeginCommandBuffer(commands, &begin) == VK_SUCCESS);
        return commands;
    }

    AppOptions options_;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

/// An App, or nothing and a message if the machine has no device and none is required.
inline std::unique_ptr<App> make_app(const AppOptions& options = {}) {
    if (!make_backend()) return nullptr;
    return std::make_unique<App>(options);
}

}  // namespace weft_test
