// SPDX-License-Identifier: Apache-2.0
// The part of the host that a backend takes: NUMA node and copy threads.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "plan/device/device_plan.hpp"
#include "support/snapshots.hpp"

namespace {

using weft::Config;
using namespace weft::core;
using namespace weft::test;

DeviceSnapshot on_node(DeviceSnapshot device, int node) {
    device.numa_node = node;
    return device;
}

/// Two sockets of this many cores.
HostFacts two_sockets(std::uint32_t cores) {
    return {2 * cores, 1, {{0, cores}, {1, cores}}};
}

bool says(const DevicePlan& plan, const std::string& text) {
    return std::any_of(plan.reasons.begin(), plan.reasons.end(),
                       [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

TEST_CASE("a backend stays on the node of its device if there are several") {
    const DevicePlan plan = plan_device({on_node(h100(), 1)}, {}, two_sockets(12));
    CHECK(plan.numa_node == 1);
    CHECK(plan.copy_threads == 12);
    CHECK(says(plan,
               "host memory: copy threads and page-locked memory stay on NUMA node 1, next to the device"));
    CHECK(describe(on_node(h100(), 1), 0).numa_node == 1);
    DeviceSnapshot device = h100();
    device.pci_address = "0000:65:00.0";
    CHECK(describe(device, 0).pci_address == "0000:65:00.0");
    CHECK(describe(device, 0).numa_node == -1);
}

TEST_CASE("a backend stays nowhere on one node, on an unknown node, or where the process may not run") {
    const std::pair<int, HostFacts> rows[] = {
        {0, {8, 1, {}}},     {0, {8, 1, {{0, 8}}}},         {-1, two_sockets(4)},
        {2, two_sockets(4)}, {1, {8, 1, {{0, 8}, {1, 0}}}},
    };
    for (const auto& [node, host] : rows) {
        CAPTURE(node);
        const DevicePlan plan = plan_device({on_node(h100(), node)}, {}, host);
        CHECK(plan.numa_node == -1);
        CHECK(plan.copy_threads == 8);
        CHECK_FALSE(says(plan, "NUMA"));
    }
}

std::uint32_t threads(const DeviceSnapshot& device, HostFacts host, std::uint32_t backends,
                      const Config& config = {}) {
    host.backends = backends;
    return plan_device({device}, config, host).copy_threads;
}

TEST_CASE("backends that share one call have no more copy threads than cores") {
    CHECK(threads(h100(), {64}, 1) == 16);
    CHECK(threads(h100(), {64}, 2) == 16);
    CHECK(threads(h100(), {64}, 8) == 8);
    CHECK(threads(h100(), {15}, 2) == 7);
    CHECK(threads(h100(), {4}, 8) == 1);
    CHECK(threads(h100(), {0}, 2) == 1);
    CHECK(threads(h100(), {8}, 0) == 8);
    CHECK(threads(intel_integrated(), {64}, 2) == 4);
    CHECK(threads(lavapipe(), {2}, 2) == 1);
    CHECK(says(plan_device({h100()}, {}, {64, 8}), "copy threads: 8 (default), 8 backends share the cores"));
    CHECK_FALSE(says(plan_device({h100()}, {}, {64}), "share the cores"));
    Config config;
    config.copy_threads = 10;
    CHECK(threads(h100(), {4}, 8, config) == 10);
}

TEST_CASE("backends on one node share its cores, the others those of the machine") {
    const std::vector<DeviceSnapshot> devices{on_node(h100(), 0), on_node(h100(), 1), on_node(h100(), 1),
                                              on_node(h100(), 1), lavapipe()};
    const HostFacts host = share_host(two_sockets(15), devices, {0, 1, 2, 3, 4});
    CHECK(host.backends == 5);
    CHECK(host.nodes[0].backends == 1);
    CHECK(host.nodes[1].backends == 3);
    Config config;
    const std::uint32_t wanted[] = {15, 5, 5, 5, 4};
    for (std::uint32_t i = 0; i < devices.size(); ++i) {
        CAPTURE(i);
        config.device = std::to_string(i);
        CHECK(plan_device(devices, config, host).copy_threads == wanted[i]);
    }
    // A device that is named twice has two backends, and one that is not named has none.
    const HostFacts twice = share_host(two_sockets(8), devices, {0, 0, 1});
    CHECK(twice.nodes[0].backends == 2);
    CHECK(twice.nodes[1].backends == 1);
    CHECK(share_host(two_sockets(8), devices, {0}).nodes[1].backends == 0);
}

TEST_CASE("a stored number of copy threads is that of a backend alone") {
    const auto tuned = [](std::uint32_t cores, std::uint32_t backends, const Config& config = {}) {
        return plan_device({h100()}, config, {cores, backends},
                           [](const DeviceSnapshot&) {
                               return weft::tune::EngineReport{"used", "file", {.copy_threads = 12}};
                           })
            .copy_threads;
    };
    CHECK(tuned(4, 1) == 12);
    CHECK(tuned(64, 4) == 12);
    CHECK(tuned(16, 4) == 4);
    Config config;
    config.copy_threads = 10;
    CHECK(tuned(16, 4, config) == 10);
}

}  // namespace
