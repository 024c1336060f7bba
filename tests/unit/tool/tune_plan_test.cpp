// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <doctest/doctest.h>

#include "commands/tune/tune_plan.hpp"

using namespace weft;
using namespace weft::tool;

namespace {

TuneFacts discrete() {
    TuneFacts facts;
    facts.can_import = facts.can_direct = true;
    facts.cores = 12;
    facts.batch_bytes = std::uint64_t{16} << 20;
    facts.plan.ordinary_path = facts.plan.large_path = Path::staged;
    facts.plan.copy_threads = 12;
    facts.plan.ring_slots = 4;
    return facts;
}

}  // namespace

TEST_CASE("candidates of a discrete GPU leave the defaults out") {
    const TuneCandidates c = tune_candidates(discrete());
    CHECK(c.ordinary_paths == std::vector<Path>{Path::direct, Path::host, Path::imported});
    CHECK(c.page_locked_paths == std::vector<Path>{Path::direct, Path::host});
    CHECK(c.copy_threads == std::vector<std::uint32_t>{1, 2, 4, 8});
    CHECK(c.slots == std::vector<std::uint32_t>{2, 3, 6, 8});
    CHECK(c.chunk_bytes == std::vector<std::uint64_t>{1u << 20, 2u << 20, 4u << 20, 8u << 20});
}

TEST_CASE("candidates that a device does not support are left out") {
    TuneFacts facts = discrete();
    facts.can_import = facts.can_direct = false;
    facts.batch_bytes = 1u << 20;
    const TuneCandidates c = tune_candidates(facts);
    CHECK(c.ordinary_paths == std::vector<Path>{Path::host});
    CHECK(c.chunk_bytes.empty());
}

TEST_CASE("unified memory has no bus to read over; one core has one thread") {
    TuneFacts facts = discrete();
    facts.unified = true;
    facts.plan.ordinary_path = Path::imported;
    facts.plan.large_path = Path::direct;
    facts.cores = facts.plan.copy_threads = 1;
    const TuneCandidates c = tune_candidates(facts);
    CHECK(c.ordinary_paths == std::vector<Path>{Path::staged, Path::direct});
    CHECK(c.page_locked_paths == std::vector<Path>{Path::staged});
    CHECK(c.copy_threads.empty());
}

TEST_CASE("interquartile range") {
    CHECK(interquartile_range({}) == 0);
    CHECK(interquartile_range({3}) == 0);
    CHECK(interquartile_range({4, 1, 3, 2}) == 2);          // 1.5 and 3.5
    CHECK(interquartile_range({1, 2, 3, 4, 100}) == 50.5);  // 1.5 and 52
}

TEST_CASE("a gain counts only beyond the noise") {
    const Statistics base = statistics({100, 100, 100, 100, 100});
    CHECK(compare(base, statistics({90, 90, 90, 90, 90})).believable());
    CHECK(compare(base, statistics({90, 90, 90, 90, 90})).gain == doctest::Approx(0.1));
    CHECK_FALSE(compare(base, statistics({98, 98, 98, 98, 98})).believable());  // below 3 %
    CHECK_FALSE(compare(base, statistics({60, 75, 90, 105, 120})).believable());
    CHECK_FALSE(compare(base, statistics({110, 110, 110})).believable());
    CHECK_FALSE(compare({}, base).believable());
}

TEST_CASE("the result of a tuning") {
    tune::Engine tuning;
    CHECK(tune_outcome(tuning, false, "f") == "nothing stored: the defaults stay");
    CHECK(tune_outcome(tuning, true, "f").find("stored earlier is removed") != std::string::npos);
    tuning.ring_slots = 5;
    CHECK(tune_outcome(tuning, false, "a/f") == "stored in a/f");
    CHECK(tune_outcome(tuning, true, "a/f") == "stored in a/f");
}

TEST_CASE("runs of a tuning are counted, with those that a setting did not need") {
    TuneCandidates candidates;
    candidates.copy_threads = {1, 2};
    candidates.slots = {2, 3, 4};
    TuneSteps steps(candidates, 3);
    CHECK(steps.total() == (3 + 2) * 4 + (4 + 2) * 4);
    CHECK(steps.left_s(1) == 0);
    for (int i = 0; i < 11; ++i) steps.run();
    CHECK(steps.left_s(11) == doctest::Approx(33));
    for (int i = 0; i < 20; ++i) steps.run();  // more than there were to be
    CHECK(steps.done() == 20);
    steps.end_setting();
    CHECK(steps.done() == 20);
    steps.end_setting();  // settings without candidates
    steps.end_setting();
    CHECK(steps.done() == 20);
    steps.end_setting();
    steps.end_setting();
    CHECK(steps.done() == steps.total());
    steps.end_setting();
    CHECK(steps.left_s(1) == 0);
}
