// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "commands/encode/encode_needs.hpp"

using namespace weft;
using namespace weft::tool;

TEST_CASE("encode needs: rows are read ahead in chunks of 128 MiB, the larger of values and states") {
    const ReadPlan many = plan_reading(1000, 128, std::uint64_t{1} << 20);
    CHECK(many.rows_per_chunk == 128);
    CHECK(many.chunks == 3);
    CHECK(many.bytes == 3 * 128 * 128);
    const ReadPlan few = plan_reading(200, 128, std::uint64_t{1} << 20);
    CHECK(few.chunks == 2);
    const ReadPlan all = plan_reading(5, 128, 64);
    CHECK(all.rows_per_chunk == 5);
    CHECK(all.chunks == 1);
}

TEST_CASE("encode needs: devices that share a call have 512 MiB of it each") {
    const std::uint64_t row = std::uint64_t{1} << 20;
    CHECK(plan_reading(100000, 128, row, 0).rows_per_chunk == 128);
    CHECK(plan_reading(100000, 128, row, 1).rows_per_chunk == 128);
    CHECK(plan_reading(100000, 128, row, 2).rows_per_chunk == 1024);
    CHECK(plan_reading(100000, 128, row, 8).rows_per_chunk == 4096);
}

TEST_CASE("encode needs: if rows are larger than a chunk, one is read ahead, not two") {
    const std::uint64_t row = std::uint64_t{8} << 30;
    const ReadPlan plan = plan_reading(3, row, row);
    CHECK(plan.rows_per_chunk == 1);
    CHECK(plan.chunks == 2);
    CHECK(plan.bytes == 2 * row);
    CHECK(plan_reading(1, row, row).bytes == row);
}

TEST_CASE("encode needs: every shortage is reported with the available and the needed amount") {
    EncodeNeeds needs;
    needs.reading.bytes = 100;
    needs.host_bytes = 100;
    needs.output_bytes = 50;
    CHECK(shortages(needs).empty());
    needs.disk_bytes = 49;
    needs.host_bytes = 99;
    needs.device.emplace();
    needs.device->reason = "one state is more than the device's memory";
    const auto all = shortages(needs);
    REQUIRE(all.size() == 3);
    CHECK(all[0] == needs.device->reason);
    CHECK(all[1].find("(got 99 bytes, need 100)") != std::string::npos);
    CHECK(all[2].find("disk for the states (got 49 bytes, need 50)") != std::string::npos);
    needs.device->streamed_fits = true;
    CHECK(shortages(needs).size() == 2);
}

TEST_CASE(
    "encode needs: rows that cannot be encoded are counted over all chunks and the first twenty named") {
    BadRows bad;
    bad.add(0, {});
    CHECK(bad.count() == 0);
    bad.add(10, {{.sample = 2, .position = 7, .fault = EncodeFault::not_a_number},
                 {.sample = 3, .position = 0, .fault = EncodeFault::zero_norm}});
    CHECK(bad.text() == "row 12 value 7 is not a number, row 13 has zero norm");
    for (std::uint64_t chunk = 2; chunk <= 20; ++chunk)
        bad.add(10 * chunk, {{.sample = 1, .position = 0, .fault = EncodeFault::negative}});
    CHECK(bad.count() == 21);
    CHECK(bad.text().ends_with("row 191 value 0 is negative, and 1 more row"));
    CHECK(bad.text().find("row 201") == std::string::npos);
}
