// SPDX-License-Identifier: Apache-2.0
// Several devices for tests: those that WEFT_DEVICE lists, else two backends on one device, which every
// machine can have.
#pragma once

#include <optional>
#include <string>

#include <weft/devices.hpp>

#include "support/gpu_fixture.hpp"

namespace weft_test {

inline std::string pair_of_devices() {
    const std::string set = weft::Config::from_env().device;
    if (set == "all" || set.find(',') != std::string::npos) return set;
    const std::string one = set.empty() ? std::to_string(weft::Backend().device().index) : set;
    return one + "," + one;
}

/// Runs body(Devices&), with chunks of `chunk_elements` so that small calls are shared too, and checks that
/// no object is left on any device. `again`: how many more backends than those of the pair.
template <class Body>
void on_devices(std::optional<std::uint64_t> chunk_elements, Body&& body, std::size_t again = 0) {
    weft::Config config = weft::Config::from_env();
    if (!make_backend(config)) return;
    config.device = pair_of_devices();
    for (; again != 0; --again) config.device += config.device.substr(config.device.rfind(','));
    config.chunk_elements = chunk_elements;
    weft::Devices devices(config);
    REQUIRE(devices.size() >= 2);
    body(devices);
    for (std::size_t i = 0; i < devices.size(); ++i) check_clean(devices[i]);
}

/// Checks the rows of a report: one a device, all of which took part, with all items.
inline void check_rows(const weft::BatchReport& report, const weft::Devices& devices, std::uint64_t items) {
    REQUIRE(report.devices.size() == devices.size());
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const weft::DeviceReport& row = report.devices[i];
        CAPTURE(i);
        CHECK(row.name == devices[i].name());
        CHECK(row.device == i);
        CHECK(row.items != 0);
        CHECK(row.busy_s > 0);
        CHECK(row.idle_end_s >= 0);
        CHECK(row.busy_s + row.idle_end_s <= report.wall_s * 1.001 + 1e-6);
        CHECK_FALSE(row.lost);
        sum += row.items;
    }
    CHECK(sum == items);
}

}  // namespace weft_test
