// SPDX-License-Identifier: Apache-2.0
// What weft may use of a device that the application made: only what the application enabled.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/device/device_plan.hpp"

namespace weft::core {

/// How the application made its device, in plain data.
struct Adoption {
    std::uint32_t api_major = 1, api_minor = 0;  // of its VkApplicationInfo
    DeviceSnapshot enabled;                      // only its features are read
    std::vector<std::string> extensions;
    /// The extensions of the physical device and of enabled layers.
    std::vector<std::string> possible_extensions;
    QueueSlot compute;
    std::optional<QueueSlot> upload, download;
    std::vector<std::uint32_t> shared_families;  // others that will touch the buffers

    /// Roles without a queue of their own use the compute queue.
    QueueSlot slot(QueueRole role) const {
        if (role == QueueRole::upload) return upload.value_or(compute);
        if (role == QueueRole::download) return download.value_or(compute);
        return compute;
    }
};

/// The device with only the features, the extensions and the version that the application enabled.
DeviceSnapshot enabled_part(const DeviceSnapshot& device, const Adoption& adoption);

/// Errors: unsupported - the version, a feature or a queue that weft cannot do without is missing (each
/// named); invalid_argument - a family or queue index that the device does not have, an extension that it
/// cannot have been made with.
void check_adoption(const DeviceSnapshot& device, const Adoption& adoption);

/// The application's queues in weft's roles. QueueMode::single leaves all but the compute queue unused.
QueuePlan adopted_queues(const Adoption& adoption, QueueMode mode);

/// The whole plan for a device that passed check_adoption; `device` is its enabled part. Errors: those of
/// plan_device that do not concern the choice of the device.
DevicePlan plan_adopted(const DeviceSnapshot& device, const Adoption& adoption, const Config& config,
                        const HostFacts& host, const TuningSource& tuning = {});

}  // namespace weft::core
