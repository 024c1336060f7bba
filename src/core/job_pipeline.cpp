// SPDX-License-Identifier: Apache-2.0
// JobPipeline: an inbox in front of a BatchEngine that a thread of its own drives.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <weft/batch.hpp>

#include "core/batch_engine.hpp"
#include "core/span_set.hpp"

namespace weft {

using std::chrono::nanoseconds;

namespace {

// How much work is to come is unknown; the chunk and group sizes of a batch of this many bytes a slot are
// used.
constexpr std::uint64_t kAssumedBytesPerSlot = std::uint64_t{96} << 20;

/// Tokens of different pipelines never meet: each pipeline has 2^40 of its own.
std::uint64_t next_first_id() {
    static std::atomic<std::uint64_t> pipelines{0};
    return ((pipelines.fetch_add(1, std::memory_order_relaxed) + 1) << 40) + 1;
}

/// The checks that run_batch makes too, with the caller's name in their texts.
template <class Check>
void told_by(const std::string& caller, const Check& check) {
    try {
        check();
    } catch (const Error& e) {
        const std::string text = e.what();
        throw Error(e.code(), caller + text.substr(text.find(':')), e.native_code());
    }
}

}  // namespace

struct JobPipeline::Impl final : core::JobListener {
    struct Entry {
        Job job;
        JobState state = JobState::queued;
        std::vector<core::JobSpan> spans;
    };
    struct Failure {
        std::exception_ptr error;  // empty: cancelled
        bool told = false;         // to a wait for the job or for all
    };

    Impl(Backend& backend, const Program& program, const BatchOptions& options);
    ~Impl() override;

    void run();
    bool step();
    void feed();
    void await_oldest();
    void fail_one(const std::exception_ptr& error);
    void fail_all(const std::exception_ptr& error);
    void end(std::uint64_t id, JobState state, std::exception_ptr error);
    void publish();
    void tell();
    void on_job_done(std::uint64_t sequence) override;
    std::uint64_t known(JobToken token) const;
    void require_own_process(const char* what) const { runtime->context()->device.require_own_process(what); }

    std::shared_ptr<core::Runtime> runtime;
    std::shared_ptr<const core::ProgramObject> program;
    core::BatchSettings settings;
    std::unique_ptr<core::BatchEngine> engine;     // touched by the thread alone after construction
    std::map<std::uint64_t, std::uint64_t> id_of;  // engine sequence -> token; the thread's own
    std::vector<std::uint64_t> finished;           // done but not yet told; the thread's own
    bool starting = false;                         // inside engine->start(); the thread's own
    ProgressCallback progress;
    std::uint64_t told = 0;  // jobs; the thread's own

    mutable std::mutex mutex;  // guards everything below
    std::condition_variable inbox, over;
    std::map<std::uint64_t, Entry> entries;  // queued and running
    const std::uint64_t first_id = next_first_id();
    std::uint64_t next_id = first_id, next_queued = first_id;  // first id not yet handed to the engine
    std::map<std::uint64_t, Failure> failures;                 // ended badly, kept for state()
    core::SpanSet memory;
    std::exception_ptr fatal;  // the device is gone
    BatchReport report;
    bool stop = false;

    std::thread thread;
};

JobPipeline::Impl::Impl(Backend& backend, const Program& p, const BatchOptions& options)
    : runtime(backend.runtime()), program(p.object()) {
    core::Device& device = runtime->context()->device;
    device.require_usable("JobPipeline");
    core::require_same_backend(*runtime, *program, "JobPipeline");
    BatchOptions resolved = options;
    progress = options.progress;
    // A pipeline may run for days: intervals are collected only when asked for.
    if (resolved.stage_times == StageTimes::automatic) resolved.stage_times = StageTimes::off;
    settings = core::resolve(device.plan(), device.snapshot(), resolved, 0);
    settings.total_bytes = kAssumedBytesPerSlot * settings.slots;
    engine = std::make_unique<core::BatchEngine>(*runtime, program, settings, this);
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

void JobPipeline::Impl::end(std::uint64_t id, JobState state, std::exception_ptr error) {
    const auto it = entries.find(id);
    for (const core::JobSpan& span : it->second.spans) memory.erase(span);
    entries.erase(it);
    if (state != JobState::done) failures.emplace(id, Failure{std::move(error)});
    over.notify_all();
}

void JobPipeline::Impl::on_job_done(std::uint64_t sequence) {
    const auto it = id_of.find(sequence);
    finished.push_back(it->second);
    id_of.erase(it);
}

/// The report goes first: who has waited for a job finds it counted.
void JobPipeline::Impl::publish() {
    if (finished.empty()) return;
    BatchReport now = engine->report();
    const std::lock_guard lock(mutex);
    report = std::move(now);
    for (const std::uint64_t id : finished) end(id, JobState::done, nullptr);
    finished.clear();
}

/// Before publish(), so that who has waited for a job knows its callback has returned; without the lock, so
/// that it may call the pipeline.
void JobPipeline::Impl::tell() {
    if (!progress) return;
    const std::uint64_t done = engine->jobs_done();
    std::uint64_t given = 0;
    {
        const std::lock_guard lock(mutex);
        given = next_id - first_id;
    }
    while (told < done) {
        ++told;
        progress(told, given);
    }
}

/// Hands queued jobs to the engine, as many as may share a group, when it has nothing else to start.
void JobPipeline::Impl::feed() {
    std::unique_lock lock(mutex);
    inbox.wait(lock, [&] { return stop || engine->in_flight() || next_queued < next_id; });
    std::vector<std::pair<std::uint64_t, const Job*>> taken;
    for (; !stop && next_queued < next_id && taken.size() < core::kMaxGroupPieces; ++next_queued) {
        const auto it = entries.find(next_queued);
        if (it == entries.end()) continue;  // cancelled
        it->second.state = JobState::running;
        taken.emplace_back(next_queued, &it->second.job);
    }
    lock.unlock();
    for (const auto& [id, job] : taken) {
        id_of.emplace(engine->next_sequence(), id);
        engine->add(*job);
    }
    tell();
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
    tell();
    publish();
}

bool JobPipeline::Impl::step() {
    if (!engine->can_start() && engine->has_free_slot()) feed();
    if (engine->can_start()) {
        starting = true;
        engine->start();
        starting = false;
        tell();
        publish();  // short of memory it finishes groups first
    } else if (engine->in_flight()) {
        await_oldest();
    } else {
        const std::lock_guard lock(mutex);
        return !stop;
    }
    return true;
}

void JobPipeline::Impl::fail_all(const std::exception_ptr& error) {
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
    for (;;) {
        starting = false;
        try {
            if (!step()) return;
        } catch (const Error& e) {
            const std::exception_ptr error = std::current_exception();
            // What the driver fails at belongs to no job, nor does anything after the start: jobs under way
            // would never be told of.
            if (!starting || e.code() == Errc::driver || e.code() == Errc::device_lost) {
                fail_all(error);
                continue;
            }
            try {
                fail_one(error);
            } catch (...) {
                fail_all(error);
            }
        } catch (...) {
            fail_all(std::current_exception());
        }
    }
}

std::uint64_t JobPipeline::Impl::known(JobToken token) const {
    if (token.id < first_id || token.id >= next_id)
        throw Error(Errc::invalid_argument, "JobPipeline: unknown token (got " + std::to_string(token.id) +
                                                ", need one that submit() of this pipeline returned)");
    return token.id;
}

JobPipeline::JobPipeline(Backend& backend, const Program& program, const BatchOptions& options)
    : impl_(std::make_unique<Impl>(backend, program, options)) {}
JobPipeline::JobPipeline(JobPipeline&&) noexcept = default;
JobPipeline& JobPipeline::operator=(JobPipeline&& other) noexcept {
    if (this == &other) return *this;
    const JobPipeline old(std::move(*this));
    impl_ = std::move(other.impl_);
    return *this;
}

JobPipeline::~JobPipeline() {
    // The thread stayed in the parent: waiting for it, or for locks it held, would never end.
    if (impl_ && impl_->runtime->context()->device.foreign_process()) (void)impl_.release();
}

JobPipeline::Impl& JobPipeline::impl() const {
    if (!impl_) throw Error(Errc::invalid_argument, "JobPipeline: used after it was moved from");
    return *impl_;
}

JobToken JobPipeline::submit(const Job& job) {
    core::Device& device = impl().runtime->context()->device;
    device.require_usable("JobPipeline::submit");
    const std::lock_guard lock(impl().mutex);
    if (impl().fatal) std::rethrow_exception(impl().fatal);
    const std::uint64_t id = impl().next_id, index = id - impl().first_id;
    Impl::Entry entry{job, JobState::queued, {}};
    told_by("JobPipeline::submit", [&] {
        core::check_job(core::shape_of(*impl().program), device.snapshot().limits, job, index);
        core::append_spans(job, index, entry.spans);
        core::check_overlaps(entry.spans);
    });
    for (const core::JobSpan& span : entry.spans)
        if (const core::JobSpan* other = impl().memory.conflict(span))
            throw Error(Errc::invalid_argument, "JobPipeline::submit: memory of job " +
                                                    std::to_string(index) + " overlaps that of job " +
                                                    std::to_string(other->job) +
                                                    ", which is still under way (need to wait for it first)");
    for (const core::JobSpan& span : entry.spans) impl().memory.insert(span);
    impl().entries.emplace(id, std::move(entry));
    ++impl().next_id;
    impl().inbox.notify_all();
    return {id};
}

bool JobPipeline::wait(JobToken token, nanoseconds timeout) {
    impl().require_own_process("JobPipeline::wait");
    std::unique_lock lock(impl().mutex);
    const std::uint64_t id = impl().known(token);
    const auto finished = [&] { return impl().entries.find(id) == impl().entries.end(); };
    if (timeout == nanoseconds::max()) {
        impl().over.wait(lock, finished);
    } else if (!impl().over.wait_for(lock, std::min(timeout, nanoseconds(std::chrono::hours(24 * 365))),
                                     finished)) {
        return false;
    }
    const auto failure = impl().failures.find(id);
    if (failure == impl().failures.end()) return true;
    failure->second.told = true;
    if (failure->second.error) std::rethrow_exception(failure->second.error);
    throw Error(Errc::cancelled,
                "JobPipeline::wait: job " + std::to_string(id - impl().first_id) + " was cancelled");
}

JobState JobPipeline::state(JobToken token) const {
    impl().require_own_process("JobPipeline::state");
    const std::lock_guard lock(impl().mutex);
    const std::uint64_t id = impl().known(token);
    if (const auto it = impl().entries.find(id); it != impl().entries.end()) return it->second.state;
    const auto failure = impl().failures.find(id);
    if (failure == impl().failures.end()) return JobState::done;
    return failure->second.error ? JobState::failed : JobState::cancelled;
}

bool JobPipeline::cancel(JobToken token) {
    impl().require_own_process("JobPipeline::cancel");
    const std::lock_guard lock(impl().mutex);
    const std::uint64_t id = impl().known(token);
    const auto it = impl().entries.find(id);
    if (it == impl().entries.end() || it->second.state != JobState::queued) return false;
    impl().end(id, JobState::cancelled, nullptr);
    return true;
}

void JobPipeline::wait_all() {
    impl().require_own_process("JobPipeline::wait_all");
    std::unique_lock lock(impl().mutex);
    impl().over.wait(lock, [&] { return impl().entries.empty(); });
    for (auto& [id, failure] : impl().failures) {
        if (failure.told || !failure.error) continue;  // cancelling was the caller's own wish
        failure.told = true;
        std::rethrow_exception(failure.error);
    }
}

BatchReport JobPipeline::report() const {
    impl().require_own_process("JobPipeline::report");
    const std::lock_guard lock(impl().mutex);
    return impl().report;
}

}  // namespace weft
