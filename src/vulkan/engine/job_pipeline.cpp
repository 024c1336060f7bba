// SPDX-License-Identifier: Apache-2.0
// The threads of a JobPipeline. Its calls are in job_pipeline_calls.cpp.
#include "vulkan/engine/job_pipeline.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "base/batch_call.hpp"
#include "host/cpu_set.hpp"

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

struct Failure {
    bool of_one_job = false;  // a failure of the driver belongs to no single job
    bool device_lost = false;
    bool of_memory = false;  // of the device
    std::string text;
};

Failure failure_of(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const Error& e) {
        const bool lost = e.code() == Errc::device_lost;
        return {e.code() != Errc::driver && !lost, lost, e.code() == Errc::out_of_memory, e.what()};
    } catch (const std::bad_alloc&) {
        return {true, false, false, {}};
    } catch (...) {
        return {};
    }
}

}  // namespace

JobPipeline::Impl::Impl(std::vector<Place> places, const BatchOptions& options, OnLost lost)
    : progress(options.progress), on_lost(std::move(lost)), first_id(next_first_id()) {
    BatchOptions resolved = options;
    // A pipeline may run for days, so it collects intervals only on request.
    if (resolved.stage_times == Choice::automatic) resolved.stage_times = Choice::off;
    for (Place& place : places) lanes.push_back(std::make_unique<Lane>(*this, std::move(place), resolved));
    std::size_t started = 0;
    try {
        for (; started < lanes.size(); ++started) lanes[started]->start();
    } catch (const std::system_error& e) {
        {
            const std::lock_guard lock(mutex);
            stop = true;
        }
        inbox.notify_all();
        for (std::size_t i = 0; i < started; ++i) lanes[i]->join();
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
    for (const auto& lane : lanes) lane->join();
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
    if (beyond_use()) return;  // a thread of the parent may hold the lock
    const std::lock_guard lock(mutex);
    cancelled = true;
    for (auto it = entries.begin(); it != entries.end();) {
        const std::uint64_t id = it->first;
        const bool queued = it->second.state == JobState::queued;
        ++it;
        if (queued) end(id, JobState::cancelled, nullptr);
    }
    returned.clear();
}

/// Takes queued jobs for a device, as many as may share a bundle; with several devices no more than leaves
/// the others their part. A device that is `busy` leaves a job for each one that waits. Called with the lock.
std::size_t JobPipeline::Impl::take(const Lane& lane, std::span<std::pair<std::uint64_t, const Job*>> taken,
                                    bool busy) {
    constexpr std::uint64_t kManyBytes = std::uint64_t{16} << 20;
    const std::uint64_t queued = next_id - next_queued + returned.size();
    const std::uint64_t free = busy ? queued - std::min<std::uint64_t>(queued, idle) : queued;
    const std::uint64_t part = (queued + lanes.size() - 1) / lanes.size();
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>({taken.size(), free, part}));
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    const auto add = [&](std::uint64_t id) {
        const auto it = entries.find(id);
        if (it == entries.end()) return;  // cancelled
        it->second.state = JobState::running;
        taken[count++] = {id, &it->second.job};
        bytes += core::job_bytes_in(it->second.job) + core::job_bytes_out(it->second.job);
    };
    const auto more = [&] { return count < most && (lanes.size() == 1 || bytes < kManyBytes); };
    for (auto it = returned.begin(); !stop && more() && it != returned.end();) {
        if (it->second == &lane) {
            ++it;
            continue;
        }
        add(it->first);
        it = returned.erase(it);
    }
    for (; !stop && more() && next_queued < next_id; ++next_queued) add(next_queued);
    return count;
}

/// Whether there is a job that `lane` may take. Called with the lock.
bool JobPipeline::Impl::any_queued(const Lane& lane) const {
    return next_queued < next_id || std::any_of(returned.begin(), returned.end(),
                                                [&](const auto& job) { return job.second != &lane; });
}

/// Runs before jobs are published, so that a wait for a job returns after the job's callback, and without the
/// lock, so that the callback may call the pipeline.
void JobPipeline::Impl::notify(std::uint64_t newly_done) {
    if (!progress) return;
    const std::lock_guard one_at_a_time(notifying);
    std::uint64_t given = 0;
    {
        const std::lock_guard lock(mutex);
        given = next_id - first_id;
    }
    for (; newly_done != 0; --newly_done) progress({++notified, given, core::seconds_since(begin)});
}

/// A device is lost: its jobs go back to the queue once, except for those that may be spoilt.
void JobPipeline::Impl::give_back(Lane& lane, const Ids& ids, const std::exception_ptr& error) noexcept {
    on_lost(lane.place().device);
    {
        const std::lock_guard lock(mutex);
        lane.lost_note = "lost: " + failure_of(error).text;
        const auto works = [](const auto& other) { return other->lost_note.empty(); };
        const bool any_left = std::any_of(lanes.begin(), lanes.end(), works);
        for (const auto& [sequence, id] : ids) {
            Entry& entry = entries.at(id);
            if (!any_left || entry.again || cancelled || core::works_in_place(entry.job)) {
                end(id, JobState::failed, error);
                continue;
            }
            entry.again = true;
            entry.state = JobState::queued;
            returned.emplace(id, nullptr);
        }
        // Jobs that waited for this device may try once more where there was no memory for them.
        for (auto& [id, other_than] : returned) other_than = nullptr;
        inbox.notify_all();
        if (any_left) return;
    }
    fail_all({}, error);
}

/// A device has no memory for a job: another one may have, unless the job may be spoilt. Called with the
/// lock. false: the job has failed.
bool JobPipeline::Impl::hand_on(const Lane& lane, std::uint64_t id) noexcept {
    const bool others = std::any_of(lanes.begin(), lanes.end(), [&](const auto& other) {
        return other.get() != &lane && other->lost_note.empty();
    });
    Entry& entry = entries.at(id);
    if (!others || entry.again || cancelled || core::works_in_place(entry.job)) return false;
    try {
        returned.emplace(id, &lane);
    } catch (const std::bad_alloc&) {
        return false;
    }
    entry.again = true;
    entry.state = JobState::queued;
    inbox.notify_all();
    return true;
}

/// No job that is submitted later will run. Jobs under way on other devices end as they do.
void JobPipeline::Impl::fail_all(const Ids& ids, const std::exception_ptr& error) noexcept {
    const std::lock_guard lock(mutex);
    fatal = error;
    next_queued = next_id;
    returned.clear();
    for (const auto& [sequence, id] : ids) end(id, JobState::failed, error);
    for (auto it = entries.begin(); it != entries.end();) {
        const auto [id, entry] = std::pair(it->first, &it->second);
        ++it;
        if (entry->state == JobState::queued) end(id, JobState::failed, error);
    }
}

JobPipeline::Impl::Lane::Lane(Impl& pipeline, Place place, const BatchOptions& options)
    : pipeline_(pipeline), place_(std::move(place)) {
    core::Device& own = device();
    own.require_usable("JobPipeline");
    settings_ = core::in_name_of(
        "JobPipeline", [&] { return core::settle_options(own.plan(), own.snapshot(), options, 0); });
    settings_.total_bytes = kAssumedBytesPerSlot * settings_.slots;
    engine_ = std::make_unique<core::BatchEngine>(*place_.backend_state, place_.program, settings_, this);
    report = engine_->report();
}

void JobPipeline::Impl::Lane::start() {
    thread_ = std::thread([this] { run(); });
    thread_id_ = thread_.get_id();
}

DeviceReport JobPipeline::Impl::Lane::device_report() const {
    DeviceReport row{.name = place_.backend_state->info().name, .device = place_.device};
    row.jobs = report.jobs;
    row.items = report.elements;
    row.bytes_in = report.bytes_in;
    row.bytes_out = report.bytes_out;
    row.shares = times.shares;
    row.busy_s = times.busy_s;
    row.lost = !lost_note.empty();
    row.note = lost_note;
    return row;
}

void JobPipeline::Impl::Lane::on_job_done(std::uint64_t sequence) {
    const auto it = id_of_.find(sequence);
    finished_.push_back(it->second);
    id_of_.erase(it);
}

void JobPipeline::Impl::Lane::note_done() {
    const std::uint64_t done = engine_->jobs_done();
    pipeline_.notify(done - std::exchange(noted_, done));
}

/// The report is updated first, so that it counts every job that a wait has returned for. If the host has no
/// memory for it, the next call updates it.
void JobPipeline::Impl::Lane::publish() noexcept {
    if (finished_.empty()) return;
    own_times_.end_s = core::seconds_since(pipeline_.begin);
    own_times_.busy_s = busy_before_s_ + own_times_.end_s - began_s_;
    std::optional<BatchReport> now;
    try {
        now = engine_->report();
    } catch (const std::bad_alloc&) {
    }
    const std::lock_guard lock(pipeline_.mutex);
    if (now) {
        report = std::move(*now);
        times = own_times_;
    }
    for (const std::uint64_t id : finished_) pipeline_.end(id, JobState::done, nullptr);
    finished_.clear();
}

/// Hands jobs to the engine. Those for which the host has no memory fail here, because the engine does not
/// know them.
void JobPipeline::Impl::Lane::add_taken(std::span<const std::pair<std::uint64_t, const Job*>> taken) {
    std::size_t added = 0;
    try {
        if (!taken.empty()) finished_.reserve(id_of_.size() + taken.size());  // on_job_done() must not fail
        for (const auto& [id, job] : taken) {
            id_of_.emplace(engine_->next_sequence(), id);
            ++added;
            engine_->add(*job);
        }
    } catch (...) {
        const std::lock_guard lock(pipeline_.mutex);
        for (const auto& [id, job] : taken.subspan(added))
            pipeline_.end(id, JobState::failed, std::current_exception());
        throw;
    }
}

/// Hands queued jobs to the engine when it has nothing else to start.
void JobPipeline::Impl::Lane::feed() {
    std::unique_lock lock(pipeline_.mutex);
    const bool busy = engine_->in_flight();
    if (!busy) {
        ++pipeline_.idle;
        pipeline_.inbox.wait(lock, [&] { return pipeline_.stop || pipeline_.any_queued(*this); });
        --pipeline_.idle;
        busy_before_s_ = own_times_.busy_s;
        began_s_ = core::seconds_since(pipeline_.begin);
    }
    std::array<std::pair<std::uint64_t, const Job*>, core::kMaxBundleChunks> taken;
    const std::size_t count = pipeline_.take(*this, taken, busy);
    lock.unlock();
    if (count != 0) ++own_times_.shares;
    add_taken(std::span(taken).first(count));
    note_done();
    publish();  // jobs without elements are over already
}

/// A free slot may get work at any moment, so the wait checks for new jobs from time to time.
void JobPipeline::Impl::Lane::await_oldest() {
    if (engine_->has_free_slot()) {
        for (bool first = true; !engine_->await_oldest(std::chrono::microseconds(200), first);
             first = false) {
            const std::lock_guard lock(pipeline_.mutex);
            if (pipeline_.any_queued(*this)) return;
        }
    } else {
        bool more = false;
        {
            const std::lock_guard lock(pipeline_.mutex);
            more = pipeline_.any_queued(*this);
        }
        engine_->await_oldest(nanoseconds::max(), true, more);
    }
    engine_->finish();
    note_done();
    publish();
}

bool JobPipeline::Impl::Lane::step() {
    if (!engine_->can_start() && engine_->has_free_slot()) feed();
    if (engine_->can_start()) {
        starting_ = true;
        engine_->start();
        starting_ = false;
        note_done();
        publish();  // if memory is short, start() finishes bundles first
    } else if (engine_->in_flight()) {
        await_oldest();
    } else {
        const std::lock_guard lock(pipeline_.mutex);
        return !pipeline_.stop;
    }
    return true;
}

void JobPipeline::Impl::Lane::run() {
    const core::NodeBinding near(place_.backend_state->node_cpus());
    for (bool more = true; more && !left_;) {
        starting_ = false;
        try {
            more = step();
        } catch (...) {
            fail(std::current_exception());
        }
    }
}

/// For example, a job for which there is no memory does not make other jobs fail.
void JobPipeline::Impl::Lane::fail_one(const std::exception_ptr& error, bool of_memory) {
    const std::uint64_t sequence = engine_->failed_job();
    engine_->fail(sequence);
    publish();
    const auto it = id_of_.find(sequence);
    if (it == id_of_.end()) return;
    const std::uint64_t id = it->second;
    id_of_.erase(it);
    const std::lock_guard lock(pipeline_.mutex);
    if (!of_memory || !pipeline_.hand_on(*this, id)) pipeline_.end(id, JobState::failed, error);
}

void JobPipeline::Impl::Lane::fail(const std::exception_ptr& error) noexcept {
    // A failure after the start does not belong to a single job, and the jobs under way would never end.
    try {
        const Failure failure = failure_of(error);
        if (starting_ && failure.of_one_job) return fail_one(error, failure.of_memory);
        left_ = failure.device_lost && pipeline_.lanes.size() > 1;
    } catch (...) {
    }
    engine_->abandon();
    publish();
    if (left_)
        pipeline_.give_back(*this, id_of_, error);
    else
        pipeline_.fail_all(id_of_, error);
    id_of_.clear();
}

}  // namespace weft
