// SPDX-License-Identifier: Apache-2.0
// The thread of a JobPipeline. Its calls are in job_pipeline_calls.cpp.
#include "vulkan/engine/job_pipeline.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

namespace weft {

using std::chrono::nanoseconds;

namespace {

// The amount of work to come is unknown, so chunks and bundles have the sizes of a batch with this many bytes
// for each slot.
constexpr std::uint64_t kAssumedBytesPerSlot = std::uint64_t{96} << 20;

/// Each pipeline has a range of 2^40 tokens.
std::uint64_t next_first_id() {
    static std::atomic<std::uint64_t> pipelines{0};
    return ((pipelines.fetch_add(1, std::memory_order_relaxed) + 1) << 40) + 1;
}

/// A failure of the driver belongs to no single job.
bool of_one_job(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const Error& e) {
        return e.code() != Errc::driver && e.code() != Errc::device_lost;
    } catch (const std::bad_alloc&) {
        return true;
    } catch (...) {
        return false;
    }
}

}  // namespace

JobPipeline::Impl::Impl(Backend& backend, const Program& p, const BatchOptions& options)
    : backend_state(detail::Access::backend_state(backend)), first_id(next_first_id()) {
    core::Device& device = backend_state->context()->device;
    device.require_usable("JobPipeline");
    program = core::program_for(*backend_state, p, "JobPipeline");
    BatchOptions resolved = options;
    progress = options.progress;
    // A pipeline may run for days, so it collects intervals only on request.
    if (resolved.stage_times == Choice::automatic) resolved.stage_times = Choice::off;
    settings = core::settle_options(device.plan(), device.snapshot(), resolved, 0);
    settings.total_bytes = kAssumedBytesPerSlot * settings.slots;
    engine = std::make_unique<core::BatchEngine>(*backend_state, program, settings, this);
    report = engine->report();
    try {
        thread = std::thread([this] { run(); });
        thread_id = thread.get_id();
    } catch (const std::system_error& e) {
        throw Error(Errc::out_of_memory,
                    std::string("JobPipeline: cannot start a thread (got \"") + e.what() + "\")",
                    e.code().value());
    }
    on_stop.emplace(options.cancel, CancelQueued{this});
}

JobPipeline::Impl::~Impl() {
    on_stop.reset();  // waits for a callback that another thread is in
    {
        const std::lock_guard lock(mutex);
        stop = true;
    }
    inbox.notify_all();
    thread.join();
}

/// Allocates nothing: a job that failed or was cancelled keeps its node.
void JobPipeline::Impl::end(std::uint64_t id, JobState state, const std::exception_ptr& error) noexcept {
    auto node = entries.extract(id);
    Entry& entry = node.mapped();
    for (const core::JobSpan& span : entry.spans) memory.erase(span);
    if (state != JobState::done) {
        entry = {.state = state, .error = error};
        failures.insert(std::move(node));
    }
    over.notify_all();
}

/// Called when BatchOptions::cancel is stopped, on the thread that stops it.
void JobPipeline::Impl::cancel_queued() noexcept {
    if (backend_state->context()->device.foreign_process())
        return;  // a thread of the parent may hold the lock
    const std::lock_guard lock(mutex);
    cancelled = true;
    for (auto it = entries.lower_bound(next_queued); it != entries.end();)
        end(it++->first, JobState::cancelled, nullptr);
}

void JobPipeline::Impl::on_job_done(std::uint64_t sequence) {
    const auto it = id_of.find(sequence);
    finished.push_back(it->second);
    id_of.erase(it);
}

/// The report is updated first, so that it counts every job that a wait has returned for. If the host has no
/// memory for it, the next call updates it.
void JobPipeline::Impl::publish() noexcept {
    if (finished.empty()) return;
    std::optional<BatchReport> now;
    try {
        now = engine->report();
    } catch (const std::bad_alloc&) {
    }
    const std::lock_guard lock(mutex);
    if (now) report = std::move(*now);
    for (const std::uint64_t id : finished) end(id, JobState::done, nullptr);
    finished.clear();
}

/// Runs before publish(), so that a wait for a job returns after the job's callback, and without the lock, so
/// that the callback may call the pipeline.
void JobPipeline::Impl::notify() {
    if (!progress) return;
    const std::uint64_t done = engine->jobs_done();
    std::uint64_t given = 0;
    {
        const std::lock_guard lock(mutex);
        given = next_id - first_id;
    }
    while (notified < done) {
        ++notified;
        progress({notified, given, core::seconds_since(begin)});
    }
}

/// Hands queued jobs to the engine, as many as may share a bundle, when it has nothing else to start.
void JobPipeline::Impl::feed() {
    std::unique_lock lock(mutex);
    inbox.wait(lock, [&] { return stop || engine->in_flight() || next_queued < next_id; });
    std::array<std::pair<std::uint64_t, const Job*>, core::kMaxBundleChunks> taken;
    std::size_t count = 0;
    for (; !stop && next_queued < next_id && count < taken.size(); ++next_queued) {
        const auto it = entries.find(next_queued);
        if (it == entries.end()) continue;  // cancelled
        it->second.state = JobState::running;
        taken[count++] = {next_queued, &it->second.job};
    }
    lock.unlock();
    if (count != 0) finished.reserve(id_of.size() + count);  // on_job_done() must not fail
    for (const auto& [id, job] : std::span(taken).first(count)) {
        id_of.emplace(engine->next_sequence(), id);
        engine->add(*job);
    }
    notify();
    publish();  // jobs without elements are over already
}

/// A free slot may get work at any moment, so the wait checks for new jobs from time to time.
void JobPipeline::Impl::await_oldest() {
    if (engine->has_free_slot()) {
        for (bool first = true; !engine->await_oldest(std::chrono::microseconds(200), first); first = false) {
            const std::lock_guard lock(mutex);
            if (next_queued < next_id) return;
        }
    } else {
        bool more = false;
        {
            const std::lock_guard lock(mutex);
            more = next_queued < next_id;
        }
        engine->await_oldest(nanoseconds::max(), true, more);
    }
    engine->finish();
    notify();
    publish();
}

bool JobPipeline::Impl::step() {
    if (!engine->can_start() && engine->has_free_slot()) feed();
    if (engine->can_start()) {
        starting = true;
        engine->start();
        starting = false;
        notify();
        publish();  // if memory is short, start() finishes bundles first
    } else if (engine->in_flight()) {
        await_oldest();
    } else {
        const std::lock_guard lock(mutex);
        return !stop;
    }
    return true;
}

void JobPipeline::Impl::fail_all(const std::exception_ptr& error) noexcept {
    engine->abandon();
    publish();
    id_of.clear();
    const std::lock_guard lock(mutex);
    fatal = error;
    next_queued = next_id;
    while (!entries.empty()) end(entries.begin()->first, JobState::failed, error);
}

/// For example, a job for which there is no memory does not make other jobs fail.
void JobPipeline::Impl::fail_one(const std::exception_ptr& error) {
    const std::uint64_t sequence = engine->failed_job();
    engine->fail(sequence);
    publish();
    const auto it = id_of.find(sequence);
    if (it == id_of.end()) return;
    const std::uint64_t id = it->second;
    id_of.erase(it);
    const std::lock_guard lock(mutex);
    end(id, JobState::failed, error);
}

void JobPipeline::Impl::run() {
    for (bool more = true; more;) {
        starting = false;
        try {
            more = step();
        } catch (...) {
            fail(std::current_exception());
        }
    }
}

void JobPipeline::Impl::fail(const std::exception_ptr& error) noexcept {
    // A failure after the start does not belong to a single job, and the jobs under way would never end.
    try {
        if (starting && of_one_job(error)) return fail_one(error);
    } catch (...) {
    }
    fail_all(error);
}

}  // namespace weft
