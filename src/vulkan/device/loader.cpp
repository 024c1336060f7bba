// SPDX-License-Identifier: Apache-2.0
#include "vulkan/device/loader.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <type_traits>

#include "base/driver_text.hpp"
#include "base/startup.hpp"

namespace weft::core {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

PFN_vkGetInstanceProcAddr open_library(const std::string& wanted) {
    std::vector<std::string> names;
    if (wanted.empty()) {
        names = {"libvulkan.so.1", "libvulkan.so"};
    } else {
        names = {wanted};
    }
    std::string tried;
    bool absent = true;
    const auto note = [&](const std::string& reason) {
        tried += (tried.empty() ? "" : "; ") + reason;
        absent = absent && reason.find("No such file") != std::string::npos;
    };
    for (const std::string& name : names) {
        // Never closed: drivers leave threads and handlers behind that must stay mapped until the process
        // ends.
        if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
            if (void* entry = dlsym(library, "vkGetInstanceProcAddr"))
                return reinterpret_cast<PFN_vkGetInstanceProcAddr>(entry);
            note(name + ": no vkGetInstanceProcAddr in it");
        } else {
            const char* const reason = dlerror();  // begins with the file's name
            note(reason != nullptr ? reason : name);
        }
    }
    throw Error(Errc::no_loader, "Backend: the Vulkan loader cannot be opened (" + tried +
                                     (absent ? "; install it, e.g. package libvulkan1, or name it in "
                                               "WEFT_VULKAN_LIBRARY)"
                                             : ")"));
}

using Libraries = std::set<std::string>;

Libraries loaded_libraries() {
    Libraries names;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            if (info->dlpi_name != nullptr && info->dlpi_name[0] != 0)
                static_cast<Libraries*>(data)->insert(info->dlpi_name);
            return 0;
        },
        &names);
    return names;
}

/// The loader unloads drivers with the last instance. Some drivers cannot be loaded many times: each load
/// takes thread-local storage that glibc does not get back, and after a dozen instances no driver is found.
/// So everything that was loaded for an instance stays loaded.
void keep_loaded(const Libraries& before) {
    for (const std::string& name : loaded_libraries())
        if (before.count(name) == 0) dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/// General messages are about layers and drivers of others: no program is at fault.
LogLevel level_of(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT type) {
    if (type == VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT) return LogLevel::debug;
    if ((severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT) != 0) return LogLevel::error;
    if ((severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT) != 0) return LogLevel::warning;
    if ((severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT) != 0) return LogLevel::info;
    return LogLevel::debug;
}

/// Called on the thread that made the wrong call, while the layer holds locks. It must not throw.
VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                          VkDebugUtilsMessageTypeFlagsEXT type,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
    auto& instance = *static_cast<Instance*>(user);
    const LogLevel level = level_of(severity, type);
    if (level <= LogLevel::warning) instance.count_validation_message();
    if (!instance.log().enabled(level) || data == nullptr || data->pMessage == nullptr) return VK_FALSE;
    try {
        std::vector<MessageObject> objects;
        for (std::uint32_t i = 0; i < data->objectCount; ++i) {
            const VkDebugUtilsObjectNameInfoEXT& object = data->pObjects[i];
            objects.push_back({object.objectHandle, object.pObjectName != nullptr ? object.pObjectName : ""});
        }
        instance.log().write(level, message_text(data->pMessage, objects));
    } catch (...) {
        instance.log().write(level, data->pMessage);
    }
    return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info(Instance* instance) {
    VkDebugUtilsMessengerCreateInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
    info.messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    // The layer does not make messages of severities that are not set here.
    if (instance->log().enabled(LogLevel::info))
        info.messageSeverity |= VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT;
    if (instance->log().enabled(LogLevel::debug))
        info.messageSeverity |= VK_DEBUG_UTILS_MESSAGE_SEVERITY_VERBOSE_BIT_EXT;
    info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
    info.pfnUserCallback = on_message;
    info.pUserData = instance;
    return info;
}

/// Functions that need no instance.
template <class Function>
Function global(PFN_vkGetInstanceProcAddr get, const char* name) {
    return reinterpret_cast<Function>(get(VK_NULL_HANDLE, name));
}

bool has_layer(PFN_vkGetInstanceProcAddr get, const char* name) {
    const auto enumerate =
        global<PFN_vkEnumerateInstanceLayerProperties>(get, "vkEnumerateInstanceLayerProperties");
    std::uint32_t count = 0;
    enumerate(&count, nullptr);
    std::vector<VkLayerProperties> layers(count);
    enumerate(&count, layers.data());
    return std::any_of(layers.begin(), layers.end(),
                       [&](const auto& layer) { return std::strcmp(layer.layerName, name) == 0; });
}

bool layer_has_extension(PFN_vkGetInstanceProcAddr get, const char* layer, const char* name) {
    const auto enumerate =
        global<PFN_vkEnumerateInstanceExtensionProperties>(get, "vkEnumerateInstanceExtensionProperties");
    std::uint32_t count = 0;
    enumerate(layer, &count, nullptr);
    std::vector<VkExtensionProperties> extensions(count);
    enumerate(layer, &count, extensions.data());
    return std::any_of(extensions.begin(), extensions.end(),
                       [&](const auto& e) { return std::strcmp(e.extensionName, name) == 0; });
}

}  // namespace

Instance::Instance(const Config& config)
    : log_(config.log_level, config.log),
      api_version_(config.vulkan_1_2_only ? VK_API_VERSION_1_2 : VK_API_VERSION_1_3),
      validation_(config.validation != Validation::off) {
    const SteadyTime begin = std::chrono::steady_clock::now();
    vk.vkGetInstanceProcAddr = open_library(config.vulkan_library);
    const SteadyTime opened = std::chrono::steady_clock::now();
    try {
        create(config);
        load_table();
        create_s_ = seconds_since(opened);
        add_listener();
    } catch (...) {
        release();
        throw;
    }
    loader_s_ = seconds_between(begin, opened);
}

Instance::Instance(const Config& config, const AdoptedInstance& adopted)
    : log_(config.log_level, config.log),
      handle_(adopted.handle),
      api_version_(adopted.api_version),
      adopted_(true),
      validation_(config.validation != Validation::off) {
    vk.vkGetInstanceProcAddr =
        adopted.get_proc != nullptr ? adopted.get_proc : open_library(config.vulkan_library);
    load_table();
    add_listener();
}

void Instance::load_table() {
    const auto load = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
            vk.vkGetInstanceProcAddr(handle_, name));
        return function != nullptr;
    };
    const bool complete =
        load(vk.vkGetDeviceProcAddr, "vkGetDeviceProcAddr") &&
        load(vk.vkDestroyInstance, "vkDestroyInstance") &&
        load(vk.vkEnumeratePhysicalDevices, "vkEnumeratePhysicalDevices") &&
        load(vk.vkEnumerateDeviceExtensionProperties, "vkEnumerateDeviceExtensionProperties") &&
        load(vk.vkGetPhysicalDeviceProperties, "vkGetPhysicalDeviceProperties") &&
        load(vk.vkGetPhysicalDeviceProperties2, "vkGetPhysicalDeviceProperties2") &&
        load(vk.vkGetPhysicalDeviceFeatures2, "vkGetPhysicalDeviceFeatures2") &&
        load(vk.vkGetPhysicalDeviceQueueFamilyProperties, "vkGetPhysicalDeviceQueueFamilyProperties") &&
        load(vk.vkGetPhysicalDeviceMemoryProperties, "vkGetPhysicalDeviceMemoryProperties") &&
        load(vk.vkGetPhysicalDeviceMemoryProperties2, "vkGetPhysicalDeviceMemoryProperties2") &&
        load(vk.vkGetPhysicalDeviceExternalBufferProperties, "vkGetPhysicalDeviceExternalBufferProperties") &&
        load(vk.vkGetPhysicalDeviceExternalSemaphoreProperties,
             "vkGetPhysicalDeviceExternalSemaphoreProperties") &&
        load(vk.vkCreateDevice, "vkCreateDevice");
    if (!complete)
        throw Error(
            Errc::invalid_argument,
            "Backend: the loader does not know the functions of the instance (got none, need those of "
            "Vulkan 1.1)");
    if (api_version_ >= VK_API_VERSION_1_3)
        load(vk.vkGetPhysicalDeviceToolProperties, "vkGetPhysicalDeviceToolProperties");
    load(vk.vkSetDebugUtilsObjectNameEXT, "vkSetDebugUtilsObjectNameEXT");
    load(vk.vkCmdBeginDebugUtilsLabelEXT, "vkCmdBeginDebugUtilsLabelEXT");
    load(vk.vkCmdEndDebugUtilsLabelEXT, "vkCmdEndDebugUtilsLabelEXT");
    load(vk.vkCreateDebugUtilsMessengerEXT, "vkCreateDebugUtilsMessengerEXT");
    load(vk.vkDestroyDebugUtilsMessengerEXT, "vkDestroyDebugUtilsMessengerEXT");
}

void Instance::add_listener() {
    if (!validation_ || vk.vkCreateDebugUtilsMessengerEXT == nullptr) return;
    const VkDebugUtilsMessengerCreateInfoEXT info = messenger_info(this);
    check(vk.vkCreateDebugUtilsMessengerEXT(handle_, &info, nullptr, &messenger_),
          "vkCreateDebugUtilsMessengerEXT");
}

VolkDeviceTable Instance::device_table(VkDevice device) const {
    // volk uses a global variable. All tables are loaded here, so that no other thread sees it change.
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    vkGetDeviceProcAddr = vk.vkGetDeviceProcAddr;
    VolkDeviceTable table{};
    volkLoadDeviceTable(&table, device);
    return table;
}

VkResult Instance::create_with(VkInstanceCreateInfo info, const Config& config, bool debug_utils) {
    std::vector<const char*> extensions;
    VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(this);
    const VkValidationFeatureEnableEXT sync = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    VkValidationFeaturesEXT features{VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT};
    if (debug_utils) {
        extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
        if (validation_) info.pNext = &messenger;
    }
    if (validation_) {
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = &kValidationLayer;
    }
    if (config.validation == Validation::sync &&
        layer_has_extension(vk.vkGetInstanceProcAddr, kValidationLayer,
                            VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME)) {
        extensions.push_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
        features.enabledValidationFeatureCount = 1;
        features.pEnabledValidationFeatures = &sync;
        features.pNext = info.pNext;
        info.pNext = &features;
    }
    info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    return global<PFN_vkCreateInstance>(vk.vkGetInstanceProcAddr, "vkCreateInstance")(&info, nullptr,
                                                                                      &handle_);
}

void Instance::create(const Config& config) {
    const Libraries before = loaded_libraries();  // a query for extensions already loads drivers
    if (validation_ && !has_layer(vk.vkGetInstanceProcAddr, kValidationLayer))
        throw Error(Errc::unsupported,
                    std::string("Backend: validation was asked for but the layer is absent (need ") +
                        kValidationLayer + ", e.g. package vulkan-validationlayers)");
    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.pEngineName = "weft";
    application.apiVersion = api_version_;
    VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    info.pApplicationInfo = &application;
    // Tried without a query first: enumerating extensions loads every driver once more.
    VkResult result = create_with(info, config, true);
    if (result == VK_ERROR_EXTENSION_NOT_PRESENT) result = create_with(info, config, false);
    keep_loaded(before);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
        throw Error(
            Errc::no_device,
            "Backend: no Vulkan driver is installed (need one for your GPU, or Mesa's lavapipe, e.g. package "
            "mesa-vulkan-drivers; in a container the driver's files must be mounted: with NVIDIA's toolkit "
            "set "
            "NVIDIA_DRIVER_CAPABILITIES to include graphics)",
            result);
    check(result, "vkCreateInstance");
}

Instance::~Instance() {
    release();
}

void Instance::release() noexcept {
    if (messenger_ != VK_NULL_HANDLE) vk.vkDestroyDebugUtilsMessengerEXT(handle_, messenger_, nullptr);
    if (handle_ == VK_NULL_HANDLE || adopted_) return;
    // Without host memory, create() ends before the table is loaded.
    if (vk.vkDestroyInstance == nullptr)
        vk.vkDestroyInstance =
            reinterpret_cast<PFN_vkDestroyInstance>(vk.vkGetInstanceProcAddr(handle_, "vkDestroyInstance"));
    if (vk.vkDestroyInstance != nullptr) vk.vkDestroyInstance(handle_, nullptr);
}

std::vector<VkPhysicalDevice> Instance::physical_devices() const {
    std::uint32_t count = 0;
    const VkResult result = vk.vkEnumeratePhysicalDevices(handle_, &count, nullptr);
    // A broken driver among working ones reports initialization_failed; the others still count.
    if (result == VK_ERROR_INITIALIZATION_FAILED) return {};
    check(result, "vkEnumeratePhysicalDevices");
    std::vector<VkPhysicalDevice> devices(count);
    check(vk.vkEnumeratePhysicalDevices(handle_, &count, devices.data()), "vkEnumeratePhysicalDevices");
    devices.resize(count);
    return devices;
}

}  // namespace weft::core
