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

/// Units of a job of which `done` elements are done.
std::uint64_t units_of_part(std::uint64_t units, std::uint64_t done, std::uint64_t elements) {
    return units / elements * done + units % elements * done / elements;
}

/// How much of the jobs is done: a job may be done in parts, on several devices.
class JobCount {
  public:
    JobCount(std::span<const Job> jobs, const core::UnitsOf& units) : jobs_(jobs), units_(units) {
        done_.resize(jobs.size());
        for (std::size_t j = 0; j < jobs.size(); ++j) total_ += units(j);
    }
    /// Units that all jobs count.
    std::uint64_t total() const { return total_; }
    /// Returns the units that these elements of the job count.
    std::uint64_t done(std::size_t job, std::uint64_t elements) {
        const std::lock_guard lock(mutex_);
        const std::uint64_t before = std::exchange(done_[job], done_[job] + elements);
        return between(job, before, before + elements);
    }
    /// These elements will be done again. Returns the units that they counted.
    std::uint64_t undo(std::size_t job, std::uint64_t elements) {
        const std::lock_guard lock(mutex_);
        const std::uint64_t before = std::exchange(done_[job], done_[job] - elements);
        return between(job, before - elements, before);
    }

  private:
    std::uint64_t between(std::size_t job, std::uint64_t first, std::uint64_t last) const {
        const std::uint64_t units = units_(job), elements = jobs_[job].elements;
        if (elements == 0) return units;
        return units_of_part(units, last, elements) - units_of_part(units, first, elements);
    }

    std::span<const Job> jobs_;
    const core::UnitsOf& units_;
    std::uint64_t total_ = 0;
    std::mutex mutex_;
    std::vector<std::uint64_t> done_;  // elements of each job
};

/// The progress of a batch from the number of elements that are done, which are those of the first jobs.
class UnitsDone {
  public:
    UnitsDone(std::span<const Job> jobs, const core::UnitsOf& units, const ProgressCallback& progress)
        : jobs_(jobs), units_(units), progress_(progress) {
        for (std::size_t j = 0; j < jobs.size(); ++j) total_ += units(j);
    }
    /// Reports each job that is done now, and the part of the next one.
    void operator()(const Progress& elements) {
        while (job_ < jobs_.size() && elements.done - before_ >= jobs_[job_].elements) {
            const std::uint64_t own = jobs_[job_].elements;
            before_ += own;
            whole_ += units_(job_++);
            if (own != 0) progress_({whole_, total_, elements.elapsed_s});
        }
        if (elements.done > before_)
            progress_({whole_ + units_of_part(units_(job_), elements.done - before_, jobs_[job_].elements),
                       total_, elements.elapsed_s});
    }

  private:
    std::span<const Job> jobs_;
    const core::UnitsOf& units_;
    const ProgressCallback& progress_;
    std::uint64_t total_ = 0, whole_ = 0;  // units of all jobs, and of those that are done
    std::size_t job_ = 0;                  // the first that is not done
    std::uint64_t before_ = 0;             // elements of the jobs before it
};

/// What a share reports while the elements of its parts are done, one part after the other.
class PartsDone {
  public:
    PartsDone(std::span<const core::JobPart> parts, JobCount& count, core::ShareWatch& watch)
        : parts_(parts), count_(count), watch_(watch) {}
    /// `elements` of the share are done now, and parts without elements that follow them.
    void note(std::uint64_t elements) {
        while (at_ < parts_.size()) {
            const core::JobPart& part = parts_[at_];
            const std::uint64_t more = std::min(elements - noted_, part.count - within_);
            if (more == 0 && part.count != 0) return;
            noted_ += more;
            within_ += more;
            if (within_ == part.count) {
                ++at_;
                within_ = 0;
            }
            watch_.add(count_.done(part.job, more));
        }
    }
    void note_all() { note(noted_); }
    /// All of it will be done again.
    void undo() {
        std::uint64_t undone = 0;
        for (std::size_t i = 0; i < at_; ++i) undone += count_.undo(parts_[i].job, parts_[i].count);
        if (within_ != 0) undone += count_.undo(parts_[at_].job, within_);
        watch_.take_back(undone);
    }

  private:
    std::span<const core::JobPart> parts_;
    JobCount& count_;
    core::ShareWatch& watch_;
    std::size_t at_ = 0;                    // the first part that is not done
    std::uint64_t within_ = 0, noted_ = 0;  // elements of that part, and of all, that are done
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
        PartsDone done(parts, count_, watch);
        watched.progress = [&](const Progress& elements) { done.note(elements.done); };
        OpReport report;
        try {
            static_cast<BatchReport&>(report) =
                core::run_engine(engine, 0, watched, begin, core::Counting::elements);
            done.note_all();
        } catch (...) {
            done.undo();
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
    UnitsDone done(jobs, units, options.progress);
    BatchOptions counted = options;
    counted.progress = [&](const Progress& elements) { done(elements); };
    return run_by_elements(backend, program, jobs, counted);
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
