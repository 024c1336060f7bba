// SPDX-License-Identifier: Apache-2.0
// Overlaps between jobs, compared with a check of every pair.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <weft/error.hpp>

#include "base/span_set.hpp"
#include "plan/work/batch_check.hpp"

namespace {

using weft::Job;
using weft::core::JobSpan;
using weft::core::SpanSet;
using Spans = std::vector<JobSpan>;

std::string verdict(Spans spans) {
    try {
        weft::core::check_overlaps(spans);
    } catch (const weft::Error& error) {
        CHECK(error.code() == weft::Errc::invalid_argument);
        return error.what();
    }
    CHECK(std::is_sorted(spans.begin(), spans.end(),
                         [](const JobSpan& a, const JobSpan& b) { return a.begin < b.begin; }));
    return "accepted";
}

/// A separate implementation, with which the library is compared.
bool meet(const JobSpan& a, const JobSpan& b) {
    return a.begin < b.end && b.begin < a.end;
}

bool any_pair_collides(const Spans& spans) {
    for (std::size_t i = 0; i < spans.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            const JobSpan &a = spans[i], &b = spans[k];
            if (!meet(a, b) || (!a.written && !b.written)) continue;
            const bool in_place =
                a.job == b.job && a.written != b.written && a.begin == b.begin && a.end == b.end;
            if (!in_place) return true;
        }
    }
    return false;
}

constexpr bool kRead = false, kWritten = true;

TEST_CASE("spans that may share memory and spans that may not") {
    const struct {
        std::string what;
        Spans spans;
        bool accepted;
    } cases[] = {
        {"nothing", {}, true},
        {"one job, spans apart", {{0, 8, 0, kRead}, {16, 24, 0, kWritten}}, true},
        {"one input of many jobs", {{0, 8, 0, kRead}, {0, 8, 1, kRead}, {0, 8, 2, kRead}}, true},
        {"inputs that overlap in part", {{0, 8, 0, kRead}, {4, 12, 1, kRead}}, true},
        {"in place", {{0, 8, 0, kRead}, {0, 8, 0, kWritten}}, true},
        {"in place, listed output first", {{0, 8, 0, kWritten}, {0, 8, 0, kRead}}, true},
        {"in place over an input given twice",
         {{0, 8, 0, kRead}, {0, 8, 0, kRead}, {0, 8, 0, kWritten}},
         true},
        {"in place in two jobs",
         {{0, 8, 0, kRead}, {0, 8, 0, kWritten}, {0, 8, 1, kRead}, {0, 8, 1, kWritten}},
         false},
        {"in place over an input of another job",
         {{0, 8, 0, kRead}, {0, 8, 0, kWritten}, {0, 8, 1, kRead}},
         false},
        {"output over another job's input", {{0, 8, 0, kRead}, {0, 8, 1, kWritten}}, false},
        {"two outputs of one job", {{0, 8, 0, kWritten}, {0, 8, 0, kWritten}}, false},
        {"two outputs of two jobs", {{0, 8, 0, kWritten}, {0, 8, 1, kWritten}}, false},
        {"in place with a shorter output", {{0, 8, 0, kRead}, {0, 4, 0, kWritten}}, false},
        {"in place with a longer output", {{0, 8, 0, kRead}, {0, 9, 0, kWritten}}, false},
        {"one byte of overlap in one job", {{0, 8, 0, kRead}, {7, 15, 0, kWritten}}, false},
        {"one byte of overlap, output first", {{0, 8, 0, kWritten}, {7, 15, 1, kRead}}, false},
        {"adjacent", {{0, 8, 0, kWritten}, {8, 16, 1, kWritten}, {16, 24, 2, kRead}}, true},
        {"an output inside an input", {{0, 100, 0, kRead}, {40, 44, 1, kWritten}}, false},
        {"an input inside an output", {{0, 100, 0, kWritten}, {40, 44, 0, kRead}}, false},
        {"an output behind a short span inside a long one",
         {{0, 100, 0, kRead}, {10, 12, 1, kRead}, {50, 60, 2, kWritten}},
         false},
        {"an input behind a short output inside a long one",
         {{0, 100, 0, kWritten}, {100, 102, 1, kWritten}, {99, 120, 2, kRead}},
         false},
    };
    for (const auto& c : cases) {
        CAPTURE(c.what);
        CHECK((verdict(c.spans) == "accepted") == c.accepted);
        CHECK(any_pair_collides(c.spans) != c.accepted);
    }
}

TEST_CASE("an overlap is reported with both jobs and its size") {
    CHECK(
        verdict({{100, 200, 4, kRead}, {150, 400, 9, kWritten}}) ==
        "run_batch: memory of job 4 and job 9 overlaps where one of them writes (got an overlap of 50 bytes, "
        "need separate spans, or exactly the same span for in-place output of one job)");
}

TEST_CASE("random spans give the same results as a comparison of every pair") {
    std::mt19937 random(20250101);
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    std::size_t accepted = 0, refused = 0;
    for (int round = 0; round < 40000; ++round) {
        // A wide range gives many sets without an overlap; a narrow one gives many equal begins.
        const unsigned range = 8u << below(5);
        Spans spans;
        for (unsigned n = 1 + below(9); n > 0; --n) {
            const std::uintptr_t begin = below(range);
            spans.push_back({begin, begin + 1 + below(6), below(3), below(3) == 0});
            if (below(4) != 0) continue;
            JobSpan same = spans.back();  // in place, or nearly so
            same.written = !same.written;
            if (below(8) == 0) ++same.end;
            if (below(8) == 0) ++same.job;
            spans.push_back(same);
        }
        const bool expected = !any_pair_collides(spans);
        ++(expected ? accepted : refused);
        if ((verdict(spans) == "accepted") != expected) {
            for (const JobSpan& s : spans) MESSAGE(s.begin, " ", s.end, " ", s.job, " ", s.written);
            FAIL_CHECK("expected ", expected);
        }
    }
    CHECK(accepted > 5000);
    CHECK(refused > 5000);
}

TEST_CASE("many jobs with one shared table, and one job that overlaps") {
    constexpr std::uint64_t kJobs = 100000;
    Spans spans;
    for (std::uint64_t job = 0; job < kJobs; ++job) {
        const std::uintptr_t own = 1000000 + job * 64;
        spans.push_back({0, 1000, job, kRead});
        spans.push_back({own, own + 64, job, kRead});
        spans.push_back({own, own + 64, job, kWritten});
    }
    CHECK(verdict(spans) == "accepted");
    spans.push_back({1000000 + 63, 1000000 + 64, kJobs, kRead});
    CHECK(verdict(spans) != "accepted");
    spans.back() = {999, 1000, kJobs, kWritten};
    CHECK(verdict(spans) != "accepted");
}

TEST_CASE("spans of a job: inputs read, outputs written, none without elements") {
    std::byte memory[64];
    const auto at = [&](std::size_t i) { return reinterpret_cast<std::uintptr_t>(memory) + i; };
    Job job;
    job.inputs = {{memory, 16}, {memory + 16, 8, true}};
    job.outputs = {{memory + 32, 16}};
    Spans spans{{1, 2, 3, kRead}};
    weft::core::append_spans(job, 5, spans);
    CHECK(spans.size() == 1);  // no elements
    job.elements = 4;
    weft::core::append_spans(job, 5, spans);
    REQUIRE(spans.size() == 4);
    const JobSpan expected[] = {
        {at(0), at(16), 5, kRead}, {at(16), at(24), 5, kRead}, {at(32), at(48), 5, kWritten}};
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(spans[i + 1].begin == expected[i].begin);
        CHECK(spans[i + 1].end == expected[i].end);
        CHECK(spans[i + 1].job == expected[i].job);
        CHECK(spans[i + 1].written == expected[i].written);
    }
}

TEST_CASE("a span set finds the span that overlaps a new one") {
    SpanSet set;
    CHECK(set.conflict({0, 100, 0, kWritten}) == nullptr);
    set.insert({100, 200, 1, kRead});
    CHECK(set.conflict({150, 160, 2, kRead}) == nullptr);
    CHECK(set.conflict({0, 100, 2, kWritten}) == nullptr);
    CHECK(set.conflict({200, 300, 2, kWritten}) == nullptr);
    for (const JobSpan& span : {JobSpan{150, 160, 2, kWritten}, JobSpan{0, 101, 2, kWritten},
                                JobSpan{199, 300, 2, kWritten}, JobSpan{0, 300, 2, kWritten}}) {
        const JobSpan* hit = set.conflict(span);
        REQUIRE(hit != nullptr);
        CHECK(hit->job == 1);
    }
    set.insert({400, 500, 3, kWritten});
    CHECK(set.conflict({450, 451, 4, kRead}) != nullptr);
    set.erase({100, 200, 1, kRead});
    CHECK(set.conflict({150, 160, 2, kWritten}) == nullptr);
    CHECK(set.conflict({450, 451, 4, kRead}) != nullptr);
    set.erase({400, 500, 3, kRead});  // not in the set, because that span is a written one
    CHECK(set.conflict({450, 451, 4, kRead}) != nullptr);
    set.erase({400, 500, 3, kWritten});
    CHECK(set.conflict({450, 451, 4, kRead}) == nullptr);
}

TEST_CASE("a span that two jobs share stays until both are removed") {
    SpanSet set;
    set.insert({0, 10, 1, kRead});
    set.insert({0, 10, 2, kRead});
    set.erase({0, 10, 1, kRead});
    const JobSpan* hit = set.conflict({5, 6, 3, kWritten});
    REQUIRE(hit != nullptr);
    CHECK(hit->job == 2);
    set.erase({0, 10, 2, kRead});
    CHECK(set.conflict({5, 6, 3, kWritten}) == nullptr);
}

TEST_CASE("a span set agrees with a list that compares every pair") {
    std::mt19937 random(7);
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    SpanSet set;
    Spans model;
    std::size_t hits = 0, misses = 0;
    for (int step = 0; step < 30000; ++step) {
        const std::uintptr_t begin = below(400);
        const std::uintptr_t length = 1 + below(below(50) == 0 ? 200 : 8);  // a few long ones among short
        const JobSpan span{begin, begin + length, below(6), below(2) == 0};
        const auto collides = [&](const JobSpan& other) {
            return meet(span, other) && (span.written || other.written);
        };
        const bool expected = std::any_of(model.begin(), model.end(), collides);
        const JobSpan* hit = set.conflict(span);
        REQUIRE((hit != nullptr) == expected);
        ++(expected ? hits : misses);
        if (hit != nullptr) CHECK(collides(*hit));
        if (model.size() < 12 && below(3) != 0) {
            set.insert(span);
            model.push_back(span);
        } else if (!model.empty()) {
            const auto victim = model.begin() + below(static_cast<unsigned>(model.size()));
            set.erase(*victim);
            model.erase(victim);
        }
    }
    CHECK(hits > 3000);
    CHECK(misses > 3000);
}

}  // namespace
