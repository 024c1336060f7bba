// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <stdexcept>
#include <thread>

#include <doctest/doctest.h>

#include "measure/report_measure.hpp"

using namespace weft::tool;

TEST_CASE("statistics of an odd and an even number of values") {
    const Statistics odd = statistics({5, 1, 3});
    CHECK(odd.median == 3);
    CHECK(odd.mean == 3);
    CHECK(odd.std == 2);  // of a sample: (4 + 4 + 0) / 2
    CHECK(odd.min == 1);
    CHECK(odd.max == 5);
    CHECK(odd.all == std::vector<double>{5, 1, 3});  // as measured, not sorted
    CHECK(statistics({4, 1, 100, 2}).median == 3);
}

TEST_CASE("statistics of one value and of none") {
    const Statistics one = statistics({7});
    CHECK(one.median == 7);
    CHECK(one.std == 0);
    CHECK(statistics({}).median == 0);
    CHECK(statistics({}).all.empty());
}

TEST_CASE("calls of a sample") {
    struct Row {
        double call_s, least_s;
        std::size_t most, calls;
    };
    const Row rows[] = {{1e-3, 1e-3, 16, 1}, {2e-3, 1e-3, 16, 1}, {4e-4, 1e-3, 16, 3}, {1e-9, 1e-3, 16, 16},
                        {0, 1e-3, 16, 16},   {1e-9, 0, 16, 1},    {1e-9, 1e-3, 1, 1},  {1e-5, 5e-5, 1000, 5}};
    for (const Row& row : rows) {
        CAPTURE(row.call_s);
        CAPTURE(row.most);
        CHECK(calls_of_sample(row.call_s, row.least_s, row.most) == row.calls);
    }
}

TEST_CASE("measure runs the warm-up and the repeats, and divides by the calls") {
    std::vector<std::size_t> runs;
    const Timing timing =
        measure({.repeats = 4, .warmup = 2}, 0, 1, [&](std::size_t calls) { runs.push_back(calls); });
    CHECK(runs == std::vector<std::size_t>{1, 1, 1, 1, 1, 1});
    CHECK(timing.seconds.all.size() == 4);
    CHECK(timing.calls == 1);
    runs.clear();
    const Timing many =
        measure({.repeats = 3, .warmup = 0}, 1, 10, [&](std::size_t calls) { runs.push_back(calls); });
    CHECK(runs == std::vector<std::size_t>{1, 10, 10, 10,
                                           10});  // once to find the time of a call, once with the new number
    CHECK(many.calls == 10);
}

TEST_CASE("measure stops early if runs take longer than their time, but not before the third") {
    int runs = 0;
    const Timing timing = measure({.repeats = 50, .warmup = 1, .max_seconds = 1e-4}, 0, 1, [&](std::size_t) {
        ++runs;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    });
    CHECK(timing.seconds.all.size() == kLeastRuns);
    CHECK(runs == 1 + static_cast<int>(kLeastRuns));
}

TEST_CASE("exceptions of the work are passed on") {
    CHECK_THROWS_AS(measure({}, 0, 1, [](std::size_t) { throw std::runtime_error("no"); }),
                    std::runtime_error);
}
