// SPDX-License-Identifier: Apache-2.0
// What each device did in calls on several devices, for the reports of commands.
#pragma once

#include <vector>

#include <weft/batch.hpp>
#include <weft/device.hpp>

#include "cli/print_json.hpp"

namespace weft::tool {

using DeviceRows = std::vector<DeviceReport>;

/// Adds a later call on the same devices. A note stays only where it says why a device did nothing at all, or
/// that it failed.
void add_rows(DeviceRows& sum, const DeviceRows& call);

/// A line a device; nothing for a call on one device.
void print_rows(const DeviceRows& rows);
Json json_of(const DeviceRows& rows);
/// Adds what every report of a call contains: seconds, rate, bytes, device and driver, and a row for each of
/// several devices.
void add_run(Json& json, const OpReport& report, const DeviceInfo& device);

}  // namespace weft::tool
