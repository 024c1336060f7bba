// SPDX-License-Identifier: Apache-2.0
// Also completes weft/batch.hpp: run_batch checks everything, then drives the engine.
#include "vulkan/engine/batch_engine.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace weft::core {
namespace {

/// Calls visit(buffer, offset, bytes) for what a kernel reads or writes in memory that the host reaches.
template <class Visit>
void for_each_mapped(const Bundle& work, const Visit& visit) {
    for (const ChunkDispatch& chunk : work.chunks)
        for (std::uint32_t k = 0; k < chunk.bound_count; ++k)
            if (chunk.bound[k].buffer->mapped() != nullptr)
                visit(*chunk.bound[k].buffer, chunk.bound[k].offset, chunk.bound[k].bytes);
}

/// Flushes the user's page-locked memory as well as the slot's: the device may not snoop either of them.
void flush(const Bundle& work) {
    const auto flush_one = [](const BufferObject& buffer, std::uint64_t offset, std::uint64_t bytes) {
        buffer.flush(offset, bytes);
    };
    for_each_mapped(work, flush_one);
    for (const CopyRegion& region : work.uploads) region.source->flush(region.source_offset, region.bytes);
    // Cache lines that the host left dirty would overwrite what the device is about to store.
    for (const CopyRegion& region : work.downloads) region.target->flush(region.target_offset, region.bytes);
}

void invalidate(const Bundle& work) {
    const auto invalidate_one = [](const BufferObject& buffer, std::uint64_t offset, std::uint64_t bytes) {
        buffer.invalidate(offset, bytes);
    };
    for_each_mapped(work, invalidate_one);
    for (const CopyRegion& region : work.downloads)
        region.target->invalidate(region.target_offset, region.bytes);
}

}  // namespace

BatchEngine::BatchEngine(BackendState& backend_state, std::shared_ptr<const ProgramObject> program,
                         const BatchSettings& settings, JobListener* listener)
    : backend_state_(backend_state),
      context_(*backend_state.context()),
      program_(std::move(program)),
      settings_(settings),
      listener_(listener),
      ring_(backend_state.rings().acquire(backend_state.context(), settings.slots)),
      planner_(backend_state, *program_, settings_, ring_->chunks),
      meter_(backend_state, *program_, settings_) {}

BatchEngine::~BatchEngine() {
    abandon();
    meter_.log();
    backend_state_.rings().give_back(std::move(ring_));
}

std::uint64_t BatchEngine::add(const Job& job, std::uint64_t first, std::uint64_t count) {
    pending_.jobs.push_back({.job = &job, .next = first, .end = first + count});
    const std::uint64_t sequence = next_sequence() - 1;
    meter_.job_added(job, count);
    skip_over();
    return sequence;
}

void BatchEngine::fail(std::uint64_t job) {
    while (in_flight_ != 0) finish();
    if (job < pending_.base || pending_.at(job).over) return;
    pending_.at(job).over = true;
    planner_.release_imports(job);
    planner_.drop_plan();
    skip_over();
}

/// Moves on past jobs that have nothing left to start; jobs without elements are done immediately.
void BatchEngine::skip_over() {
    while (pending_.any_left()) {
        const PendingJob& p = pending_.jobs[pending_.next];
        if (!p.over && p.next < p.end) break;
        if (!p.over && p.open_chunks == 0) complete_job(pending_.base + pending_.next);
        ++pending_.next;
    }
    while (!pending_.jobs.empty() && pending_.jobs.front().over && pending_.next > 0) {
        pending_.jobs.pop_front();
        ++pending_.base;
        --pending_.next;
    }
}

void BatchEngine::complete_job(std::uint64_t job) {
    pending_.at(job).over = true;
    planner_.release_imports(job);
    meter_.job_done();
    if (listener_ != nullptr) listener_->on_job_done(job);
}

bool BatchEngine::await_oldest(std::chrono::nanoseconds timeout, bool spin, bool more) {
    const bool ring_wait = !has_free_slot() && (more || pending_.any_left());
    oldest_done_ = meter_.wait(ring_->slots[head_]->done, timeout, spin, ring_wait);
    return oldest_done_;
}

/// Makes room for the planned bundle. If memory is short, it gives memory back, plans for less and returns
/// false: the caller must plan again.
bool BatchEngine::reserve(Slot& slot) {
    try {
        slot.reserve(planner_.needs());
        return true;
    } catch (const Error& e) {
        // invalid_argument here means that an area is larger than one buffer can be.
        if (e.code() != Errc::out_of_memory && e.code() != Errc::invalid_argument) throw;
        while (in_flight_ != 0) finish();
        for (auto& other : ring_->slots) other->shrink();
        backend_state_.trim();
        const std::size_t slots = planner_.shrink_request(e, ring_->slots.size());
        if (slots < ring_->slots.size()) {
            head_ = 0;
            ring_->slots.resize(slots);
        }
        return false;
    }
}

/// What runs the parts of chunks that are to be cut; null: no chunk is, because none has to be or none can.
const CutPipeline* BatchEngine::cut_of(Bundle& work) const {
    const auto is_cut = [](const ChunkDispatch& chunk) { return chunk.part_workgroups != 0; };
    if (std::none_of(work.chunks.begin(), work.chunks.end(), is_cut)) return nullptr;
    const CutPipeline* cut = context_.pipelines.cut(*program_->pipeline);
    if (cut == nullptr)
        for (ChunkDispatch& chunk : work.chunks) chunk.part_workgroups = 0;
    return cut;
}

void BatchEngine::build(Slot& slot) {
    planner_.write(slot.areas(), slot.work);
    slot.timed = settings_.stage_times || (context_.trace.active() && context_.device.plan().timestamps);
    const Pipeline& pipeline = *program_->pipeline;
    const CutPipeline* cut = cut_of(slot.work);
    recording_key(slot.work, pipeline, slot.timed, ring_->key);
    bool fresh = false;
    slot.active = &slot.recording(ring_->key, fresh);
    if (!fresh) return;
    try {
        record(context_.device, slot.work, pipeline, cut, slot.timed, *slot.active);
    } catch (...) {
        slot.active->key.clear();
        throw;
    }
}

void BatchEngine::submit(Slot& slot) {
    const Recording& r = *slot.active;
    Device& device = context_.device;
    if (slot.timed) device.vk.vkResetQueryPool(device.handle(), r.queries, 0, 2 * kQueueRoles);
    const auto commands = [&](QueueRole role) { return r.commands[static_cast<std::size_t>(role)]; };
    if (slot.work.submit != SubmitMode::split) {
        slot.done = context_.timelines.submit(QueueRole::compute, commands(QueueRole::compute));
        return;
    }
    // The token is kept after each submission: if the next one fails, the slot still knows what runs on it.
    slot.done = context_.timelines.submit(QueueRole::upload, commands(QueueRole::upload));
    slot.done = context_.timelines.submit(QueueRole::compute, commands(QueueRole::compute), slot.done);
    slot.done = context_.timelines.submit(QueueRole::download, commands(QueueRole::download), slot.done);
}

void BatchEngine::launch(Slot& slot) {
    slot.done = {};
    try {
        build(slot);
        meter_.copy(slot, Stage::copy_in);
        flush(slot.work);
        slot.launched = std::chrono::steady_clock::now();
        submit(slot);
    } catch (...) {
        // The upload may run although the kernel could not be submitted.
        context_.timelines.drain(slot.done);
        slot.work.clear();
        throw;
    }
}

void BatchEngine::start() {
    context_.device.require_usable("run_batch");
    failed_job_ = pending_.base + pending_.next;
    // finish() inside reserve() may free slots but never moves the next slot of the circle.
    do {
        if (!planner_.plan(pending_, meter_.total_bytes())) return;
    } while (!reserve(next_slot()));
    if (context_.trace.active()) context_.trace.ring_acquire();
    Slot& slot = next_slot();
    launch(slot);
    ++in_flight_;
    for (const ChunkDispatch& started : slot.work.chunks) {
        PendingJob& p = pending_.at(started.chunk.job);
        p.next = started.chunk.first + started.chunk.count;
        ++p.open_chunks;
    }
    planner_.note_started(slot.work);
    meter_.bundle_started(slot.work);
    skip_over();
}

/// The kernel's own time if it was taken, else what the wait says: a bundle that kept the host waiting for
/// long is slower than was known, and later ones correct the pace if it is known when they began.
void BatchEngine::learn(const Slot& slot, std::optional<double> kernel_s, SteadyTime done) {
    PipelineCuts& cuts = *program_->pipeline->cuts;
    const double waited = meter_.waited_s() - std::exchange(waited_s_, meter_.waited_s());
    const DispatchPace pace = cuts.pace();
    const double amount = slot.work.amount;
    constexpr double kWaits = 20e-6;  // less is the time of a call
    const bool begin_known = waited_for_last_ || slot.launched >= last_done_;
    if (kernel_s && (pace.seconds > 0 || *kernel_s > context_.budget.seconds))
        cuts.set_pace(measured_pace(pace, amount, *kernel_s));
    else if (!kernel_s && is_long_wait(waited, context_.budget))
        cuts.set_pace(slower_pace(pace, amount, waited));
    else if (begin_known)
        cuts.set_pace(faster_pace(pace, amount, seconds_between(std::max(slot.launched, last_done_), done)));
    waited_for_last_ = waited > kWaits;
    last_done_ = done;
}

void BatchEngine::finish() {
    Slot& slot = *ring_->slots[head_];
    if (!oldest_done_) await_oldest(std::chrono::nanoseconds::max(), true);
    oldest_done_ = false;
    const SteadyTime now = std::chrono::steady_clock::now();
    head_ = (head_ + 1) % ring_->slots.size();
    --in_flight_;
    learn(slot, meter_.bundle_done(slot, in_flight_ == 0), now);
    invalidate(slot.work);
    meter_.copy(slot, Stage::copy_out);
    slot.work.keep_alive.clear();
    for (const ChunkDispatch& done : slot.work.chunks) {
        PendingJob& p = pending_.at(done.chunk.job);
        elements_done_ += done.chunk.count;
        if (--p.open_chunks == 0 && p.next >= p.end) complete_job(done.chunk.job);
    }
    skip_over();
}

void BatchEngine::abandon() noexcept {
    while (in_flight_ != 0) {
        context_.timelines.drain(ring_->slots[head_]->done);
        head_ = (head_ + 1) % ring_->slots.size();
        --in_flight_;
    }
    oldest_done_ = false;
    // A bundle that was planned, or failed half way, still holds page-locked memory of the user.
    for (auto& slot : ring_->slots) slot->work.clear();
    planner_.clear();
    pending_.base += pending_.jobs.size();
    pending_.jobs.clear();
    pending_.next = 0;
}

BatchReport run_engine(BatchEngine& engine, std::uint64_t total, const BatchOptions& options,
                       SteadyTime begin, Counting counting) {
    std::uint64_t notified = 0;
    const auto notify = [&] {
        if (!options.progress) return;
        if (counting == Counting::jobs) {
            for (; notified < engine.jobs_done(); ++notified)
                options.progress({notified + 1, total, seconds_since(begin)});
        } else if (notified < engine.elements_done()) {
            notified = engine.elements_done();
            options.progress({notified, total, seconds_since(begin)});
        }
    };
    notify();
    while (engine.can_start() || engine.in_flight()) {
        if (options.cancel.stop_requested())
            throw Error(Errc::cancelled, "run_batch: cancelled by its stop token (" +
                                             std::to_string(engine.jobs_done()) + " of " +
                                             std::to_string(engine.next_sequence()) + " jobs were done)");
        if (engine.can_start()) {
            engine.start();
        } else {
            engine.finish();
            notify();
        }
    }
    BatchReport report = engine.report();
    report.wall_s = seconds_since(begin);
    return report;
}

namespace {

BatchReport run_jobs(Backend& backend, const Program& program, std::span<const Job> jobs,
                     const BatchOptions& options, Counting counting) {
    const auto begin = std::chrono::steady_clock::now();
    BackendState& backend_state = *detail::Access::backend_state(backend);
    Device& device = backend_state.context()->device;
    device.require_usable("run_batch");
    const std::shared_ptr<const ProgramObject> object = program_for(backend_state, program, "run_batch");
    const ProgramNeeds needs = needs_of(*object);
    std::uint64_t bytes = 0, elements = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        check_job(needs, device.snapshot().limits, jobs[i], i);
        bytes += job_bytes_in(jobs[i]) + job_bytes_out(jobs[i]);
        elements += jobs[i].elements;
    }
    const BatchSettings settings = settle_options(device.plan(), device.snapshot(), options, bytes);
    BatchEngine engine(backend_state, object, settings, nullptr);
    auto& spans = engine.scratch().spans;
    spans.clear();
    for (std::size_t i = 0; i < jobs.size(); ++i) append_spans(jobs[i], i, spans);
    check_overlaps(spans);
    for (const Job& job : jobs) engine.add(job);
    return run_engine(engine, counting == Counting::jobs ? jobs.size() : elements, options, begin, counting);
}

}  // namespace

BatchReport run_by_elements(Backend& backend, const Program& program, std::span<const Job> jobs,
                            const BatchOptions& options) {
    return run_jobs(backend, program, jobs, options, Counting::elements);
}

}  // namespace weft::core

namespace weft {

BatchReport run_batch(Backend& backend, const Program& program, std::span<const Job> jobs,
                      const BatchOptions& options) {
    return core::run_jobs(backend, program, jobs, options, core::Counting::jobs);
}

}  // namespace weft
