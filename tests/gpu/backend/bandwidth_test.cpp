// SPDX-License-Identifier: Apache-2.0
// Copy ceilings are measured as requested, for every proportion of bytes in and out.
#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"

using namespace weft_test;

TEST_CASE("copy ceilings of one direction, of both, and of very different shares") {
    on_device([](weft::Backend& backend) {
        constexpr double kWindow = 0.002;
        const weft::tune::CopyCeiling up = weft::tune::measure_copy_ceiling(backend, 1000, 0, kWindow);
        CHECK(up.upload_gb_per_s > 0);
        CHECK(up.download_gb_per_s == 0);
        CHECK(up.concurrent_gb_per_s > 0);
        const weft::tune::CopyCeiling down = weft::tune::measure_copy_ceiling(backend, 0, 1, kWindow);
        CHECK(down.upload_gb_per_s == 0);
        CHECK(down.download_gb_per_s > 0);
        const weft::tune::CopyCeiling both =
            weft::tune::measure_copy_ceiling(backend, 4, std::uint64_t{1} << 40, kWindow);
        CHECK(both.upload_gb_per_s > 0);
        CHECK(both.download_gb_per_s > 0);
        CHECK(both.concurrent_gb_per_s > 0);
    });
}

TEST_CASE("copy ceilings: windows are counted, a stop ends the call, and so does a callback that throws") {
    on_device([](weft::Backend& backend) {
        std::vector<std::uint64_t> seen;
        const auto count = [&](const weft::Progress& p) {
            CHECK(p.total == 18);
            seen.push_back(p.done);
        };
        weft::tune::measure_copy_ceiling(backend, 2, 1, 0.001, count);
        CHECK(seen.size() == 18);
        CHECK(seen.back() == 18);
        std::stop_source stop;
        check_error(weft::Errc::cancelled, "measure_copy_ceiling: cancelled by its stop token (3 of 12", [&] {
            weft::tune::measure_copy_ceiling(
                backend, 2, 0, 0.001,
                [&](const weft::Progress& p) {
                    if (p.done == 3) stop.request_stop();
                },
                stop.get_token());
        });
        CHECK_THROWS_AS(
            weft::tune::measure_copy_ceiling(backend, 2, 1, 0.001, [](const weft::Progress&) { throw 7; }),
            int);
        CHECK(weft::tune::measure_copy_ceiling(backend, 0, 1, 0.001).download_gb_per_s > 0);
    });
}

TEST_CASE("copy ceilings: nothing to copy, and no time") {
    on_device([](weft::Backend& backend) {
        check_error(weft::Errc::invalid_argument, "nothing to copy (got 0 bytes each way)",
                    [&] { weft::tune::measure_copy_ceiling(backend, 0, 0); });
        for (const double window : {0.0, -1.0, 61.0})
            check_error(weft::Errc::invalid_argument, "window out of range",
                        [&] { weft::tune::measure_copy_ceiling(backend, 1, 1, window); });
    });
}
