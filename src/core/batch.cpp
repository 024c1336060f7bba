// SPDX-License-Identifier: Apache-2.0
// run_batch and the figures of a BatchReport.
#include <weft/batch.hpp>

#include <algorithm>
#include <array>
#include <chrono>

#include "core/batch_engine.hpp"
#include "core/intervals.hpp"

namespace weft {
namespace {

std::array<std::vector<core::Interval>, 3> by_stage(const std::vector<StageInterval>& intervals) {
    std::array<std::vector<core::Interval>, 3> sets;
    for (const StageInterval& i : intervals)
        sets[static_cast<std::size_t>(i.stage)].push_back({i.begin_s, i.end_s});
    return sets;
}

}  // namespace

double BatchReport::gb_per_s() const {
    return wall_s > 0 ? static_cast<double>(bytes_in + bytes_out) / wall_s / 1e9 : 0;
}

double BatchReport::stage_s(Stage stage) const {
    return core::union_length(by_stage(intervals)[static_cast<std::size_t>(stage)]);
}

double BatchReport::device_s() const {
    std::vector<core::Interval> all;
    for (const StageInterval& i : intervals) all.push_back({i.begin_s, i.end_s});
    return core::union_length(all);
}

double BatchReport::overlap() const {
    const double busy = device_s();
    return busy > 0 ? core::overlap_length(by_stage(intervals)) / busy : 0;
}

BatchReport run_batch(Backend& backend, const Program& program, std::span<const Job> jobs,
                      const BatchOptions& options) {
    const auto begin = std::chrono::steady_clock::now();
    core::Runtime& runtime = *backend.runtime();
    core::Device& device = runtime.context()->device;
    device.require_usable("run_batch");
    core::require_same_backend(runtime, *program.object(), "run_batch");
    const core::ProgramShape shape = core::shape_of(*program.object());
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        core::check_job(shape, device.snapshot().limits, jobs[i], i);
        bytes += core::job_bytes_in(jobs[i]) + core::job_bytes_out(jobs[i]);
    }
    const core::BatchSettings settings = core::resolve(device.plan(), device.snapshot(), options, bytes);
    core::BatchEngine engine(runtime, program.object(), settings, nullptr);
    auto& spans = engine.scratch().spans;
    spans.clear();
    for (std::size_t i = 0; i < jobs.size(); ++i) core::append_spans(jobs[i], i, spans);
    core::check_overlaps(spans);

    for (const Job& job : jobs) engine.add(job);
    std::uint64_t told = 0;
    const auto tell = [&] {
        for (; options.progress && told < engine.jobs_done(); ++told) options.progress(told + 1, jobs.size());
    };
    tell();
    while (engine.can_start() || engine.in_flight()) {
        if (engine.can_start()) {
            engine.start();
        } else {
            engine.finish();
            tell();
        }
    }
    BatchReport report = engine.report();
    report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return report;
}

}  // namespace weft
