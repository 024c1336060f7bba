// SPDX-License-Identifier: Apache-2.0
#include "device/device_options.hpp"

#include <algorithm>
#include <vector>

#include "device/cuda_calls.hpp"

namespace weft::tool {
namespace {

// The library reports a setting that matches nothing as an invalid argument, like any other bad setting. For
// a command it means that the machine lacks the device.
bool setting_matches_nothing(const Config& config) {
    if (config.device.empty()) return false;
    const std::vector<DeviceInfo> devices = list_devices(config);
    return std::none_of(devices.begin(), devices.end(), [](const DeviceInfo& d) { return d.chosen; });
}

const char* text_of(Several several) {
    switch (several) {
        case Several::shared:
            return "they share the work";
        case Several::refused:
            return "refused, one at a time";
        case Several::best:
            break;
    }
    return "the best of them";
}

template <class Open>
auto open(const Open& call, const Config& config) {
    try {
        return call();
    } catch (const Error& error) {
        if (error.code() == Errc::invalid_argument && setting_matches_nothing(config))
            throw Failure(Exit::device, error.what());
        throw;
    }
}

std::string check_backend(const std::string& name, bool cuda) {
    if (name == "vulkan" || (name == "cuda" && cuda && has_cuda())) return {};
    const std::string got = " (got " + name + ", need vulkan" + (cuda && has_cuda() ? " or cuda)" : ")");
    if (name != "cuda") return "no such backend" + got;
    return (cuda ? "not available in this build" : "not available for this command") + got;
}

}  // namespace

void DeviceOptions::add_to(CLI::App& command, bool cuda, Several of_several) {
    several = of_several;
    command
        .add_option("--device", device,
                    std::string("Index, start of the UUID, part of the name, or cpu; several with commas "
                                "between, or all: ") +
                        text_of(several) + "; instead of WEFT_DEVICE")
        ->type_name("DEVICE");
    command
        .add_option("--backend", backend,
                    cuda && has_cuda() ? "vulkan, or cuda on GPUs of NVIDIA"
                    : cuda             ? "vulkan; cuda is not in this build"
                                       : "vulkan; cuda is not for this command")
        ->capture_default_str()
        ->type_name("NAME")
        ->check(CLI::Validator([cuda](const std::string& name) { return check_backend(name, cuda); }, ""));
}

Config DeviceOptions::config() const {
    Config config = Config::from_env();
    if (!device.empty()) config.device = device;
    return config;
}

void DeviceOptions::require_planned() const {
    if (backend != "vulkan")
        throw Failure(Exit::usage, "--explain: the plan is that of vulkan (got --backend " + backend + ")");
}

Exit exit_of(const Error& error) noexcept {
    switch (error.code()) {
        case Errc::invalid_argument:
        case Errc::unsupported:  // a requested path, layer or feature is missing
            return Exit::usage;
        case Errc::no_loader:
        case Errc::no_device:
            return Exit::device;
        default:
            return Exit::failed;
    }
}

Backend open_backend(const Config& config) {
    return open([&] { return Backend(config); }, config);
}

Devices open_devices(const DeviceOptions& options, const Config& config) {
    if (options.several == Several::best)
        return open([&] { return Devices(std::vector<Config>{config}); }, config);
    Devices devices = open([&] { return Devices(config); }, config);
    if (options.several == Several::refused && devices.size() != 1) {
        const std::string setting = options.device.empty() ? "WEFT_DEVICE" : "--device";
        throw Failure(Exit::usage, setting + ": works on one device (got \"" + config.device +
                                       "\", which is " + std::to_string(devices.size()) +
                                       " devices, need the index or the UUID of one, see weft info)");
    }
    return devices;
}

}  // namespace weft::tool
