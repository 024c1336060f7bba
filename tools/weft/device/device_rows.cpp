// SPDX-License-Identifier: Apache-2.0
#include "device/device_rows.hpp"

#include <cstddef>
#include <cstdio>
#include <string>

#include "cli/figures.hpp"

namespace weft::tool {

void add_rows(DeviceRows& sum, const DeviceRows& call) {
    if (sum.empty()) {
        sum = call;
        return;
    }
    for (std::size_t i = 0; i < sum.size(); ++i) {
        DeviceReport& row = sum[i];
        const DeviceReport& more = call[i];
        // After a failure, later calls only say that the device is lost.
        if (!row.lost) row.note = row.shares + more.shares == 0 || more.lost ? more.note : "";
        row.lost = row.lost || more.lost;
        row.shares += more.shares;
        row.jobs += more.jobs;
        row.items += more.items;
        row.bytes_in += more.bytes_in;
        row.bytes_out += more.bytes_out;
        row.busy_s += more.busy_s;
        row.idle_end_s += more.idle_end_s;
    }
}

void print_rows(const DeviceRows& rows) {
    for (const DeviceReport& row : rows) {
        const std::string bytes = si(static_cast<double>(row.bytes_in + row.bytes_out), "B");
        const std::string note = row.note.empty() ? "" : ": " + row.note;
        std::printf("  device %zu, %s: %s items in %s, %s, busy %s, idle at the end %s%s%s\n", row.device,
                    row.name.c_str(), grouped(row.items).c_str(),
                    (grouped(row.shares) + (row.shares == 1 ? " share" : " shares")).c_str(), bytes.c_str(),
                    duration(row.busy_s).c_str(), duration(row.idle_end_s).c_str(), row.lost ? ", lost" : "",
                    note.c_str());
    }
}

Json json_of(const DeviceRows& rows) {
    Json json = Json::array();
    for (const DeviceReport& row : rows)
        json.push_back({{"device", row.name},
                        {"index", row.device},
                        {"shares", row.shares},
                        {"items", row.items},
                        {"bytes_in", row.bytes_in},
                        {"bytes_out", row.bytes_out},
                        {"busy_s", row.busy_s},
                        {"idle_end_s", row.idle_end_s},
                        {"lost", row.lost},
                        {"note", row.note}});
    return json;
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
