// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "plan/device/device_plan.hpp"
#include "plan/device/tuning_file.hpp"
#include "plan/work/bundle.hpp"
#include "support/snapshots.hpp"

using namespace weft;
using namespace weft::core;
using namespace weft::test;

namespace {

TuningIdentity identity() {
    TuningIdentity id;
    id.device.fill(0xab);
    id.driver.fill(0x12);
    id.driver_version = 77;
    id.weft = "0.1.0";
    return id;
}

tune::Engine full() {
    return {.chunk_bytes = 1u << 25,
            .ring_slots = 6,
            .copy_threads = 8,
            .page_locked_path = Path::host,
            .ordinary_path = Path::imported,
            .ntt_tile_bytes = 8192};
}

std::string refusal(const TuningIdentity& id, const std::string& text) {
    const DecodedTuning decoded = decode_tuning(id, text);
    CHECK(decoded.tuning.empty());
    return decoded.refused;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), by);
}

DevicePlan planned(const DeviceSnapshot& device, const Config& config, const tune::Engine& tuning) {
    return plan_device({device}, config, HostFacts{16}, [&](const DeviceSnapshot&) {
        return tune::EngineReport{"used", "file", tuning};
    });
}

}  // namespace

TEST_CASE("a tuning is read back unchanged") {
    for (const tune::Engine& tuning : {full(), tune::Engine{}, tune::Engine{.ring_slots = 1},
                                       tune::Engine{.ordinary_path = Path::direct}}) {
        const DecodedTuning decoded = decode_tuning(identity(), encode_tuning(identity(), tuning));
        CHECK(decoded.refused == "");
        CHECK(decoded.tuning == tuning);
    }
    CHECK(tuning_file_name(identity()) == "tuning-abababababababababababababababab.json");
}

TEST_CASE("a tuning of another device, driver or version is a miss") {
    const std::string text = encode_tuning(identity(), full());
    TuningIdentity other = identity();
    other.device[15] = 0;
    CHECK(refusal(other, text) == "belongs to another device");
    other = identity();
    other.driver_version = 78;
    CHECK(refusal(other, text) == "belongs to another driver");
    other = identity();
    other.driver[0] = 0;
    CHECK(refusal(other, text) == "belongs to another driver");
    other = identity();
    other.weft = "0.2.0";
    CHECK(refusal(other, text) == "of another version of weft");
    CHECK(refusal(identity(), replaced(text, "\"schema\": 1", "\"schema\": 2")) == "of another schema");
}

TEST_CASE("contents that weft does not write count as damaged") {
    const std::string text = encode_tuning(identity(), full());
    for (std::size_t length = 0; length + 1 < text.size(); ++length) {
        const std::string refused = refusal(identity(), text.substr(0, length));
        CAPTURE(length);
        CHECK(refused == "damaged: not what weft writes");
    }
    struct Row {
        const char *what, *by, *refused;
    };
    const Row rows[] = {
        {"\"ring_slots\": 6", "\"ring_slots\": 17",
         "damaged: ring_slots is out of range (got 17, need 1 to 16)"},
        {"\"ring_slots\": 6", "\"ring_slots\": 0",
         "damaged: ring_slots is out of range (got 0, need 1 to 16)"},
        {"\"ring_slots\": 6", "\"ring_slots\": 99999999999", "damaged: a member that weft does not write"},
        {"\"ring_slots\": 6", "\"ring_slots\": \"6\"", "damaged: a member that weft does not write"},
        {"\"ring_slots\": 6", "\"ring_slots\": -6", "damaged: not what weft writes"},
        {"\"ring_slots\": 6", "\"ring_slots\": 6, \"ring_slots\": 6", "damaged: not what weft writes"},
        {"\"ring_slots\": 6", "\"ring_sl\\u006fts\": 6", "damaged: not what weft writes"},
        {"\"ring_slots\": 6", "\"colour\": 6", "damaged: a member that weft does not write"},
        {"\"host\"", "\"ghost\"", "damaged: a member that weft does not write"},
        {"\"copy_threads\": 8", "\"copy_threads\": 257",
         "damaged: copy_threads is out of range (got 257, need 1 to 256)"},
        {"\"chunk_bytes\": 33554432", "\"chunk_bytes\": 1099511627777",
         "damaged: chunk_bytes is out of range (got 1099511627777, need 1 to 2^40)"},
        {"\"ntt_tile_bytes\": 8192", "\"ntt_tile_bytes\": 1023",
         "damaged: ntt_tile_bytes is out of range (got 1023, need 1024 to 2^20)"},
        {"}", "}}", "damaged: not what weft writes"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.by);
        CHECK(refusal(identity(), replaced(text, row.what, row.by)) == row.refused);
    }
    CHECK(refusal(identity(), std::string(kMaxTuningBytes + 1, ' ')) == "damaged: too long for a tuning");
}

TEST_CASE("config wins over tuning, and tuning over the default") {
    const DeviceSnapshot device = h100();
    const DevicePlan plain = plan_device({device}, {}, HostFacts{16});
    const DevicePlan tuned = planned(device, {}, full());
    CHECK(tuned.ring_slots == 6);
    CHECK(tuned.copy_threads == 8);
    CHECK(tuned.chunk_bytes == 1u << 25);
    CHECK(tuned.transfer.large_pinned == Path::host);
    CHECK(tuned.transfer.large_ordinary == Path::imported);
    CHECK(tuned.transfer.small == plain.transfer.small);
    CHECK(tuned.tuning.state == "used");
    CHECK(std::count(tuned.reasons.begin(), tuned.reasons.end(),
                     "tiles of transforms: 8192 bytes, as stored by weft tune ntt") == 1);

    Config config;
    config.ring_slots = 2;
    config.copy_threads = 3;
    config.chunk_elements = 1000;
    config.path = Path::staged;
    const DevicePlan asked = planned(device, config, full());
    CHECK(asked.ring_slots == 2);
    CHECK(asked.copy_threads == 3);
    CHECK(asked.chunk_bytes == 0);
    CHECK(asked.chunk_elements == 1000);
    CHECK(asked.transfer.large_pinned == Path::staged);
    CHECK(asked.transfer.large_ordinary == Path::staged);

    Config staged;
    staged.device_local = true;
    CHECK(planned(device, staged, full()).transfer.large_ordinary == Path::staged);

    const DevicePlan nothing = planned(device, {}, {});
    CHECK(nothing.ring_slots == plain.ring_slots);
    CHECK(nothing.copy_threads == plain.copy_threads);
    CHECK(nothing.transfer.large_ordinary == plain.transfer.large_ordinary);
}

TEST_CASE("a tuned path that the device cannot take is left out") {
    DeviceSnapshot device = h100();
    device.external_memory_host = false;
    const DevicePlan plan = planned(device, {}, full());
    CHECK(plan.transfer.large_ordinary == plan_device({device}, {}, HostFacts{16}).transfer.large_ordinary);
    CHECK(plan.transfer.large_pinned == Path::host);
}

TEST_CASE("chunks are cut by tuned bytes for every size of element, unless elements were requested") {
    DeviceSnapshot device = h100();
    device.limits.max_workgroup_count[0] = 0x7fffffff;
    const DevicePlan plan = planned(device, {}, {.chunk_bytes = 48000});
    const Job job{.inputs = {{reinterpret_cast<void*>(4096), 96000}},
                  .outputs = {{reinterpret_cast<void*>(1 << 20), 48000}},
                  .elements = 1000};
    ProgramNeeds needs;
    needs.elements_per_workgroup = 64;
    const auto chunk = [&](const BatchOptions& options) {
        return chunk_limit(needs, device.limits, settle_options(plan, device, options, 144000), job, true);
    };
    CHECK(chunk({}) == 333);  // 48000 / 144
    CHECK(chunk({.chunk_elements = 10}) == 10);
    CHECK(chunk({.mode = BatchMode::sequential}) == 333);
}
