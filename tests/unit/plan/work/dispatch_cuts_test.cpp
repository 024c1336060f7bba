// SPDX-License-Identifier: Apache-2.0
// How long dispatches are cut, on snapshots of devices whose true speed the test knows.
#include "plan/work/dispatch_cuts.hpp"

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "support/snapshots.hpp"

using namespace weft::core;

namespace {

constexpr std::uint32_t kDefaultMs = 250;
constexpr double kResetSeconds = 2;  // amdgpu

/// A device that takes `seconds_of_each` for a workgroup, and runs `together` of them simultaneously.
struct Device {
    DeviceSnapshot snapshot;
    double seconds_of_each = 0;
    std::uint64_t together = 1;
    double seconds(std::uint64_t workgroups) const {
        const std::uint64_t waves = (workgroups + together - 1) / together;
        return seconds_of_each * static_cast<double>(waves);
    }
};

struct Run {
    std::vector<double> seconds;  // of each part
    std::size_t measured = 0;
    double longest() const { return *std::max_element(seconds.begin(), seconds.end()); }
};

/// What a stream does with a dispatch, with the device's time instead of a clock.
Run run(const Device& device, WorkgroupGrid grid, double work, DispatchPace& pace,
        std::uint32_t ms = kDefaultMs) {
    const DispatchBudget budget = dispatch_budget(device.snapshot, ms);
    const std::uint64_t all = std::uint64_t{grid.x} * grid.y;
    Run result;
    if (expected_seconds(work, pace, budget) <= budget.seconds) {
        result.seconds.push_back(device.seconds(all));
        return result;
    }
    const double each = work / static_cast<double>(all);
    for (std::uint64_t first = 0; first < all;) {
        const WorkgroupPart part = part_at(grid, first, workgroups_within(all - first, each, pace, budget));
        REQUIRE(part.count() >= 1);
        const double amount = each * static_cast<double>(part.count()), took = device.seconds(part.count());
        result.seconds.push_back(took);
        if (worth_measuring(amount, pace)) {
            pace = measured_pace(pace, amount, took);
            ++result.measured;
        }
        first += part.count();
    }
    return result;
}

DeviceSnapshot amd_integrated() {
    DeviceSnapshot device = weft::test::intel_integrated();
    device.name = "AMD Radeon 780M";
    device.vendor_id = 0x1002;
    return device;
}

constexpr WorkgroupGrid kTiles{16384, 1};
constexpr double kGibibyte = 1u << 30;

}  // namespace

TEST_CASE("a fast GPU cuts nothing: no part, no measurement") {
    const Device h100{weft::test::h100(), 40e-6, 4 * 132};
    DispatchPace pace;
    for (const double work : {1.0, 1e6, kGibibyte / 4}) {
        const Run whole = run(h100, kTiles, work, pace);
        CHECK(whole.seconds.size() == 1);
        CHECK(pace == DispatchPace{});
    }
}

TEST_CASE("a fast GPU cuts its first large dispatch once, to learn that it need not") {
    const Device h100{weft::test::h100(), 40e-6, 4 * 132};
    DispatchPace pace;
    const Run first = run(h100, kTiles, 16 * kGibibyte, pace);
    CHECK(first.seconds.size() <= 4);
    CHECK(first.measured >= 1);
    const Run second = run(h100, kTiles, 16 * kGibibyte, pace);
    CHECK(second.seconds.size() == 1);
    CHECK(second.measured == 0);
}

TEST_CASE("a slow integrated GPU of amdgpu: no part comes near the reset, later ones keep the budget") {
    // 6 s in one dispatch.
    const Device slow{amd_integrated(), 6.0 / 16384 * 64, 64};
    CHECK(slow.seconds(16384) > kResetSeconds);
    DispatchPace pace;
    const Run first = run(slow, kTiles, kGibibyte, pace);
    CHECK(first.longest() < kResetSeconds / 2);
    CHECK(first.seconds.size() >= 24);
    for (int again = 0; again < 3; ++again) {
        const Run later = run(slow, kTiles, kGibibyte, pace);
        CHECK(later.longest() <= 0.26);
        CHECK(later.seconds.size() >= 24);
        CHECK(later.seconds.size() <= 40);
        CHECK(later.measured == 0);
    }
    // Half of the work with the same program fits half as many parts.
    const Run half = run(slow, {8192, 1}, kGibibyte / 2, pace);
    CHECK(half.longest() <= 0.26);
}

TEST_CASE("the budget is that of the setting") {
    const Device slow{amd_integrated(), 6.0 / 16384 * 64, 64};
    for (const std::uint32_t ms : {20u, 100u, 1000u}) {
        CAPTURE(ms);
        DispatchPace pace;
        run(slow, kTiles, kGibibyte, pace, ms);
        const Run later = run(slow, kTiles, kGibibyte, pace, ms);
        CHECK(later.longest() <= 1e-3 * ms + slow.seconds_of_each);
    }
    DispatchPace pace{1, 1, 3};
    const Device any{weft::test::lavapipe(), 1, 1};
    CHECK(run(any, {8, 1}, 8, pace, 0xffffffffu).seconds.size() == 1);
}

TEST_CASE("a workgroup is never cut") {
    const Device stuck{weft::test::lavapipe(), 5, 1};
    DispatchPace pace;
    const Run alone = run(stuck, {3, 1}, kGibibyte, pace);
    CHECK(alone.seconds == std::vector<double>{5, 5, 5});
}

TEST_CASE("the first part is smaller on slower kinds of devices") {
    const auto first_part = [](const DeviceSnapshot& device) {
        return workgroups_within(16384, 4 * kGibibyte / 16384, {}, dispatch_budget(device, kDefaultMs));
    };
    const std::uint64_t fast = first_part(weft::test::h100()),
                        integrated = first_part(weft::test::intel_integrated()),
                        software = first_part(weft::test::lavapipe());
    CHECK(fast == 1907);
    CHECK(integrated == 190);
    CHECK(software == 47);
    CHECK(first_part(weft::test::amd_small_bar()) == fast);
}

TEST_CASE("work: operations where they are known, else bytes") {
    CHECK(dispatch_work(0, 100, 4096) == 4096);
    CHECK(dispatch_work(1280, 100, 4096) == 1000);
}

TEST_CASE("three samples are taken, the fastest counts, and larger ones replace smaller ones") {
    CHECK(worth_measuring(1, {}));
    CHECK(worth_measuring(1, {0.5, 0, 0}));  // found to be slow, not measured
    // The driver compiles during the first part.
    DispatchPace pace = measured_pace({}, 1000, 0.5);
    CHECK(pace.seconds == doctest::Approx(5e-4).epsilon(0.001));
    CHECK(worth_measuring(1000, pace));
    pace = measured_pace(pace, 1000, 20e-6);
    CHECK(pace.seconds == doctest::Approx(10e-9));  // at most half is overhead
    CHECK(worth_measuring(1000, pace));
    pace = measured_pace(pace, 900, 0.1);
    CHECK(pace.seconds == doctest::Approx(10e-9));
    CHECK(pace.sample == 1000);
    CHECK_FALSE(worth_measuring(4000, pace));
    CHECK(worth_measuring(4001, pace));
    // A far larger sample counts even if it is slower; a far smaller one only if it is faster.
    const DispatchPace large = measured_pace(pace, 1e6, 1);
    CHECK(large.seconds == doctest::Approx(1e-6).epsilon(0.001));
    CHECK(measured_pace(large, 1000, 1) == large);
    CHECK(measured_pace(large, 1000, 200e-6).seconds == doctest::Approx(150e-9));
    CHECK(measured_pace({}, 0, 0).seconds > 0);
}

TEST_CASE("long waits make a program slower, and what follows corrects it") {
    const DispatchBudget budget{0.25, 1e-9};
    CHECK_FALSE(is_long_wait(0.9, budget));
    CHECK(is_long_wait(1.1, budget));
    const DispatchPace slow = slower_pace({}, 1000, 2);
    CHECK(slow == DispatchPace{2e-3, 0, 0});
    CHECK(slower_pace({1, 7, 3}, 1000, 2) == DispatchPace{1, 7, 3});
    CHECK(faster_pace(slow, 500, 0.5) == DispatchPace{1e-3, 0, 0});
    CHECK(faster_pace(slow, 500, 50) == slow);
    CHECK(faster_pace({}, 500, 0.5) == DispatchPace{});
    CHECK(faster_pace({2, 7, 3}, 500, 0.5) == DispatchPace{2, 7, 3});
}

TEST_CASE("chunks: all elements until something is known, then a power of two that fits") {
    const DispatchBudget budget{0.25, 1};
    CHECK(elements_within(1000000, 8, {}, budget) == 1000000);
    CHECK(elements_within(1000, 8, {1e-6, 0, 0}, budget) == 1000);
    CHECK(elements_within(1000000, 8, {1e-6, 0, 0}, budget) == 16384);  // 31,250 fit
    CHECK(elements_within(1000000, 8, {1, 0, 0}, budget) == 1);
}

TEST_CASE("parts cover a grid exactly, as rectangles") {
    for (const WorkgroupGrid grid : {WorkgroupGrid{1, 1}, WorkgroupGrid{7, 1}, WorkgroupGrid{7, 5}})
        for (std::uint64_t most = 0; most <= 40; ++most) {
            std::vector<int> seen(std::size_t{grid.x} * grid.y);
            for (std::uint64_t first = 0; first < seen.size();) {
                const WorkgroupPart part = part_at(grid, first, most);
                REQUIRE(part.count() >= 1);
                CHECK(part.count() <= std::max<std::uint64_t>(most, 1));
                CHECK((part.rows == 1 || part.columns == grid.x));
                for (std::uint32_t y = part.y; y < part.y + part.rows; ++y)
                    for (std::uint32_t x = part.x; x < part.x + part.columns; ++x)
                        ++seen.at(std::size_t{y} * grid.x + x);
                first += part.count();
            }
            CHECK(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
        }
    CHECK(part_at({7, 5}, 7, 20) == WorkgroupPart{0, 1, 7, 2});
    CHECK(part_at({7, 5}, 9, 20) == WorkgroupPart{2, 1, 5, 1});
}
