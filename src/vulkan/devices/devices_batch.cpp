// SPDX-License-Identifier: Apache-2.0
// Completes weft/batch.hpp and weft/program.hpp: run_batch and Program on several devices.
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <weft/batch.hpp>
#include <weft/devices.hpp>
#include <weft/program.hpp>

#include "base/batch_call.hpp"
#include "plan/work/job_blocks.hpp"
#include "vulkan/devices/devices_state.hpp"
#include "vulkan/devices/shared_call.hpp"
#include "vulkan/engine/batch_engine.hpp"
#include "vulkan/engine/job_pipeline.hpp"

namespace weft {
namespace {

/// Which jobs are done: a job may be done in parts, on several devices.
class JobCount {
  public:
    JobCount(std::span<const Job> jobs, const core::UnitsOf& units) : units_(units) {
        for (std::size_t j = 0; j < jobs.size(); ++j) {
            left_.push_back(jobs[j].elements);
            total_ += units(j);
        }
    }
    /// Units that all jobs count.
    std::uint64_t total() const { return total_; }
    /// Returns the units of the job if it is done now.
    std::uint64_t done(std::size_t job, std::uint64_t elements) {
        const std::lock_guard lock(mutex_);
        return (left_[job] -= elements) == 0 ? units_(job) : 0;
    }
    /// These elements will be done again. Returns the units of the job if it counted as done.
    std::uint64_t undo(std::size_t job, std::uint64_t elements) {
        const std::lock_guard lock(mutex_);
        return std::exchange(left_[job], left_[job] + elements) == 0 ? units_(job) : 0;
    }

  private:
    const core::UnitsOf& units_;
    std::uint64_t total_ = 0;
    std::mutex mutex_;
    std::vector<std::uint64_t> left_;  // elements of each job
};

/// Does shares of a batch on one device.
class BatchShares {
  public:
    BatchShares(const core::JobBlocks& blocks, std::span<const Job> jobs, const Program& program,
                const BatchOptions& options, JobCount& count)
        : blocks_(blocks), jobs_(jobs), program_(program), options_(options), count_(count) {}

    OpReport operator()(Backend& backend, const core::Share& share, core::ShareWatch& watch) {
        const auto begin = std::chrono::steady_clock::now();
        core::BackendState& state = *detail::Access::backend_state(backend);
        core::Device& device = state.context()->device;
        device.require_usable("run_batch");
        const std::vector<core::JobPart> parts = blocks_.parts(share.first, share.count);
        std::uint64_t bytes = 0;
        for (const core::JobPart& part : parts) bytes += blocks_.bytes(part);
        const core::BatchSettings settings =
            core::settle_options(device.plan(), device.snapshot(), options_, bytes);
        core::BatchEngine engine(state, core::program_for(state, program_, "run_batch"), settings, nullptr);
        for (const core::JobPart& part : parts) engine.add(jobs_[part.job], part.first, part.count);
        BatchOptions watched = watch.options(options_);
        std::size_t noted = 0;
        watched.progress = [&](const Progress& progress) {
            for (; noted < progress.done; ++noted)
                watch.add(count_.done(parts[noted].job, parts[noted].count));
        };
        OpReport report;
        try {
            static_cast<BatchReport&>(report) = core::run_engine(engine, parts.size(), watched, begin);
        } catch (...) {
            std::uint64_t undone = 0;
            for (std::size_t i = 0; i < noted; ++i) undone += count_.undo(parts[i].job, parts[i].count);
            watch.take_back(undone);
            throw;
        }
        // A job that the device goes on with counts once.
        if (!parts.empty() && std::exchange(last_job_, parts.back().job) == parts.front().job) --report.jobs;
        return report;
    }

  private:
    const core::JobBlocks& blocks_;
    std::span<const Job> jobs_;
    const Program& program_;
    const BatchOptions& options_;
    JobCount& count_;
    std::size_t last_job_ = ~std::size_t{0};  // of the share before
};

/// The checks of run_batch, for every device. Returns how the jobs may be cut.
core::JobBlocks check_batch(Devices& devices, const std::vector<std::size_t>& usable, const Program& program,
                            std::span<const Job> jobs, const BatchOptions& options) {
    std::vector<core::BlockRules> rules;
    for (const std::size_t i : usable) {
        const core::BackendState& state = *detail::Access::backend_state(devices[i]);
        const core::Device& device = state.context()->device;
        const core::ProgramNeeds needs = core::needs_of(*core::program_for(state, program, "run_batch"));
        for (std::size_t j = 0; j < jobs.size(); ++j)
            core::check_job(needs, device.snapshot().limits, jobs[j], j);
        static_cast<void>(core::settle_options(device.plan(), device.snapshot(), options, 0));
        rules.push_back({needs, &device.snapshot().limits});
    }
    std::vector<core::JobSpan> spans;
    for (std::size_t j = 0; j < jobs.size(); ++j) core::append_spans(jobs[j], j, spans);
    core::check_overlaps(spans);
    return core::JobBlocks(jobs, rules);
}

/// Programs with one name may do anything, so a rate belongs to the pipeline.
std::string rates_of(const Program& program) {
    const void* pipeline = detail::Access::object(program)->pipeline;
    return "run_batch " + std::to_string(reinterpret_cast<std::uintptr_t>(pipeline));
}

/// Blocks of a chunk, as the caller or Config sets it; 0: nothing is set.
std::uint64_t chunk_blocks(const PlanReport& plan, const BatchOptions& options) {
    const std::uint64_t elements = core::wanted_chunk_items(plan, options);
    return elements == 0 ? 0 : std::max<std::uint64_t>(1, elements / core::JobBlocks::kElements);
}

}  // namespace

Program core::program_for_all(Devices& devices, const std::function<Program(Backend&)>& make) {
    DevicesState& state = detail::Access::state(devices);
    std::vector<Program> programs;
    for (const std::size_t i : state.usable("Program")) try {
            programs.push_back(make(devices[i]));
        } catch (const Error& e) {
            if (e.code() != Errc::device_lost) throw;
            state.set_lost(i);
        }
    static_cast<void>(state.usable("Program"));
    return combined(programs);
}

Program::Program(Devices& devices, std::span<const std::uint32_t> spirv, const ProgramOptions& options)
    : Program(core::program_for_all(devices,
                                    [&](Backend& backend) { return Program(backend, spirv, options); })) {}

JobPipeline::JobPipeline(Devices& devices, const Program& program, const BatchOptions& options) {
    core::DevicesState& state = detail::Access::state(devices);
    std::vector<Impl::Place> places;
    for (const std::size_t i : state.usable("JobPipeline")) {
        const auto& backend_state = detail::Access::backend_state(devices[i]);
        places.push_back({backend_state, core::program_for(*backend_state, program, "JobPipeline"), i});
    }
    // Jobs are not cut, so a job on a device far below the others would end last.
    const auto is_software = [](const Impl::Place& place) {
        return place.backend_state->info().type == DeviceType::cpu;
    };
    if (!std::all_of(places.begin(), places.end(), is_software)) std::erase_if(places, is_software);
    impl_ = std::make_unique<Impl>(std::move(places), options, state.lost_marker());
}

BatchReport core::run_counted(Backend& backend, const Program& program, std::span<const Job> jobs,
                              const BatchOptions& options, const UnitsOf& units) {
    if (!options.progress) return run_batch(backend, program, jobs, options);
    std::uint64_t done = 0, total = 0;
    for (std::size_t j = 0; j < jobs.size(); ++j) total += units(j);
    BatchOptions counted = options;
    counted.progress = [&](const Progress& progress) {  // called once for each job, in their order
        done += units(progress.done - 1);
        options.progress({done, total, progress.elapsed_s});
    };
    return run_batch(backend, program, jobs, counted);
}

BatchReport core::run_counted(Devices& devices, const Program& program, std::span<const Job> jobs,
                              const BatchOptions& options, const UnitsOf& units) {
    const std::vector<std::size_t> usable = detail::Access::state(devices).usable("run_batch");
    const JobBlocks blocks = check_batch(devices, usable, program, jobs, options);
    JobCount count(jobs, units);
    OpReport report = run_shares(
        devices, {.function = "run_batch",
                  .rates = rates_of(program),
                  .items = blocks.count(),
                  .item_bytes = blocks.count() != 0 ? blocks.bytes() / blocks.count() : 0,
                  .chunk_items = chunk_blocks(first_backend(devices).plan(), options),
                  .repeatable = std::none_of(jobs.begin(), jobs.end(), works_in_place),
                  .progress_total = count.total(),
                  .options = options,
                  .worker = [&](std::size_t) { return BatchShares(blocks, jobs, program, options, count); }});
    report.jobs = jobs.size();
    return report;
}

BatchReport run_batch(Devices& devices, const Program& program, std::span<const Job> jobs,
                      const BatchOptions& options) {
    return core::run_counted(devices, program, jobs, options, [](std::size_t) { return 1u; });
}

}  // namespace weft
