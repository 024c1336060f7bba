// SPDX-License-Identifier: Apache-2.0
// What Config::log receives: at info each batch with its reasons, pipelines, caches and imports; at debug
// each submission.
#include <algorithm>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/scratch_folder.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::LogLevel;
using weft::Program;

namespace {

struct Lines {
    std::vector<std::string> all;

    weft::Config config(LogLevel level) {
        weft::Config config = weft::Config::from_env();
        config.log_level = level;
        config.log = [this](LogLevel, std::string_view line) { all.emplace_back(line); };
        return config;
    }
    std::size_t with(const std::string& part, const std::string& begin = {}) const {
        return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const std::string& line) {
            return line.starts_with(begin) && line.find(part) != std::string::npos;
        }));
    }
};

}  // namespace

TEST_CASE("log: at info each batch tells its chunks, path, slots and why, and each pipeline its time") {
    Lines lines;
    weft::Config config = lines.config(LogLevel::info);
    config.chunk_elements = 60;
    on_device(
        [&](weft::Backend& backend) {
            const Program program(backend, kAffine, {.name = "affine"});
            CHECK(lines.with("pipeline \"affine\": made in ") == 1);
            const Program again(backend, kAffine, {.name = "affine"});
            CHECK(lines.with("pipeline \"affine\"") == 1);
            AffineWork work({100, 60});
            weft::run_batch(backend, program, work.jobs, {.path = weft::Path::staged, .ring_slots = 2});
            CHECK(lines.with("batch of \"affine\": 2 jobs done in ") == 1);
            CHECK(lines.with("; 3 chunks of at most 60 elements (set) in ") == 1);
            CHECK(lines.with("; path staged (set by the call); 2 slots; page-locked memory by ") == 1);
            weft::run_batch(backend, program, work.jobs);
            CHECK(lines.with(" (for ") == 1);  // small jobs, or large ones, as the device's plan has it
            weft::run_batch(backend, program, {});
            CHECK(lines.with("batch of") == 2);  // nothing is said of nothing
            {
                weft::JobPipeline pipeline(backend, program);
                pipeline.wait(pipeline.submit(work.jobs[0]));
            }
            CHECK(lines.with("batch of \"affine\": 1 job done in ") == 1);
            CHECK(lines.with("submission: ") == 0);
        },
        config);
}

TEST_CASE("log: imports are told") {
    Lines lines;
    on_device(
        [&](weft::Backend& backend) {
            if (backend.device().limits.import_alignment == 0) return;
            const Program program(backend, kAffine);
            AffineWork work({1u << 20});
            weft::run_batch(backend, program, work.jobs, {.path = weft::Path::imported});
            CHECK(lines.with("import: ") >= 1);
        },
        lines.config(LogLevel::info));
}

TEST_CASE("log: the pipeline cache is told when it is loaded, absent, or off") {
    const ScratchFolder folder;
    const auto lines_of = [&](bool cache) {
        Lines lines;
        weft::Config config = lines.config(LogLevel::info);
        config.cache_dir = folder.path();
        config.cache = cache;
        on_device([](weft::Backend& backend) { const Program program(backend, kAffine); }, config);
        return lines;
    };
    const Lines first = lines_of(true);
    if (first.all.empty()) return;  // no device
    CHECK(first.with(": absent", "pipeline cache ") == 1);
    CHECK(first.with(" bytes saved", "pipeline cache ") == 1);
    CHECK(lines_of(true).with(" bytes loaded", "pipeline cache ") == 1);
    CHECK(lines_of(false).with(": off", "pipeline cache ") == 1);
}

TEST_CASE("log: at debug every submission is told, and at warning nothing is") {
    Lines debug, warning;
    on_device(
        [&](weft::Backend& backend) {
            const std::uint64_t before = backend.counters().submissions;
            const std::size_t told = debug.with("submission: ");
            const Program program(backend, kAffine);
            AffineWork work({1000});
            weft::run_batch(backend, program, work.jobs);
            CHECK(debug.with("submission: ") - told == backend.counters().submissions - before);
            CHECK(debug.with("submission: compute timeline ") > 0);
        },
        debug.config(LogLevel::debug));
    on_device(
        [&](weft::Backend& backend) {
            const Program program(backend, kAffine);
            AffineWork work({1000});
            weft::run_batch(backend, program, work.jobs);
        },
        warning.config(LogLevel::warning));
    CHECK(warning.all.empty());
}
