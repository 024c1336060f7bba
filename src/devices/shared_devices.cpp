// SPDX-License-Identifier: Apache-2.0
#include "devices/shared_devices.hpp"

#include <algorithm>

#include <weft/error.hpp>

namespace weft::core {

SharedDevices::SharedDevices(std::size_t devices)
    : lost_(std::make_shared<std::vector<std::atomic<bool>>>(devices)) {}

void SharedDevices::require_index(const char* type, std::size_t index) const {
    if (index < size()) return;
    throw Error(Errc::invalid_argument, std::string(type) + ": no such device (got " + std::to_string(index) +
                                            ", need less than " + std::to_string(size()) + ")");
}

std::vector<std::size_t> SharedDevices::usable(const char* function) const {
    std::vector<std::size_t> usable;
    for (std::size_t i = 0; i < size(); ++i)
        if (!lost(i)) usable.push_back(i);
    if (usable.empty())
        throw Error(Errc::device_lost, std::string(function) + ": every device is lost (got " +
                                           std::to_string(size()) +
                                           " lost devices, need one that works; make a new Devices)");
    return usable;
}

double SharedDevices::rate(const std::string& kind, std::size_t device) const {
    const std::lock_guard lock(mutex_);
    const auto it = rates_.find(kind);
    return it == rates_.end() ? 0 : it->second[device];
}

void SharedDevices::note_rate(const std::string& kind, std::size_t device, double rate) {
    constexpr double kUnusedGrows = 1.2, kOldPart = 0.7;
    const std::lock_guard lock(mutex_);
    std::vector<double>& rates = rates_[kind];
    rates.resize(size());
    double& known = rates[device];
    // One slow call, which may have compiled or waited for others, does not change much.
    known = rate <= 0 ? known * kUnusedGrows : std::max(rate, kOldPart * known + (1 - kOldPart) * rate);
}

}  // namespace weft::core
