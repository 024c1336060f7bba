// SPDX-License-Identifier: Apache-2.0
// Extrapolated times, sampled items and the budget of a report's time.
#include <algorithm>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "measure/report_forecast.hpp"

using namespace weft::tool;

TEST_CASE("a time is extrapolated by the line through the two largest sizes") {
    using Known = std::vector<KnownTime>;
    CHECK(extrapolate({}, 1, 10) == 0);
    CHECK(extrapolate(Known{{10, 2}}, 1, 100) == doctest::Approx(20));
    CHECK(extrapolate(Known{{10, 2}}, 2, 100) == doctest::Approx(200));
    // 5 s a call and 0.1 s an item; the smallest size does not count.
    CHECK(extrapolate(Known{{1, 99}, {10, 6}, {100, 15}}, 1, 1000) == doctest::Approx(105));
    // 3 ms a row and 1 ms a pair: n and n^2.
    CHECK(extrapolate(Known{{10, 0.130}, {100, 10.3}}, 2, 1000) == doctest::Approx(1003));
    // Falling or bending upwards: the largest size alone.
    CHECK(extrapolate(Known{{10, 2}, {100, 1}}, 1, 1000) == doctest::Approx(10));
    CHECK(extrapolate(Known{{10, 1}, {100, 20}}, 1, 1000) == doctest::Approx(200));
}

TEST_CASE("sampled items are spread over all, first and last included, the same each time") {
    CHECK(sampled_items(0, 5).empty());
    CHECK(sampled_items(1, 5) == std::vector<std::uint64_t>{0});
    CHECK(sampled_items(5, 5) == std::vector<std::uint64_t>{0, 1, 2, 3, 4});
    CHECK(sampled_items(4, 64) == std::vector<std::uint64_t>{0, 1, 2, 3});
    for (const std::uint64_t batch :
         {std::uint64_t{7}, std::uint64_t{1000}, std::uint64_t{60'000'001}, std::uint64_t{1} << 48})
        for (const std::uint64_t most : {std::uint64_t{2}, std::uint64_t{6}, std::uint64_t{64}}) {
            CAPTURE(batch);
            CAPTURE(most);
            const std::vector<std::uint64_t> items = sampled_items(batch, most);
            REQUIRE(items.size() == std::min(batch, most));
            CHECK(items.front() == 0);
            CHECK(items.back() == batch - 1);
            CHECK(std::adjacent_find(items.begin(), items.end(), std::greater_equal<>()) == items.end());
            CHECK(items == sampled_items(batch, most));
            for (std::size_t i = 1; i < items.size(); ++i)  // one in each part, so no gap of two parts
                CHECK(items[i] - items[i - 1] <= 2 * (batch / items.size() + 1));
        }
    std::set<std::uint64_t> within;  // not at one distance, which could miss every fault that repeats
    const std::vector<std::uint64_t> items = sampled_items(1 << 20, 256);
    for (const std::uint64_t item : items) within.insert(item % 4096);
    CHECK(within.size() > 200);
}

TEST_CASE("the budget goes to figures by weight, and what one leaves to those after it") {
    TimeBudget budget(100, 10);
    CHECK(budget.share(1, 0) == doctest::Approx(10));
    CHECK(budget.share(4, 0) == doctest::Approx(40));
    CHECK(budget.left_s(0) == 0);  // nothing known of the pace
    budget.pass(1);
    CHECK(budget.share(1, 1) == doctest::Approx(11));  // it took 1 s instead of 10
    CHECK(budget.done() == doctest::Approx(0.1));
    CHECK(budget.left_s(1) == doctest::Approx(9));
    CHECK(budget.left_s(50) == doctest::Approx(50));       // at the pace 450, but there are no more than 50
    CHECK(budget.share(1, 120) == doctest::Approx(0.05));  // what is quick is measured all the same
    budget.pass(8);
    CHECK(budget.share(4, 60) == doctest::Approx(40));  // never more than there is
    budget.pass(1);
    CHECK(budget.done() == doctest::Approx(1));
    CHECK(budget.share(1, 60) == doctest::Approx(0.05));
    CHECK(weight_of_size(0) == 1);
    CHECK(weight_of_size(4) == 16);
}

TEST_CASE("a run is limited by its figure and by the budget, and the text names which") {
    const RunLimit figure = run_limit(5, 1e9, 90), budget = run_limit(5, 0.606, 90);
    CHECK(figure.seconds == 20);
    CHECK(figure.why == "--max-seconds 5 allows 20.0 s");
    CHECK(budget.seconds == doctest::Approx(0.101));
    CHECK(budget.why == "--total-seconds 90 leaves 101 ms");
}

TEST_CASE("what would take too long is told by smaller sizes, and the CPU's time is reckoned from them") {
    Forecast forecast;
    const auto limit = run_limit(5, 1e9, 90);
    CHECK(forecast.too_long(0, ReportPath::cpu, 1000, 1, limit).empty());  // nothing known
    forecast.learn(0, ReportPath::cpu, 10, statistics({2.0, 1.0, 6.0}));
    CHECK(forecast.too_long(0, ReportPath::cpu, 200, 1, limit).empty());  // by the least, 1 s
    CHECK(forecast.too_long(0, ReportPath::cpu, 1000, 1, limit) ==
          "left out: one run would take about 100 s (--max-seconds 5 allows 20.0 s)");
    CHECK(forecast.too_long(1, ReportPath::cpu, 1000, 1, limit).empty());
    CHECK(forecast.too_long(0, ReportPath::ordinary, 1000, 1, limit).empty());
    const PathResult cpu = forecast.cpu_at(0, 1000, 1);
    CHECK(cpu.timing.seconds.median == doctest::Approx(200));  // by the median, 2 s
    CHECK(cpu.extrapolated());
    CHECK(cpu.extrapolated_from == std::vector<std::uint64_t>{10});
    forecast.learn(0, ReportPath::cpu, 100, statistics({20.0}));
    CHECK(forecast.cpu_at(0, 1000, 1).extrapolated_from == std::vector<std::uint64_t>{10, 100});
    CHECK(forecast.cpu_known(0).batch == 100);
    CHECK(forecast.cpu_known(1).batch == 0);
    SizeResult size;  // an extrapolated time is not learned from
    size.batch = 1000;
    size.paths.push_back(cpu);
    forecast.learn(size);
    CHECK(forecast.cpu_known(0).batch == 100);
    // Quadratic in the end, but so far it is the cost of the call that grows: 0.1 s would be 4 s.
    forecast.learn(3, ReportPath::ordinary, 10, statistics({0.05}));
    forecast.learn(3, ReportPath::ordinary, 100, statistics({0.1}));
    CHECK(forecast.too_long(3, ReportPath::ordinary, 1000, 2, run_limit(1, 1e9, 90)).empty());
    CHECK_FALSE(forecast.too_long(3, ReportPath::ordinary, 1000, 2, run_limit(0.04, 1e9, 90)).empty());
    forecast.learn(2, ReportPath::ordinary, 1, statistics({1e-5}));  // what a call costs is no forecast
    CHECK(forecast.too_long(2, ReportPath::ordinary, 1u << 30, 1, run_limit(0.01, 1, 1)).empty());
}
