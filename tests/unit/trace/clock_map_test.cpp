// SPDX-License-Identifier: Apache-2.0
// The clock map with known numbers; expected values are computed with integers.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>

#include <doctest/doctest.h>

#include "trace/clock_map.hpp"

namespace {

using weft::core::calibrate;
using weft::core::ClockMap;
using weft::core::ClockSample;
using weft::core::QueueCalibration;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kDay = 86'400 * kSecond;

std::uint64_t wrapped(std::uint64_t ticks, std::uint32_t bits) {
    return bits == 64 ? ticks : ticks & ((std::uint64_t{1} << bits) - 1);
}

TEST_CASE("ticks become host time by the period, before and after the calibration") {
    ClockMap map(52.5, 64);
    CHECK_FALSE(map.calibrated());
    map.add({1000, 5'000'000, 0});
    CHECK(map.calibrated());
    CHECK(map.host_ns(1000, kSecond) == 5'000'000);
    CHECK(map.host_ns(1200, kSecond) == 5'000'000 + 10'500);
    CHECK(map.host_ns(800, kSecond) == 5'000'000 - 10'500);
}

TEST_CASE("a counter that wraps between calibration and timestamp, at every width") {
    for (const std::uint32_t bits : {32u, 36u, 64u}) {
        CAPTURE(bits);
        ClockMap map(1, bits);
        const std::uint64_t just_before = wrapped(~std::uint64_t{0} - 99, bits);  // 100 ticks before the wrap
        map.add({just_before, 10 * kSecond, 0});
        CHECK(map.host_ns(wrapped(just_before + 99, bits), 11 * kSecond) == 10 * kSecond + 99);
        CHECK(map.host_ns(0, 11 * kSecond) == 10 * kSecond + 100);
        CHECK(map.host_ns(900, 11 * kSecond) == 10 * kSecond + 1000);
        CHECK(map.host_ns(just_before - 50, 11 * kSecond) == 10 * kSecond - 50);
    }
}

TEST_CASE("a counter of 32 bits that wraps twenty thousand times in a day without calibration") {
    ClockMap map(1, 32);
    map.add({7, 100 * kSecond, 0});
    for (const std::int64_t passed : {kSecond, 3 * kSecond, 5 * kSecond, 3600 * kSecond, kDay}) {
        CAPTURE(passed);
        const std::uint64_t begin = wrapped(7 + static_cast<std::uint64_t>(passed), 32);
        const std::uint64_t end = wrapped(7 + static_cast<std::uint64_t>(passed + kSecond), 32);
        // Read 1.5 s after the first of the two, which is more than a third of the counter's range.
        const std::int64_t read = 100 * kSecond + passed + 3 * kSecond / 2;
        CHECK(map.host_ns(begin, read) == 100 * kSecond + passed);
        CHECK(map.host_ns(end, read) == 100 * kSecond + passed + kSecond);
    }
}

TEST_CASE("a day of a counter at 19.2 MHz is exact to the nanosecond") {
    // As a float the period is 52.083332061767578125 ns; a day has 86400 * 19'200'000 ticks.
    const double period = 52.083332061767578125;
    const std::int64_t ticks = 86'400ll * 19'200'000;
    ClockMap map(period, 64);
    map.add({5, kSecond, 0});
    CHECK(map.host_ns(5 + static_cast<std::uint64_t>(ticks), 2 * kDay) == kSecond + 86'399'997'890'625);
    CHECK(map.host_ns(5 + static_cast<std::uint64_t>(ticks) + 1, 2 * kDay) == kSecond + 86'399'997'890'677);
}

TEST_CASE(
    "drift is measured: calibrated each second, a clock that is 40 ppm fast stays within a microsecond") {
    ClockMap map(1, 64);
    const auto ticks_at = [](std::int64_t ns) { return static_cast<std::uint64_t>(ns + ns / 25'000); };
    std::int64_t worst = 0, last = 0;
    for (std::int64_t second = 0; second < 600; ++second) {
        map.add({ticks_at(second * kSecond), second * kSecond, 100});
        for (std::int64_t part = 1; part <= 10; ++part) {
            const std::int64_t now = second * kSecond + part * kSecond / 10 - 1;
            const std::int64_t got = map.host_ns(ticks_at(now), now);
            CHECK(got > last);  // never backwards, whichever calibrations came in between
            last = got;
            if (second >= 3) worst = std::max(worst, std::abs(got - now));
        }
    }
    CHECK(worst <= 1000);
    // If the rate were not measured, the last event would be 24 ms off.
    ClockMap blind(1, 64);
    blind.add({0, 0, 100});
    CHECK(blind.host_ns(ticks_at(600 * kSecond), 601 * kSecond) == 600 * kSecond + 24'000'000);
}

TEST_CASE("events on both sides of a calibration keep their order and their distance") {
    ClockMap map(1, 64);
    map.add({0, 0, 0});
    map.add({kSecond, kSecond - 2000, 0});  // the counter ran 2 us ahead
    const std::int64_t before = map.host_ns(kSecond - 10, 2 * kSecond);
    const std::int64_t after = map.host_ns(kSecond + 10, 2 * kSecond);
    CHECK(after - before == 20);
    // After two seconds the error is corrected.
    CHECK(std::abs(map.host_ns(3 * kSecond, 4 * kSecond) - (3 * kSecond - 6000)) <= 1);
}

TEST_CASE("for any calibrations of a driver, an interval is as long as its ticks within two per cent") {
    std::mt19937_64 random(5);
    for (const std::int64_t wild : {std::int64_t{100}, std::int64_t{4'000'000}, 3 * kSecond}) {
        CAPTURE(wild);
        std::uniform_int_distribution<std::int64_t> off(-wild, wild), pause(1'000'000, 2 * kSecond);
        ClockMap map(1, 64);
        std::int64_t now = kSecond;
        for (int i = 0; i < 500; ++i, now += pause(random)) {
            map.add({static_cast<std::uint64_t>(now), now + off(random), 0});
            // Timestamps are read after a calibration and up to the next one.
            for (const std::int64_t length : {20'000, 1'000'000, 400'000'000}) {
                const std::int64_t end = now + 1000 + length,
                                   to = map.host_ns(static_cast<std::uint64_t>(end), end + 2 * wild),
                                   from = map.host_ns(static_cast<std::uint64_t>(end - length), to);
                CHECK(std::abs(to - from - length) <= length / 50 + 2);
            }
        }
    }
}

TEST_CASE("after a machine slept and the counter stood still, the map steps") {
    ClockMap map(1, 36);
    map.add({500, kSecond, 0});
    map.add({1500, 61 * kSecond, 0});
    CHECK(map.host_ns(1600, 62 * kSecond) == 61 * kSecond + 100);
    CHECK(map.host_ns(400, 2 * kSecond) == kSecond - 100);
}

TEST_CASE("a queue with the device's clock takes the device's calibration") {
    const ClockSample device{1'000'000, 7 * kSecond, 500};
    // The probe is submitted and its end is seen 40 us later; the timestamp is in between.
    const QueueCalibration c =
        calibrate(device, {1'020'000, 7 * kSecond + 5'000, 7 * kSecond + 45'000}, 1, 64);
    CHECK(c.shares_device_clock);
    CHECK(c.offset_ns == 0);
    CHECK(c.sample.ticks == device.ticks);
    CHECK(c.sample.host_ns == device.host_ns);
}

TEST_CASE("a calibration that is off by a constant 11.85 s is detected and not used") {
    const std::int64_t offset = 11'850'000'000;
    for (const std::uint32_t bits : {32u, 36u, 64u}) {
        CAPTURE(bits);
        const ClockSample device{1'000'000, 7 * kSecond + offset, 500};
        const QueueCalibration c =
            calibrate(device, {1'020'000, 7 * kSecond + 5'000, 7 * kSecond + 45'000}, 1, bits);
        CHECK_FALSE(c.shares_device_clock);
        CHECK(c.offset_ns == offset - 5'000);  // relative to the middle of the probe
        CHECK(c.sample.ticks == 1'020'000);
        CHECK(c.sample.host_ns == 7 * kSecond + 25'000);
        CHECK(c.sample.error_ns == 20'000);
    }
}

TEST_CASE("a queue with a separate counter is calibrated by its probe") {
    const QueueCalibration c = calibrate(ClockSample{1'000'000, 7 * kSecond, 500},
                                         {99, 7 * kSecond + 5'000, 7 * kSecond + 45'000}, 1, 64);
    CHECK_FALSE(c.shares_device_clock);
    CHECK(c.sample.ticks == 99);
}

TEST_CASE("without the extension the probe calibrates") {
    const QueueCalibration c = calibrate(std::nullopt, {4242, 1000, 3001}, 1, 64);
    CHECK_FALSE(c.shares_device_clock);
    CHECK(c.sample.ticks == 4242);
    CHECK(c.sample.host_ns == 2000);
    CHECK(c.sample.error_ns == 1000);
}

TEST_CASE("a queue calibration across a wrap of 32 bits") {
    const QueueCalibration c = calibrate(ClockSample{0xffffff00u, 7 * kSecond, 10},
                                         {0x100, 7 * kSecond, 7 * kSecond + 2'000}, 1, 32);
    CHECK(c.shares_device_clock);
}

}  // namespace
