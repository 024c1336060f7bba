// SPDX-License-Identifier: Apache-2.0
// The stored tuning of a device, as the cache folder has it.
#pragma once

#include <weft/tune/engine.hpp>

#include "plan/device/device_snapshot.hpp"

namespace weft::core {

/// What is kept for the device; never throws for what it finds.
tune::EngineReport load_tuning(const DeviceSnapshot& device, const Config& config);

}  // namespace weft::core
