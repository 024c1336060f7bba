// SPDX-License-Identifier: Apache-2.0
// The thread of a JobPipeline.
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

// How much work is to come is unknown; the chunk and bundle sizes of a batch of this many bytes a slot are
// used.
constexpr std::uint64_t kAssumedBytesPerSlot = std::uint64_t{96} << 20;

/// Each pipeline has 2^40 of its own.
std::uint64_t next_first_id() {
    static std::atomic<std::uint64_t> pipelines{0};
    return ((pipelines.fetch_add(1, std::memory_order_relaxed) + 1) << 40) + 1;
}

/// What the driver fails at belongs to no job.
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
    : backend_state(backend.backend_state()), program(p.object()), first_id(next_first_id()) {
    core::Device& device = backend_state->context()->device;
    device.require_usable("JobPipeline");
    core::require_same_backend(*backend_state, *program, "JobPipeline");
    BatchOptions resolved = options;
    progress = options.progress;
    // A pipeline may run for days: intervals are collected only when asked for.
    if (resolved.stage_times == StageTimes::automatic) resolved.stage_times = StageTimes::off;
    settings = core::settle_options(device.plan(), device.snapshot(), resolved, 0);
    settings.total_bytes = kAssumedBytesPerSlot * settings.slots;
    engine = std::make_unique<core::BatchEngine>(*backend_state, program, settings, this);
    report = engine->report();
    try {
        thread = std::thread([this] { run(); });
    } catch (const std::system_error& e) {
        throw Error(Errc::out_of_memory,
                    std::string("JobPipeline: no thread to be had (got \"") + e.what() + "\")",
                    e.code().value());
    }
}

JobPipeline::Impl::~Impl() {
    {
        const std::lock_guard lock(mutex);
        stop = true;
    }
    inbox.notify_all();
    thread.join();
}

/// Where the host has no memory left, too: what ended badly keeps its node.
void JobPipeline::Impl::end(std::uint64_t id, JobState state, const std::exception_ptr& error) noexcept {
    auto node = entries.extract(id);
    Entry& entry = node.mapped();
    for (const core::JobSpan& span : entry.spans) memory.erase(span);
    if (state != JobState::done) {
        entry = {{}, state, {}, error};
        failures.insert(std::move(node));
    }
    over.notify_all();
}

void JobPipeline::Impl::on_job_done(std::uint64_t sequence) {
    const auto it = id_of.find(sequence);
    finished.push_back(it->second);
    id_of.erase(it);
}

/// The report goes first: who has waited for a job finds it counted. Where the host has no memory for it, the
/// next one tells.
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

/// Before publish(), so that who has waited for a job knows its callback has returned; without the lock, so
/// that it may call the pipeline.
void JobPipeline::Impl::notify() {
    if (!progress) return;
    const std::uint64_t done = engine->jobs_done();
    std::uint64_t given = 0;
    {
        const std::lock_guard lock(mutex);
        given = next_id - first_id;
    }
    while (told < done) {
        ++told;
        progress({told, given, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()});
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

/// A free slot may get work at any moment, so then the wait looks up now and again.
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
        publish();  // short of memory it finishes bundles first
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

/// A job that finds no room, say, does not take its neighbours down.
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
    // Nothing after the start belongs to one job: jobs under way would never be told of.
    try {
        if (starting && of_one_job(error)) return fail_one(error);
    } catch (...) {
    }
    fail_all(error);
}

}  // namespace weft
