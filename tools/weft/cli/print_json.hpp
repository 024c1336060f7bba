// SPDX-License-Identifier: Apache-2.0
// JSON on standard output: what --json prints.
#pragma once

#include <string>

#include <nlohmann/json.hpp>
#include <weft/batch.hpp>
#include <weft/device.hpp>

namespace weft::tool {

using Json = nlohmann::ordered_json;

/// Names from a driver or a user may not be UTF-8. Invalid bytes become U+FFFD.
std::string json_text(const Json& json);
void print_json(const Json& json);
/// Adds what every report of a call contains: seconds, rate, bytes, device and driver, and a row for each of
/// several devices.
void add_run(Json& json, const OpReport& report, const DeviceInfo& device);

}  // namespace weft::tool
