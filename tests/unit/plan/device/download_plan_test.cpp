// SPDX-License-Identifier: Apache-2.0
// When downloads beside uploads are left to a copy shader, and at which pace.
#include <doctest/doctest.h>

#include <string>

#include "plan/device/device_plan.hpp"
#include "plan/device/download_plan.hpp"

namespace {

using namespace weft::core;

// GB/s of an H100 with Vulkan's host memory: the engine's downloads starve uploads, four workgroups do not,
// six are worse than four.
DuplexCalibration cached_host_memory() {
    return {48.8, 50.7, {0, 18, 46}, {{2, 46, 18}, {3, 45, 27}, {4, 44, 36}, {5, 30, 42}, {6, 20, 47}}};
}

// Uploads and downloads by the engine do not disturb each other.
DuplexCalibration undisturbed() {
    return {53, 53, {0, 49.5, 47}, {{2, 50, 18}, {4, 49, 36}}};
}

constexpr std::uint64_t kMiB = 1u << 20;

}  // namespace

TEST_CASE("downloads: who may make them, by vendor, queues and wish") {
    struct Case {
        weft::DownloadBy asked;
        std::uint32_t vendor;
        bool two_queues, split, shader, always;
        const char* part;
    };
    constexpr std::uint32_t kNvidia = 0x10de, kAmd = 0x1002;
    using weft::DownloadBy;
    for (const Case& c : {Case{DownloadBy::automatic, kNvidia, true, true, true, false, "measured"},
                          Case{DownloadBy::automatic, kAmd, true, true, false, false, "not an NVIDIA GPU"},
                          Case{DownloadBy::automatic, kNvidia, false, true, false, false, "both ways"},
                          Case{DownloadBy::automatic, kNvidia, true, false, false, false, "both ways"},
                          Case{DownloadBy::engine, kNvidia, true, true, false, false, "asked for"},
                          Case{DownloadBy::shader, kAmd, false, false, true, true, "asked for"}}) {
        CAPTURE(std::string(c.part));
        DeviceSnapshot device;
        device.vendor_id = c.vendor;
        QueuePlan queues;
        queues.slots = {QueueSlot{1, 0}, QueueSlot{0, 0}, QueueSlot{1, c.two_queues ? 1u : 0u}};
        queues.split = c.split;
        weft::Config config;
        config.downloads = c.asked;
        const DownloadPlan plan = plan_downloads(device, queues, config);
        CHECK(plan.shader == c.shader);
        CHECK(plan.asked == c.always);
        CHECK(plan.reason.find(c.part) != std::string::npos);
    }
}

TEST_CASE("downloads: seconds for both directions, then for what is left of one") {
    const DuplexCalibration rates = cached_host_memory();
    // 96 in and 48 out: the download ends after 48 / 46, 18 of the uploads a second done by then.
    CHECK(duplex_seconds(rates, rates.engine, 96, 48) ==
          doctest::Approx(48 / 46.0 + (96 - 18 * 48 / 46.0) / 48.8));
    CHECK(duplex_seconds(rates, rates.shader[2], 96, 48) ==
          doctest::Approx(48 / 36.0 + (96 - 44 * 48 / 36.0) / 48.8));
    // Downloads are left: the engine speeds up, the shader does not.
    CHECK(duplex_seconds(rates, rates.engine, 18, 92) == doctest::Approx(1 + 46 / 50.7));
    CHECK(duplex_seconds(rates, rates.shader[2], 44, 72) == doctest::Approx(2));
    CHECK(duplex_seconds({}, {}, 1, 1) >= 1);  // nothing was measured: finite
}

TEST_CASE("downloads: the pace by the proportion of both directions") {
    const DuplexCalibration rates = cached_host_memory();
    CHECK(choose_pace(rates, 96 * kMiB, 48 * kMiB, false) == 4);
    CHECK(choose_pace(rates, 48 * kMiB, 48 * kMiB, false) == 4);
    // Almost all of it goes one way: the engine is faster alone.
    CHECK(choose_pace(rates, kMiB, 48 * kMiB, false) == 0);
    CHECK(choose_pace(rates, kMiB, 48 * kMiB, true) != 0);
    // Little comes back: fewer workgroups leave the uploads more, but not clearly so.
    CHECK(choose_pace(rates, 48 * kMiB, kMiB, false) == 0);
    CHECK(choose_pace(undisturbed(), 96 * kMiB, 48 * kMiB, false) == 0);
    CHECK(choose_pace(undisturbed(), 96 * kMiB, 48 * kMiB, true) == 4);
    CHECK(choose_pace({}, 96 * kMiB, 48 * kMiB, true) == 0);
}

TEST_CASE("downloads: a calibration ends where more workgroups are slower") {
    CHECK(try_more({}));
    CHECK(try_more({{2, 46, 18}}));
    CHECK(try_more({{2, 46, 18}, {3, 45, 27}, {4, 44, 36}, {5, 30, 42}}));  // 0.9 of the best
    CHECK_FALSE(try_more({{2, 46, 18}, {3, 45, 27}, {4, 44, 36}, {6, 20, 47}}));
}
