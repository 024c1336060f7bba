// SPDX-License-Identifier: Apache-2.0
// Completes weft/native.hpp: from the application's Vulkan objects to plain data, and from there to a
// Backend.
#include "vulkan/device/vulkan.hpp"  // first: volk's form of the Vulkan headers

#include <weft/native.hpp>

#include <algorithm>
#include <utility>

#include "base/config_parse.hpp"
#include "plan/device/adoption.hpp"
#include "plan/device/tuning_file.hpp"
#include "vulkan/device/read_snapshot.hpp"
#include "vulkan/engine/backend_state.hpp"

namespace weft::native {
namespace {

using core::DeviceSnapshot;

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Errc::invalid_argument, "native::adopt: " + what);
}

core::QueueSlot slot_of(const AdoptedQueue& queue) {
    return {queue.family, queue.index};
}

core::Adoption describe(const AdoptedDevice& device) {
    core::Adoption adoption;
    // An unset version means 1.0.
    adoption.api_major = std::max(1u, VK_API_VERSION_MAJOR(device.api_version));
    adoption.api_minor = VK_API_VERSION_MINOR(device.api_version);
    if (device.features != nullptr) core::add_features(*device.features, adoption.enabled);
    adoption.extensions = device.extensions;
    adoption.compute = slot_of(device.compute);
    if (device.upload) adoption.upload = slot_of(*device.upload);
    if (device.download) adoption.download = slot_of(*device.download);
    adoption.shared_families = device.shared_families;
    return adoption;
}

void check_handles(const AdoptedDevice& device) {
    const auto need = [](bool there, const char* what) {
        if (!there) refuse(std::string("no ") + what + " (got null, need a handle)");
    };
    need(device.instance != VK_NULL_HANDLE, "instance");
    need(device.physical_device != VK_NULL_HANDLE, "physical_device");
    need(device.device != VK_NULL_HANDLE, "device");
    need(device.compute.queue != VK_NULL_HANDLE, "compute queue");
    need(!device.upload || device.upload->queue != VK_NULL_HANDLE, "upload queue");
    need(!device.download || device.download->queue != VK_NULL_HANDLE, "download queue");
}

std::uint32_t index_of(const core::Instance& instance, VkPhysicalDevice physical) {
    const std::vector<VkPhysicalDevice> all = instance.physical_devices();
    const auto found = std::find(all.begin(), all.end(), physical);
    if (found == all.end())
        refuse("physical_device is not of this instance (got none of its " + std::to_string(all.size()) +
               " devices, need one)");
    return static_cast<std::uint32_t>(found - all.begin());
}

/// Those of the device and of the enabled layers: a device may be made with both.
std::vector<std::string> possible_extensions(const core::Instance& instance, VkPhysicalDevice device) {
    std::vector<std::string> names = core::device_extensions(instance.vk, device, nullptr);
    const auto list = reinterpret_cast<PFN_vkEnumerateDeviceLayerProperties>(
        instance.vk.vkGetInstanceProcAddr(instance.handle(), "vkEnumerateDeviceLayerProperties"));
    std::uint32_t count = 0;
    if (list == nullptr || list(device, &count, nullptr) != VK_SUCCESS) return names;
    std::vector<VkLayerProperties> layers(count);
    if (list(device, &count, layers.data()) < 0) return names;
    layers.resize(count);
    for (const VkLayerProperties& layer : layers)
        for (std::string& name : core::device_extensions(instance.vk, device, layer.layerName))
            names.push_back(std::move(name));
    return names;
}

core::QueueLockHooks hooks_of(const AdoptedQueue& queue, const char* role) {
    const std::string where = std::string("the ") + role + " queue has ";
    if (static_cast<bool>(queue.lock) != static_cast<bool>(queue.unlock))
        refuse(where + "half a lock (got " + (queue.lock ? "lock" : "unlock") + ", need both or neither)");
    if (queue.mutex == nullptr) return {queue.lock, queue.unlock};
    if (queue.lock) refuse(where + "two locks (got mutex and lock, need one of them)");
    return {[m = queue.mutex] { m->lock(); }, [m = queue.mutex] { m->unlock(); }};
}

void check_queue(VkDevice device, PFN_vkGetDeviceQueue get_queue, const AdoptedQueue& queue,
                 const char* role) {
    VkQueue real = VK_NULL_HANDLE;
    get_queue(device, queue.family, queue.index, &real);
    if (real == queue.queue) return;
    refuse(std::string("the ") + role + " queue is not queue " + std::to_string(queue.index) + " of family " +
           std::to_string(queue.family) +
           " of this device (got another handle, need what vkGetDeviceQueue gives)");
}

/// Two different locks of one queue would not exclude each other.
void check_locks(const AdoptedQueue& a, const AdoptedQueue& b) {
    const bool same = slot_of(a) == slot_of(b);
    if (same && (a.mutex != b.mutex || static_cast<bool>(a.lock) != static_cast<bool>(b.lock)))
        refuse("one queue in two roles has two locks (got different ones, need the same in both)");
}

core::AdoptedDevice take(const AdoptedDevice& device, const core::Instance& instance) {
    const auto get_queue = reinterpret_cast<PFN_vkGetDeviceQueue>(
        instance.vk.vkGetDeviceProcAddr(device.device, "vkGetDeviceQueue"));
    if (get_queue == nullptr) refuse("device is not of this instance (got no vkGetDeviceQueue, need one)");
    core::AdoptedDevice taken;
    taken.handle = device.device;
    taken.owner = device.owner;
    const AdoptedQueue& upload = device.upload ? *device.upload : device.compute;
    const AdoptedQueue& download = device.download ? *device.download : device.compute;
    const std::pair<const AdoptedQueue*, const char*> queues[] = {
        {&device.compute, "compute"}, {&upload, "upload"}, {&download, "download"}};
    for (const auto& [queue, role] : queues) {
        check_queue(device.device, get_queue, *queue, role);
        taken.locks.emplace_back(slot_of(*queue), hooks_of(*queue, role));
    }
    check_locks(upload, device.compute);
    check_locks(download, device.compute);
    check_locks(upload, download);
    return taken;
}

}  // namespace

Backend adopt(const AdoptedDevice& device, const Config& config) {
    core::check_enums(config);
    core::StartupClock clock{{}, core::process_start(), {}};
    const core::SteadyTime begin = std::chrono::steady_clock::now();
    clock.report.before_s = core::seconds_between(clock.process_begin, begin);
    check_handles(device);
    core::Adoption adoption = describe(device);
    auto instance = std::make_shared<core::Instance>(
        config, core::AdoptedInstance{device.instance, device.get_instance_proc_addr, device.api_version});
    const std::uint32_t index = index_of(*instance, device.physical_device);
    DeviceSnapshot snapshot = core::read_snapshot(*instance, device.physical_device);
    adoption.possible_extensions = possible_extensions(*instance, device.physical_device);
    core::check_adoption(snapshot, adoption);
    core::AdoptedDevice taken = take(device, *instance);
    snapshot = core::enabled_part(snapshot, adoption);
    core::DevicePlan plan =
        core::plan_adopted(snapshot, adoption, config, core::host_facts(),
                           [&](const DeviceSnapshot& s) { return core::load_tuning(s, config); });
    clock.opening = std::chrono::steady_clock::now();
    clock.report.devices_s = core::seconds_between(begin, clock.opening);
    return detail::Access::make<Backend>(core::make_backend_state(std::move(instance), device.physical_device,
                                                                  index, std::move(snapshot), std::move(plan),
                                                                  config, clock, std::move(taken)));
}

}  // namespace weft::native
