// SPDX-License-Identifier: Apache-2.0
#include "core/loader.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>

#include "core/startup.hpp"

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
    for (const std::string& name : names) {
        // Never closed: drivers leave threads and handlers behind that must stay mapped until the process
        // ends.
        if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
            if (void* entry = dlsym(library, "vkGetInstanceProcAddr"))
                return reinterpret_cast<PFN_vkGetInstanceProcAddr>(entry);
            tried += (tried.empty() ? "" : ", ") + name + " (no vkGetInstanceProcAddr)";
        } else {
            tried += (tried.empty() ? "" : ", ") + name;
        }
    }
    throw Error(Errc::no_loader,
                "Backend: the Vulkan loader cannot be opened (tried " + tried +
                    "; install it, e.g. package libvulkan1, or name it in WEFT_VULKAN_LIBRARY)");
}

/// volk keeps the loader's entry points in globals; they are set once, to the loader that opened first.
void load_global_functions(const std::string& library) {
    static std::mutex mutex;
    static bool loaded = false;
    const PFN_vkGetInstanceProcAddr entry = open_library(library);
    const std::lock_guard lock(mutex);
    if (loaded) return;
    volkInitializeCustom(entry);
    loaded = true;
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

/// The loader unloads drivers with the last instance. Some cannot be loaded again and again: each time takes
/// thread-local storage that glibc does not get back, and after a dozen instances there is "no driver". So
/// what creating an instance loaded stays loaded.
void keep_loaded(const Libraries& before) {
    for (const std::string& name : loaded_libraries())
        if (before.count(name) == 0) dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/// The instance-level functions are the loader's own trampolines and serve every instance.
void load_instance_functions(VkInstance instance) {
    static std::once_flag once;
    std::call_once(once, [&] { volkLoadInstanceOnly(instance); });
}

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                          VkDebugUtilsMessageTypeFlagsEXT type,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
    auto& instance = *static_cast<Instance*>(user);
    const bool error = (severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT) != 0;
    const bool warning = (severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT) != 0;
    // General messages come from the loader about other people's layers and drivers; they are no fault of a
    // program.
    const bool validation =
        (type & ~static_cast<VkDebugUtilsMessageTypeFlagsEXT>(VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT)) !=
        0;
    if (validation && (error || warning)) instance.count_validation_message();
    const LogLevel level = validation && error     ? LogLevel::error
                           : validation && warning ? LogLevel::warning
                                                   : LogLevel::debug;
    if (instance.log().enabled(level) && data != nullptr && data->pMessage != nullptr)
        instance.log().write(level, data->pMessage);
    return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info(Instance* instance) {
    VkDebugUtilsMessengerCreateInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
    info.messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
    info.pfnUserCallback = on_message;
    info.pUserData = instance;
    return info;
}

bool has_layer(const char* name) {
    std::uint32_t count = 0;
    vkEnumerateInstanceLayerProperties(&count, nullptr);
    std::vector<VkLayerProperties> layers(count);
    vkEnumerateInstanceLayerProperties(&count, layers.data());
    return std::any_of(layers.begin(), layers.end(),
                       [&](const auto& layer) { return std::strcmp(layer.layerName, name) == 0; });
}

bool has_extension(const char* layer, const char* name) {
    std::uint32_t count = 0;
    vkEnumerateInstanceExtensionProperties(layer, &count, nullptr);
    std::vector<VkExtensionProperties> extensions(count);
    vkEnumerateInstanceExtensionProperties(layer, &count, extensions.data());
    return std::any_of(extensions.begin(), extensions.end(),
                       [&](const auto& e) { return std::strcmp(e.extensionName, name) == 0; });
}

}  // namespace

Instance::Instance(const Config& config) : log_(config.log_level, config.log) {
    const SteadyTime begin = std::chrono::steady_clock::now();
    load_global_functions(config.vulkan_library);
    const SteadyTime opened = std::chrono::steady_clock::now();
    create(config);
    load_instance_functions(handle_);
    loader_ms_ = milliseconds_between(begin, opened);
    create_ms_ = milliseconds_between(opened, std::chrono::steady_clock::now());
    if (config.validation == Validation::off) return;
    const auto make = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(handle_, "vkCreateDebugUtilsMessengerEXT"));
    const VkDebugUtilsMessengerCreateInfoEXT info = messenger_info(this);
    const VkResult result = make == nullptr ? VK_SUCCESS : make(handle_, &info, nullptr, &messenger_);
    if (result != VK_SUCCESS) vkDestroyInstance(handle_, nullptr);  // no destructor runs
    check(result, "vkCreateDebugUtilsMessengerEXT");
}

void Instance::create(const Config& config) {
    const Libraries before = loaded_libraries();  // asking for extensions already loads drivers
    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.pEngineName = "weft";
    application.apiVersion = config.vulkan_1_2_only ? VK_API_VERSION_1_2 : VK_API_VERSION_1_3;
    VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    info.pApplicationInfo = &application;

    std::vector<const char*> extensions;
    VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(this);
    const VkValidationFeatureEnableEXT sync = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    VkValidationFeaturesEXT features{VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT};
    if (config.validation != Validation::off) {
        if (!has_layer(kValidationLayer))
            throw Error(Errc::unsupported,
                        std::string("Backend: validation was asked for but the layer is absent (need ") +
                            kValidationLayer + ", e.g. package vulkan-validationlayers)");
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = &kValidationLayer;
        if (has_extension(nullptr, VK_EXT_DEBUG_UTILS_EXTENSION_NAME) ||
            has_extension(kValidationLayer, VK_EXT_DEBUG_UTILS_EXTENSION_NAME)) {
            extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
            info.pNext = &messenger;
        }
        if (config.validation == Validation::sync &&
            has_extension(kValidationLayer, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME)) {
            extensions.push_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
            features.enabledValidationFeatureCount = 1;
            features.pEnabledValidationFeatures = &sync;
            features.pNext = info.pNext;
            info.pNext = &features;
        }
    }
    info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    const VkResult result = vkCreateInstance(&info, nullptr, &handle_);
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
    if (messenger_ != VK_NULL_HANDLE) {
        const auto destroy = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
            vkGetInstanceProcAddr(handle_, "vkDestroyDebugUtilsMessengerEXT"));
        if (destroy != nullptr) destroy(handle_, messenger_, nullptr);
    }
    if (handle_ != VK_NULL_HANDLE) vkDestroyInstance(handle_, nullptr);
}

std::vector<VkPhysicalDevice> Instance::physical_devices() const {
    std::uint32_t count = 0;
    const VkResult result = vkEnumeratePhysicalDevices(handle_, &count, nullptr);
    // A broken driver among working ones reports initialization_failed; the others still count.
    if (result == VK_ERROR_INITIALIZATION_FAILED) return {};
    check(result, "vkEnumeratePhysicalDevices");
    std::vector<VkPhysicalDevice> devices(count);
    check(vkEnumeratePhysicalDevices(handle_, &count, devices.data()), "vkEnumeratePhysicalDevices");
    devices.resize(count);
    return devices;
}

}  // namespace weft::core
