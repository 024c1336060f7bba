// SPDX-License-Identifier: Apache-2.0
#include "cli/print_json.hpp"

#include <cstdio>

#include "cli/device_rows.hpp"

namespace weft::tool {

std::string json_text(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void print_json(const Json& json) {
    std::fputs(json_text(json).c_str(), stdout);
}

void add_run(Json& json, const OpReport& report, const DeviceInfo& device) {
    json["seconds"] = report.wall_s;
    json["gb_per_s"] = report.gb_per_s();
    json["bytes_in"] = report.bytes_in;
    json["bytes_out"] = report.bytes_out;
    json["device"] = device.name;
    json["driver"] = device.driver;
    if (!report.devices.empty()) json["devices"] = json_of(report.devices);
}

}  // namespace weft::tool
