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

TEST_CASE("copy ceilings: nothing to copy, and no time") {
    on_device([](weft::Backend& backend) {
        check_error(weft::Errc::invalid_argument, "nothing to copy (got 0 bytes each way)",
                    [&] { weft::tune::measure_copy_ceiling(backend, 0, 0); });
        for (const double window : {0.0, -1.0, 61.0})
            check_error(weft::Errc::invalid_argument, "window out of range",
                        [&] { weft::tune::measure_copy_ceiling(backend, 1, 1, window); });
    });
}
