// SPDX-License-Identifier: Apache-2.0
#include "device_options.hpp"

#include <algorithm>
#include <vector>

namespace weft::tool {
namespace {

// The library calls a setting that matches nothing a bad argument, like any other bad setting; for a command
// it is the machine that lacks the device.
bool setting_matches_nothing(const Config& config) {
    if (config.device.empty()) return false;
    const std::vector<DeviceInfo> devices = list_devices(config);
    return std::none_of(devices.begin(), devices.end(), [](const DeviceInfo& d) { return d.chosen; });
}

std::string check_backend(const std::string& name) {
    if (name == "vulkan") return {};
    if (name == "cuda") return "not available in this build (got cuda, need vulkan)";
    return "no such backend (got " + name + ", need vulkan)";
}

}  // namespace

void DeviceOptions::add_to(CLI::App& command) {
    command
        .add_option("--device", device,
                    "Index, start of the UUID, part of the name, or cpu; instead of WEFT_DEVICE")
        ->type_name("DEVICE");
    command.add_option("--backend", backend, "vulkan; cuda is not in this build")
        ->capture_default_str()
        ->type_name("NAME")
        ->check(CLI::Validator(check_backend, ""));
}

Config DeviceOptions::config() const {
    Config config = Config::from_env();
    if (!device.empty()) config.device = device;
    return config;
}

Exit exit_of(const Error& error) noexcept {
    switch (error.code()) {
        case Errc::invalid_argument:
        case Errc::unsupported:  // a path, a layer or a feature that was asked for and is not there
            return Exit::usage;
        case Errc::no_loader:
        case Errc::no_device:
            return Exit::device;
        default:
            return Exit::failed;
    }
}

Backend open_backend(const Config& config) {
    try {
        return Backend(config);
    } catch (const Error& error) {
        if (error.code() == Errc::invalid_argument && setting_matches_nothing(config))
            throw Failure(Exit::device, error.what());
        throw;
    }
}

}  // namespace weft::tool
