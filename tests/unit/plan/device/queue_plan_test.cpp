// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>
#include <weft/error.hpp>

#include "plan/device/device_plan.hpp"
#include "support/snapshots.hpp"

namespace {

using weft::DeviceType;
using weft::QueueMode;
using namespace weft::core;
using namespace weft::test;

using Families = std::vector<QueueFamilySnapshot>;
using Indices = std::vector<std::uint32_t>;

DeviceSnapshot card(const Families& families) {
    DeviceSnapshot device = amd_full_bar();
    device.families = families;
    return device;
}

struct Row {
    const char* what;
    Families families;
    QueueSlot upload, compute, download;
    bool split;
    Indices unique_families;
    const char* reason;  // part of it
};

void check_plan(const QueuePlan& plan, const Row& row) {
    CAPTURE(std::string(row.what));
    CAPTURE(plan.reason);
    CHECK(plan.of(QueueRole::upload) == row.upload);
    CHECK(plan.of(QueueRole::compute) == row.compute);
    CHECK(plan.of(QueueRole::download) == row.download);
    CHECK(plan.split == row.split);
    CHECK(plan.families == row.unique_families);
    CHECK(plan.reason.find(row.reason) != std::string::npos);
    for (const QueueSlot& slot : plan.slots) {
        REQUIRE(slot.family < row.families.size());
        CHECK(slot.queue < row.families[slot.family].count);
    }
}

// clang-format off
const Row kDiscrete[] = {
    {"H100", h100().families, {1, 0}, {2, 0}, {1, 1}, true, {1, 2}, "2 queues, one for uploads and one for downloads"},
    {"AMD", amd_full_bar().families, {2, 0}, {1, 0}, {2, 1}, true, {1, 2}, "family 2 is for transfers only and has 2"},
    {"two dedicated queues come before one", {family(1, "gct"), family(1, "t"), family(2, "t")},
     {2, 0}, {0, 0}, {2, 1}, true, {0, 2}, "family 2 is for transfers only"},
    {"two video queues do not come before one dedicated", {family(1, "gct"), family(7, "tv"), family(1, "t")},
     {2, 0}, {0, 0}, {1, 0}, true, {0, 1, 2}, "downloads use family 1, the only other one"},
    {"two families of one queue", {family(4, "gct"), family(1, "t"), family(1, "t")},
     {1, 0}, {0, 0}, {2, 0}, true, {0, 1, 2}, "downloads use family 2, for transfers only too"},
    {"a spare compute queue comes before optical flow", {family(4, "gct"), family(1, "t"), family(1, "to")},
     {1, 0}, {0, 0}, {0, 1}, true, {0, 1}, "a spare queue of the compute family 0"},
    {"optical flow where nothing else is left", {family(1, "gct"), family(1, "t"), family(1, "to")},
     {1, 0}, {0, 0}, {2, 0}, true, {0, 1, 2}, "downloads use family 2, the only other one"},
    {"one transfer queue for both directions", {family(1, "gct"), family(1, "t")},
     {1, 0}, {0, 0}, {1, 0}, true, {0, 1}, "downloads use it too"},
    {"only video families transfer", {family(1, "gct"), family(1, "to"), family(7, "tv")},
     {2, 0}, {0, 0}, {2, 1}, true, {0, 2}, "family 2 is for transfers only and has 7"},
    {"only one video queue transfers", {family(1, "gct"), family(1, "tv")},
     {1, 0}, {0, 0}, {1, 0}, true, {0, 1}, "downloads use it too"},
    {"a transfer family without queues does not count", {family(1, "gct"), family(0, "t")},
     {0, 0}, {0, 0}, {0, 0}, false, {0}, "has 1 queue, which does everything"},
    {"sparse alone is no transfer family", {family(1, "gct"), family(2, "s")},
     {0, 0}, {0, 0}, {0, 0}, false, {0}, "1 queue, which does everything"},
    {"three compute queues, no transfer bit", {family(3, "gc")},
     {0, 1}, {0, 0}, {0, 2}, true, {0}, "3 queues, one for each stage"},
    {"two compute queues", {family(2, "gct")},
     {0, 1}, {0, 0}, {0, 0}, true, {0}, "one for uploads, one for kernels and downloads"},
    {"one queue", {family(1, "gct")},
     {0, 0}, {0, 0}, {0, 0}, false, {0}, "1 queue, which does everything"},
    {"compute without graphics comes first", {family(8, "gct"), family(4, "ct")},
     {1, 1}, {1, 0}, {1, 2}, true, {1}, "compute family 1"},
    {"a family with video is not used for compute if there is another", {family(8, "gct"), family(4, "ctv"), family(3, "c")},
     {2, 1}, {2, 0}, {2, 2}, true, {2}, "compute family 2"},
    {"compute with video if no other family is without graphics", {family(1, "gct"), family(1, "ctv")},
     {1, 0}, {1, 0}, {1, 0}, false, {1}, "compute family 1"},
    {"a compute family without queues does not count", {family(0, "ct"), family(1, "gct")},
     {1, 0}, {1, 0}, {1, 0}, false, {1}, "compute family 1"},
};
// clang-format on

TEST_CASE("automatic queues of discrete cards") {
    for (const Row& row : kDiscrete) check_plan(plan_queues(card(row.families), QueueMode::automatic), row);
}

TEST_CASE("split keeps the automatic slots and always submits separately") {
    for (Row row : kDiscrete) {
        row.split = true;
        const QueuePlan plan = plan_queues(card(row.families), QueueMode::split);
        check_plan(plan, row);
        CHECK(plan.reason.find("asked for by queues=split") != std::string::npos);
    }
}

TEST_CASE("single puts everything on the compute queue") {
    for (Row row : kDiscrete) {
        row.upload = row.download = row.compute;
        row.split = false;
        row.unique_families = {row.compute.family};
        row.reason = "asked for by queues=single";
        check_plan(plan_queues(card(row.families), QueueMode::single), row);
    }
}

TEST_CASE("unified memory: one queue unless split is requested") {
    const Families many = {family(1, "gct"), family(4, "ct"), family(2, "t")};
    for (const DeviceSnapshot& base : {intel_integrated(), lavapipe()}) {
        DeviceSnapshot device = base;
        device.families = many;
        check_plan(plan_queues(device, QueueMode::automatic),
                   {"automatic", many, {1, 0}, {1, 0}, {1, 0}, false, {1}, "shares the device's memory"});
        check_plan(plan_queues(device, QueueMode::split),
                   {"split", many, {2, 0}, {1, 0}, {2, 1}, true, {1, 2}, "one for downloads"});
    }
    const Families one = lavapipe().families;
    check_plan(plan_queues(lavapipe(), QueueMode::split),
               {"one queue, split", one, {0, 0}, {0, 0}, {0, 0}, true, {0}, "queues=split"});
}

TEST_CASE("the snapshot that omits the transfer bit uses its compute queues for copies") {
    const DeviceSnapshot device = without_transfer_bit();
    check_plan(plan_queues(device, QueueMode::automatic),
               {"omitted", device.families, {0, 1}, {0, 0}, {0, 2}, true, {0}, "4 queues"});
    CHECK(describe(device, 0).queue_families[0].transfer);
}

TEST_CASE("no compute family is an error that names the device") {
    const DeviceSnapshot device = card({family(1, "gt"), family(2, "t")});
    CHECK_THROWS_WITH_AS(plan_queues(device, QueueMode::automatic),
                         "Backend: no compute queue on AMD Radeon RX 6800 (RADV NAVI21) (got 2 families, "
                         "need one)",
                         weft::Error);
}

}  // namespace
