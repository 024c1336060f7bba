// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "base/startup.hpp"

using namespace weft::core;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

TEST_CASE("the start of a process is within the kernel's tick, placed by the processor time") {
    const SteadyTime tick{1000ms};
    const auto start = [&](std::chrono::nanoseconds loaded_after, std::chrono::nanoseconds processor_time) {
        return estimate_start(tick, 10ms, tick + loaded_after, processor_time) - tick;
    };
    CHECK(start(6ms, 2ms) == 4ms);
    CHECK(start(12ms, 2ms) == 10ms);
    CHECK(start(6ms, 6ms) == 0ms);
    CHECK(start(6ms, 9ms) == 0ms);      // several threads used more processor time than time passed
    CHECK(start(5000ms, 3ms) == 10ms);  // weft was loaded long after the start
    CHECK(start(5000ms, 4995ms) == 5ms);
}

TEST_CASE("this process started a while ago, and always at the same time") {
    const SteadyTime begin = steady_clock::now(), first = process_start();
    CHECK(first < begin);
    std::this_thread::sleep_for(2ms);
    // Two clocks are read one after the other; the result is off by at most the time between.
    const SteadyTime again = process_start();
    CHECK(std::chrono::abs(again - first) <= steady_clock::now() - begin);
}

TEST_CASE("first work: nothing until done; later work changes nothing") {
    FirstWork work;
    const SteadyTime start = steady_clock::now();
    CHECK(work.took_s() == 0);
    CHECK(work.done_after_s(start) == 0);
    work.submitted();
    CHECK(work.took_s() == 0);
    std::this_thread::sleep_for(2ms);
    work.done();
    const double took = work.took_s(), after = work.done_after_s(start);
    CHECK(took >= 0.002);
    CHECK(after >= took);
    work.submitted();
    std::this_thread::sleep_for(1ms);
    work.done();
    CHECK(work.took_s() == took);
    CHECK(work.done_after_s(start) == after);
}
