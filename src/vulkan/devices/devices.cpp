// SPDX-License-Identifier: Apache-2.0
// Completes weft/devices.hpp, and DevicesState.
#include <weft/devices.hpp>

#include <algorithm>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <weft/error.hpp>
#include <weft/host_buffer.hpp>

#include "plan/device/device_plan.hpp"
#include "vulkan/devices/devices_state.hpp"
#include "vulkan/devices/shared_call.hpp"
#include "vulkan/engine/backend_state.hpp"

namespace weft {
namespace core {

DevicesState::DevicesState(std::vector<Backend> backends)
    : SharedDevices(backends.size()), backends_(std::move(backends)) {}

const std::string& DevicesState::name(std::size_t device) const {
    return backends_[device].name();
}
DeviceType DevicesState::type(std::size_t device) const {
    return backends_[device].device().type;
}
std::uint64_t DevicesState::chunk_bytes(std::size_t device) const {
    return backends_[device].plan().chunk_bytes;
}
const CpuSet& DevicesState::node_cpus(std::size_t device) const {
    return detail::Access::backend_state(backends_[device])->node_cpus();
}

OpReport run_shares(Devices& devices, const SharedCall& call) {
    const auto worker = [&](std::size_t device) -> DeviceWorker {
        return [own = call.worker(device), &backend = devices[device]](
                   const Share& share, ShareWatch& watch) { return own(backend, share, watch); };
    };
    return run_shares(detail::Access::state(devices), call.with_worker<DeviceWorker>(worker));
}

namespace {

struct DeviceConfigs {
    std::vector<Config> configs;
    HostFacts host;
};

/// Each device that `config.device` names.
DeviceConfigs configs_of(const Config& config) {
    const std::vector<DeviceSnapshot> devices = read_devices(config);
    const std::vector<std::uint32_t> chosen = choose_devices(devices, config);
    DeviceConfigs made{std::vector<Config>(chosen.size(), config), share_host(host_facts(), devices, chosen)};
    for (std::size_t i = 0; i < chosen.size(); ++i) made.configs[i].device = std::to_string(chosen[i]);
    return made;
}

DeviceConfigs configs_of(const std::vector<Config>& configs) {
    if (configs.empty())
        throw Error(Errc::invalid_argument, "Devices: no devices (got an empty list, need one or more)");
    const std::vector<DeviceSnapshot> devices = read_devices(configs[0]);
    std::vector<std::uint32_t> chosen;
    for (const Config& config : configs) chosen.push_back(choose_device(devices, config));
    return {configs, share_host(host_facts(), devices, chosen)};
}

/// One message at a time, whichever device it comes from.
void share_log(std::vector<Config>& configs) {
    const auto mutex = std::make_shared<std::mutex>();
    for (Config& config : configs)
        if (config.log)
            config.log = [mutex, log = config.log](LogLevel level, std::string_view line) {
                const std::lock_guard lock(*mutex);
                log(level, line);
            };
}

/// Opens all devices simultaneously, because a driver takes a tenth of a second or more for each.
std::vector<Backend> open_all(DeviceConfigs given) {
    share_log(given.configs);
    const auto open = [&](std::size_t i) {
        return detail::Access::make<Backend>(open_device(given.configs[i], given.host));
    };
    std::vector<std::future<Backend>> opening;
    for (std::size_t i = 1; i < given.configs.size(); ++i)
        opening.push_back(std::async(std::launch::async, open, i));
    std::vector<Backend> backends;
    backends.push_back(open(0));
    for (std::future<Backend>& backend : opening) backends.push_back(backend.get());
    return backends;
}

}  // namespace

Backend& first_backend(Devices& devices) {
    return devices[detail::Access::state(devices).usable("Devices").front()];
}

}  // namespace core

Devices::Devices(const Config& config)
    : state_(std::make_shared<core::DevicesState>(core::open_all(core::configs_of(config)))) {}
Devices::Devices(const std::string& list, Config config)
    : Devices([&] {
          config.device = list;
          return config;
      }()) {}
Devices::Devices(const std::vector<Config>& configs)
    : state_(std::make_shared<core::DevicesState>(core::open_all(core::configs_of(configs)))) {}
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
    state().require_index("Devices", index);
    return state().backends()[index];
}

HostRegistration::HostRegistration(Devices& devices, std::span<std::byte> range) {
    for (const std::size_t i : detail::Access::state(devices).usable("HostRegistration")) {
        const HostRegistration of_one(devices[i], range);
        objects_.push_back(of_one.objects_.front());
    }
}

Backend& detail::first_of(Devices& devices) {
    return core::first_backend(devices);
}

detail::BufferObjects detail::import_into_others(Devices& devices, const core::BufferObject& memory) {
    BufferObjects imports;
    for (const std::size_t i : Access::state(devices).usable("HostBuffer")) {
        const std::shared_ptr<core::Context>& context = Access::backend_state(devices[i])->context();
        if (context == memory.context() || memory.bytes() == 0) continue;
        try {
            imports.push_back(core::BufferObject::import(context, memory.mapped(), memory.bytes()));
        } catch (const Error& e) {
            if (e.code() == Errc::device_lost)
                Access::state(devices).set_lost(i);
            else
                core::log_refused_import(*context, e);
        }
    }
    return imports;
}

bool Devices::lost(std::size_t index) const {
    static_cast<void>((*this)[index]);
    return state().lost(index);
}

void Devices::wait_idle() {
    for (const std::size_t i : state().usable("Devices::wait_idle")) try {
            state().backends()[i].wait_idle();
        } catch (const Error& e) {
            if (e.code() != Errc::device_lost) throw;
            state().set_lost(i);
        }
    static_cast<void>(state().usable("Devices::wait_idle"));
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
