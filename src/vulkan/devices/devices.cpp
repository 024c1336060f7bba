// SPDX-License-Identifier: Apache-2.0
// Completes weft/devices.hpp, and DevicesState.
#include <weft/devices.hpp>

#include <exception>
#include <future>
#include <optional>
#include <utility>

#include <weft/error.hpp>

#include "base/config_parse.hpp"
#include "plan/device/device_plan.hpp"
#include "vulkan/device/read_snapshot.hpp"
#include "vulkan/devices/devices_state.hpp"
#include "vulkan/devices/shared_call.hpp"
#include "vulkan/engine/backend_state.hpp"

namespace weft {
namespace core {

DevicesState::DevicesState(std::vector<Backend> backends)
    : backends_(std::move(backends)), lost_(std::make_shared<LostDevices>(backends_.size())) {}

std::vector<std::size_t> DevicesState::usable(const char* function) const {
    std::vector<std::size_t> usable;
    for (std::size_t i = 0; i < backends_.size(); ++i)
        if (!lost(i)) usable.push_back(i);
    if (usable.empty())
        throw Error(Errc::device_lost, std::string(function) + ": every device is lost (got " +
                                           std::to_string(backends_.size()) +
                                           " lost devices, need one that works; make a new Devices)");
    return usable;
}

double DevicesState::rate(const std::string& kind, std::size_t device) const {
    const std::lock_guard lock(mutex_);
    const auto it = rates_.find(kind);
    return it == rates_.end() ? 0 : it->second[device];
}

void DevicesState::set_rate(const std::string& kind, std::size_t device, double rate) {
    const std::lock_guard lock(mutex_);
    std::vector<double>& rates = rates_[kind];
    rates.resize(backends_.size());
    rates[device] = rate;
}

namespace {

/// The Config of each device that `config.device` names. Unless the caller says how many threads copy for
/// each device, the devices divide the cores among them.
std::vector<Config> config_of_each_device(const Config& config) {
    check_enums(config);
    std::vector<std::uint32_t> chosen;
    {
        const Instance instance(config);
        std::vector<DeviceSnapshot> snapshots;
        for (const VkPhysicalDevice device : instance.physical_devices())
            snapshots.push_back(read_snapshot(instance, device));
        chosen = choose_devices(snapshots, config);
    }
    std::vector<Config> configs(chosen.size(), config);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        configs[i].device = std::to_string(chosen[i]);
    }
    return configs;
}

/// Opens all devices simultaneously, because a driver takes a tenth of a second or more for each.
std::vector<Backend> open_all(const std::vector<Config>& configs) {
    if (configs.empty())
        throw Error(Errc::invalid_argument, "Devices: no devices (got an empty list, need one or more)");
    std::vector<std::future<Backend>> opening;
    for (std::size_t i = 1; i < configs.size(); ++i)
        opening.push_back(std::async(std::launch::async, [&, i] { return Backend(configs[i]); }));
    std::vector<Backend> backends;
    backends.emplace_back(configs[0]);
    for (std::future<Backend>& backend : opening) backends.push_back(backend.get());
    return backends;
}

}  // namespace

Backend& first_backend(Devices& devices) {
    return devices[detail::Access::state(devices).usable("Devices").front()];
}

}  // namespace core

Devices::Devices(const Config& config)
    : state_(std::make_shared<core::DevicesState>(core::open_all(core::config_of_each_device(config)))) {}
Devices::Devices(const std::string& list, Config config)
    : Devices([&] {
          config.device = list;
          return config;
      }()) {}
Devices::Devices(const std::vector<Config>& configs)
    : state_(std::make_shared<core::DevicesState>(core::open_all(configs))) {}
Devices::Devices(Devices&&) noexcept = default;
Devices& Devices::operator=(Devices&&) noexcept = default;
Devices::~Devices() = default;

core::DevicesState& Devices::state() const {
    if (!state_) throw Error(Errc::invalid_argument, "Devices: used after it was moved from");
    return *state_;
}

std::size_t Devices::size() const {
    return state().backends().size();
}

Backend& Devices::operator[](std::size_t index) const {
    if (index >= size())
        throw Error(Errc::invalid_argument, "Devices: no such device (got " + std::to_string(index) +
                                                ", need less than " + std::to_string(size()) + ")");
    return state().backends()[index];
}

bool Devices::lost(std::size_t index) const {
    static_cast<void>((*this)[index]);
    return state().lost(index);
}

void Devices::wait_idle() {
    for (const std::size_t i : state().usable("Devices::wait_idle")) state().backends()[i].wait_idle();
}

bool Devices::save_pipeline_cache() {
    bool saved = true;
    for (const std::size_t i : state().usable("Devices::save_pipeline_cache"))
        saved = state().backends()[i].save_pipeline_cache() && saved;
    return saved;
}

void Devices::trim() {
    for (const std::size_t i : state().usable("Devices::trim")) state().backends()[i].trim();
}

}  // namespace weft
