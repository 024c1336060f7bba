// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>

#include "plan/work/batch_text.hpp"

namespace {

using weft::BatchReport;
using weft::core::batch_text;
using weft::core::BatchSettings;

BatchReport report_of_two() {
    BatchReport report;
    report.jobs = 2;
    report.elements = 1500;
    report.chunks = 3;
    report.bundles = 1;
    report.bytes_in = report.bytes_out = 1'000'000;
    report.wall_s = 0.002;
    report.path = weft::Path::staged;
    report.ring_slots = 4;
    report.chunk_elements = 512;
    report.host_memory = "cuda";
    report.queues = "all family 0 queue 0";
    return report;
}

TEST_CASE("the line of a batch has what it did and why") {
    CHECK(batch_text("saxpy", report_of_two(), {}, "for small jobs") ==
          "batch of \"saxpy\": 2 jobs done in 2 ms, 1 GB/s; 3 chunks of at most 512 elements (planned) in 1 "
          "bundle; path staged (for small jobs); 4 slots; page-locked memory by cuda; all family 0 queue 0");
    BatchReport other = report_of_two();
    other.jobs = other.chunks = other.chunk_elements = 1;
    other.mixed_paths = true;
    other.host_memory.clear();
    BatchSettings settings;
    settings.chunk_exact = true;
    settings.mode = weft::BatchMode::sequential;
    CHECK(batch_text("p", other, settings, "set by the call") ==
          "batch of \"p\": 1 job done in 2 ms, 1 GB/s; 1 chunk of at most 1 element (set) in 1 bundle; path "
          "staged "
          "(set by the call) and others; 4 slots (sequential); all family 0 queue 0");
    settings.chunk_exact = false;
    settings.chunk_bytes = 1 << 20;
    CHECK(batch_text("p", other, settings, "").find(" (tuned) ") != std::string::npos);
}

TEST_CASE("a batch that failed before its first bundle says so") {
    BatchReport report;
    report.elements = 100;
    report.wall_s = 0.0001;
    CHECK(batch_text("p", report, {}, "") ==
          "batch of \"p\": 0 jobs done in 0.1 ms, nothing ran on the device");
}

}  // namespace
