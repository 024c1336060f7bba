// SPDX-License-Identifier: Apache-2.0
// Batch settings: BatchOptions with every empty member filled in.
#include <string>

#include <doctest/doctest.h>
#include <weft/error.hpp>

#include "plan/work/batch_check.hpp"
#include "support/snapshots.hpp"

namespace {

using namespace weft::core;
using namespace weft::test;
using weft::BatchMode;
using weft::BatchOptions;
using weft::Choice;
using weft::Config;
using weft::Errc;
using weft::Path;
using weft::QueueMode;

DevicePlan plan_of(const DeviceSnapshot& device, const Config& config = {}) {
    return plan_device({device}, config, HostFacts{16});
}

BatchSettings settings_for(const DeviceSnapshot& device, const BatchOptions& options = {},
                           std::uint64_t total_bytes = kGiB, const Config& config = {}) {
    return settle_options(plan_of(device, config), device, options, total_bytes);
}

std::string refusal(const DeviceSnapshot& device, const BatchOptions& options, Errc code) {
    try {
        settings_for(device, options);
    } catch (const weft::Error& error) {
        CHECK(error.code() == code);
        return error.what();
    }
    return "accepted";
}

TEST_CASE("empty options come from the plan") {
    Config config;
    config.ring_slots = 5;
    const BatchSettings s = settings_for(h100(), {}, 12345, config);
    CHECK(s.mode == BatchMode::pipelined);
    CHECK(s.path == Path::automatic);
    CHECK(s.slots == 5);
    CHECK(s.chunk_elements == 524288);
    CHECK_FALSE(s.chunk_exact);
    CHECK(s.total_bytes == 12345);
    CHECK(s.split);
    CHECK_FALSE(settings_for(lavapipe()).split);
    config.chunk_elements = 1000;
    const BatchSettings exact = settings_for(h100(), {}, 1, config);
    CHECK(exact.chunk_exact);
    CHECK(exact.chunk_elements == 1000);
}

TEST_CASE("options that are given win over the plan") {
    Config config;
    config.ring_slots = 5;
    config.chunk_elements = 1000;
    const BatchSettings s = settings_for(
        h100(), {.path = Path::host, .queues = QueueMode::single, .chunk_elements = 7, .ring_slots = 2}, 1,
        config);
    CHECK(s.path == Path::host);
    CHECK(s.slots == 2);
    CHECK(s.chunk_elements == 7);
    CHECK(s.chunk_exact);
    CHECK_FALSE(s.split);
    CHECK(settings_for(lavapipe(), {.queues = QueueMode::split}).split);
    CHECK(settings_for(h100(), {.mode = BatchMode::sequential, .ring_slots = 4}).slots == 1);
    CHECK(settings_for(h100(), {.ring_slots = 1}).slots == 1);
    CHECK(settings_for(h100(), {.ring_slots = 16}).slots == 16);
    CHECK(settings_for(h100(), {.chunk_elements = 0xffffffffu}).chunk_elements == 0xffffffffu);
}

TEST_CASE("stage times: if requested, or from 1 MiB on, if the device has them") {
    CHECK_FALSE(settings_for(h100(), {}, kMiB - 1).stage_times);
    CHECK(settings_for(h100(), {}, kMiB).stage_times);
    CHECK(settings_for(h100(), {.stage_times = Choice::on}, 1).stage_times);
    CHECK_FALSE(settings_for(h100(), {.stage_times = Choice::off}, kGiB).stage_times);
    DeviceSnapshot device = h100();
    device.host_query_reset = false;
    CHECK_FALSE(settings_for(device, {.stage_times = Choice::on}).stage_times);
}

TEST_CASE("options out of range are refused with the given value") {
    CHECK(refusal(h100(), {.ring_slots = 17}, Errc::invalid_argument) ==
          "run_batch: BatchOptions::ring_slots out of range (got 17, need 1 to 16, or 0)");
    CHECK(refusal(h100(), {.mode = BatchMode::sequential, .ring_slots = 17}, Errc::invalid_argument) !=
          "accepted");
    CHECK(refusal(h100(), {.chunk_elements = std::uint64_t{1} << 32}, Errc::invalid_argument) ==
          "run_batch: BatchOptions::chunk_elements out of range (got 4294967296, need at most 4294967295)");
    CHECK(refusal(h100(), {.mode = static_cast<BatchMode>(2)}, Errc::invalid_argument) ==
          "run_batch: no such batch mode (got 2, need 0 to 1)");
    CHECK(refusal(h100(), {.path = static_cast<Path>(-1)}, Errc::invalid_argument) ==
          "run_batch: no such path (got -1, need 0 to 4)");
    CHECK(refusal(h100(), {.queues = static_cast<QueueMode>(3)}, Errc::invalid_argument) ==
          "run_batch: no such queue mode (got 3, need 0 to 2)");
    CHECK(refusal(h100(), {.stage_times = static_cast<Choice>(3)}, Errc::invalid_argument) ==
          "run_batch: no such stage times (got 3, need 0 to 2)");
}

TEST_CASE("a path that the device cannot take is refused by name") {
    DeviceSnapshot no_import = h100();
    no_import.external_memory_host = false;
    const std::string imported = refusal(no_import, {.path = Path::imported}, Errc::unsupported);
    CHECK(imported.find("path imported needs VK_EXT_external_memory_host") != std::string::npos);
    CHECK(imported.find(no_import.name) != std::string::npos);
    const std::string direct = refusal(amd_small_bar(), {.path = Path::direct}, Errc::unsupported);
    CHECK(direct.find("path direct needs unified memory or a full-size BAR") != std::string::npos);
    CHECK(direct.find(amd_small_bar().name) != std::string::npos);
    for (const Path path : {Path::automatic, Path::staged, Path::host, Path::imported}) {
        CHECK(refusal(amd_small_bar(), {.path = path}, Errc::unsupported) == "accepted");
        CHECK(refusal(lavapipe(), {.path = path}, Errc::unsupported) == "accepted");
    }
    for (const DeviceSnapshot& device : {h100(), amd_full_bar(), intel_integrated(), lavapipe()})
        CHECK(refusal(device, {.path = Path::direct}, Errc::unsupported) == "accepted");
}

}  // namespace
