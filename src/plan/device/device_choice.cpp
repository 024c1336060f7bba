// SPDX-License-Identifier: Apache-2.0
// Completes plan/device/device_plan.hpp: which device, by refusals and the choice among the rest.
#include <algorithm>
#include <array>

#include <weft/error.hpp>

#include "plan/device/device_match.hpp"
#include "plan/device/device_plan.hpp"

namespace weft::core {
namespace {

using Indices = std::vector<std::uint32_t>;

std::string joined(const std::vector<std::string>& texts) {
    std::string result;
    for (const std::string& text : texts) result += result.empty() ? text : "; " + text;
    return result;
}

std::string label(const std::vector<DeviceSnapshot>& devices, std::uint32_t index) {
    const std::vector<std::string> why = refusals(devices[index]);
    return std::to_string(index) + ": " + devices[index].name + (why.empty() ? "" : " - " + joined(why));
}

std::string list(const std::vector<DeviceSnapshot>& devices, const Indices& indices) {
    std::vector<std::string> labels;
    for (const std::uint32_t index : indices) labels.push_back(label(devices, index));
    return joined(labels);
}

Indices all_of(const std::vector<DeviceSnapshot>& devices) {
    Indices indices(devices.size());
    for (std::uint32_t i = 0; i < indices.size(); ++i) indices[i] = i;
    return indices;
}

std::vector<DeviceName> names_of(const std::vector<DeviceSnapshot>& devices) {
    std::vector<DeviceName> names;
    for (const DeviceSnapshot& d : devices)
        names.push_back({d.name, describe(d, 0).uuid, d.type == DeviceType::cpu});
    return names;
}

/// Whether both are one GPU seen through two drivers. Some drivers give all their GPUs one UUID, so equal
/// drivers mean two GPUs. A UUID of zeros identifies nothing.
bool same_gpu(const DeviceSnapshot& a, const DeviceSnapshot& b) {
    const bool known = std::any_of(a.uuid.begin(), a.uuid.end(), [](std::uint8_t byte) { return byte != 0; });
    return known && a.uuid == b.uuid && (a.driver_uuid != b.driver_uuid || a.driver_text != b.driver_text);
}

Indices without_duplicates(const std::vector<DeviceSnapshot>& devices, const Indices& indices) {
    Indices kept;
    for (const std::uint32_t i : indices) {
        const auto same = [&](std::uint32_t k) { return same_gpu(devices[k], devices[i]); };
        if (std::none_of(kept.begin(), kept.end(), same)) kept.push_back(i);
    }
    return kept;
}

/// Of two devices the lower rank comes first.
int rank(DeviceType type) {
    constexpr std::array kRanks{0, 1, 2, 4, 3};  // discrete, integrated, virtual, cpu, other
    return kRanks.at(static_cast<std::size_t>(type));
}

/// Whether the first is the better of two usable devices.
bool is_better(const std::vector<DeviceSnapshot>& devices, std::uint32_t a, std::uint32_t b) {
    const int rank_a = rank(devices[a].type), rank_b = rank(devices[b].type);
    if (rank_a != rank_b) return rank_a < rank_b;
    return describe(devices[a], a).device_memory_bytes > describe(devices[b], b).device_memory_bytes;
}

/// The first of the best ones.
std::uint32_t best_of(const std::vector<DeviceSnapshot>& devices, const Indices& candidates) {
    return *std::min_element(candidates.begin(), candidates.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return is_better(devices, a, b); });
}

/// Software devices would hold up the others, so "all" has them only if there is nothing else.
void arrange_all(const std::vector<DeviceSnapshot>& devices, Indices& usable) {
    const auto software = [&](std::uint32_t i) { return devices[i].type == DeviceType::cpu; };
    if (!std::all_of(usable.begin(), usable.end(), software)) std::erase_if(usable, software);
    std::stable_sort(usable.begin(), usable.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return is_better(devices, a, b); });
}

/// "radeon" of the list "0,radeon", in quotes
std::string quoted(const std::string& name, const std::string& setting) {
    const std::string of_list = name == setting ? "" : " of the setting \"" + setting + "\"";
    return "\"" + name + "\"" + of_list;
}

/// The usable devices of one name of a setting.
Indices usable_of(const std::vector<DeviceSnapshot>& devices, const NamedDevices& named,
                  const std::string& setting) {
    if (named.indices.empty())
        throw Error(Errc::invalid_argument,
                    "Backend: no device matches " + quoted(named.name, setting) +
                        " (need an index, the first 4 or more digits of a UUID, a part of a name, cpu, all, "
                        "or a list of these with commas between; there is " +
                        list(devices, all_of(devices)) + ")");
    Indices usable = named.indices;
    // A refused driver must not hide a usable one of the same GPU, so refusals go first.
    std::erase_if(usable, [&](std::uint32_t i) { return !refusals(devices[i]).empty(); });
    usable = without_duplicates(devices, usable);
    if (usable.empty()) {
        const std::string asked = setting.empty() ? "" : " that " + quoted(named.name, setting) + " matches";
        throw Error(Errc::no_device,
                    "Backend: no usable device" + asked + " (got " + list(devices, named.indices) + ")");
    }
    if (means_all(named.name)) arrange_all(devices, usable);
    return usable;
}

}  // namespace

std::vector<std::string> refusals(const DeviceSnapshot& device) {
    std::vector<std::string> why;
    if (device.api_major < 1 || (device.api_major == 1 && device.api_minor < 2))
        why.push_back("Vulkan " + std::to_string(device.api_major) + "." + std::to_string(device.api_minor) +
                      " is too old (need 1.2)");
    if (!device.timeline_semaphores)
        why.push_back("no timeline semaphores (need the feature timelineSemaphore)");
    const auto computes = [](const QueueFamilySnapshot& f) { return f.compute && f.count > 0; };
    if (std::none_of(device.families.begin(), device.families.end(), computes))
        why.push_back("no compute queue in " + std::to_string(device.families.size()) +
                      " queue families (need one)");
    const auto& types = device.memory_types;
    const std::string of_types = " in " + std::to_string(types.size()) + " memory types (need one)";
    if (std::none_of(types.begin(), types.end(), [](const auto& type) { return type.host_visible; }))
        why.push_back("no host-visible memory" + of_types);
    if (std::none_of(types.begin(), types.end(), [](const auto& type) { return type.device_local; }))
        why.push_back("no device-local memory" + of_types);
    return why;
}

Indices choose_devices(const std::vector<DeviceSnapshot>& devices, const Config& config) {
    if (devices.empty())
        throw Error(
            Errc::no_device,
            "Backend: the Vulkan loader shows no device (got 0, need 1; install the driver of the GPU "
            "or a software device; in a container the driver must be mounted with its graphics part, "
            "for NVIDIA by NVIDIA_DRIVER_CAPABILITIES=all)");
    Indices chosen;
    for (const NamedDevices& named : match_setting("Backend", names_of(devices), config.device)) {
        const Indices usable = usable_of(devices, named, config.device);
        chosen.insert(chosen.end(), usable.begin(), usable.end());
    }
    if (config.device.empty()) return {best_of(devices, chosen)};
    return chosen;
}

std::uint32_t choose_device(const std::vector<DeviceSnapshot>& devices, const Config& config) {
    return best_of(devices, choose_devices(devices, config));
}

}  // namespace weft::core
