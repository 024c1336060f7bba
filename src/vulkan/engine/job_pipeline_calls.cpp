// SPDX-License-Identifier: Apache-2.0
// The calls of JobPipeline (batch.hpp), on the caller's thread.
#include <algorithm>
#include <utility>

#include "base/batch_call.hpp"
#include "vulkan/engine/job_pipeline.hpp"

namespace weft {

using std::chrono::nanoseconds;

std::uint64_t JobPipeline::Impl::known(JobToken token) const {
    if (token.id < first_id || token.id >= next_id)
        throw Error(Errc::invalid_argument, "JobPipeline: unknown token (got " + std::to_string(token.id) +
                                                ", need one that submit() of this pipeline returned)");
    return token.id;
}

void JobPipeline::Impl::throw_failure(const char* function, std::uint64_t id, Entry& failure) {
    failure.reported = true;
    if (failure.error) std::rethrow_exception(failure.error);
    throw Error(Errc::cancelled,
                std::string(function) + ": job " + std::to_string(id - first_id) + " was cancelled");
}

JobPipeline::JobPipeline(Backend& backend, const Program& program, const BatchOptions& options) {
    Impl::Place place{detail::Access::backend_state(backend), nullptr};
    place.backend_state->context()->device.require_usable("JobPipeline");
    place.program = core::program_for(*place.backend_state, program, "JobPipeline");
    impl_ = std::make_unique<Impl>(std::vector{std::move(place)}, options, [](std::size_t) {});
}
JobPipeline::JobPipeline(JobPipeline&&) noexcept = default;
JobPipeline& JobPipeline::operator=(JobPipeline&& other) noexcept {
    if (this == &other) return *this;
    const JobPipeline old(std::move(*this));
    impl_ = std::move(other.impl_);
    return *this;
}

JobPipeline::~JobPipeline() {
    if (!impl_) return;
    // In a forked child there is no thread, and at the end of the process it waits: waiting for it, or for
    // locks that it held, would never end. And the thread itself, in a callback that ends the process or
    // destroys the pipeline, cannot wait for its own end.
    const bool gone = impl_->beyond_use();
    if (!gone && impl_->on_own_thread()) impl_->detach();
    if (gone || impl_->on_own_thread()) (void)impl_.release();
}

void JobPipeline::Impl::require_other_thread(const char* what) const {
    if (on_own_thread())
        throw Error(Errc::invalid_argument,
                    std::string(what) +
                        ": called by the progress callback of the pipeline, which would wait " +
                        "for itself (call it from another thread)");
}

/// The threads end when the callback returns, if it does; what they use is never freed.
void JobPipeline::Impl::detach() noexcept {
    {
        const std::lock_guard lock(mutex);
        stop = true;
    }
    for (const auto& lane : lanes) lane->detach();
}

bool JobPipeline::Impl::on_own_thread() const noexcept {
    return std::any_of(lanes.begin(), lanes.end(), [](const auto& lane) { return lane->own_thread(); });
}

void JobPipeline::Impl::require_own_process(const char* what) const {
    lanes.front()->device().require_own_process(what);
}

bool JobPipeline::Impl::beyond_use() const noexcept {
    return lanes.front()->device().beyond_use();
}

JobPipeline::Impl& JobPipeline::impl() const {
    if (!impl_) throw Error(Errc::invalid_argument, "JobPipeline: used after it was moved from");
    return *impl_;
}

/// Takes the job with all its spans, or nothing of it.
void JobPipeline::Impl::admit(std::uint64_t id, Entry entry) {
    const auto it = entries.emplace(id, std::move(entry)).first;
    try {
        for (const core::JobSpan& span : it->second.spans) memory.insert(span);
    } catch (...) {
        for (const core::JobSpan& span : it->second.spans) memory.erase(span);
        entries.erase(it);
        throw;
    }
    ++next_id;
}

/// The checks of run_batch, for every device: the job runs on any of them.
void JobPipeline::Impl::check(const Job& job, std::uint64_t index, std::vector<core::JobSpan>& spans) const {
    core::in_name_of("JobPipeline::submit", [&] {
        for (const auto& lane : lanes)
            core::check_job(core::needs_of(*lane->place().program), lane->device().snapshot().limits, job,
                            index);
        core::append_spans(job, index, spans);
        core::check_overlaps(spans);
    });
}

JobToken JobPipeline::submit(const Job& job) {
    impl().require_own_process("JobPipeline::submit");
    if (impl().lanes.size() == 1) impl().lanes.front()->device().require_usable("JobPipeline::submit");
    const std::lock_guard lock(impl().mutex);
    if (impl().fatal) std::rethrow_exception(impl().fatal);
    if (impl().cancelled)
        throw Error(Errc::cancelled, "JobPipeline::submit: cancelled by BatchOptions::cancel");
    const std::uint64_t id = impl().next_id, index = id - impl().first_id;
    Impl::Entry entry{job};
    impl().check(job, index, entry.spans);
    for (const core::JobSpan& span : entry.spans)
        if (const core::JobSpan* other = impl().memory.conflict(span))
            throw Error(Errc::invalid_argument, "JobPipeline::submit: memory of job " +
                                                    std::to_string(index) + " overlaps that of job " +
                                                    std::to_string(other->job) +
                                                    ", which is still under way (need to wait for it first)");
    impl().admit(id, std::move(entry));
    impl().inbox.notify_all();
    return {id};
}

bool JobPipeline::wait(JobToken token, nanoseconds timeout) {
    impl().require_own_process("JobPipeline::wait");
    std::unique_lock lock(impl().mutex);
    const std::uint64_t id = impl().known(token);
    const auto finished = [&] { return impl().entries.find(id) == impl().entries.end(); };
    if (timeout == nanoseconds::max()) {
        if (!finished()) impl().require_other_thread("JobPipeline::wait");
        impl().over.wait(lock, finished);
    } else if (!impl().over.wait_for(lock, std::min(timeout, nanoseconds(std::chrono::hours(24 * 365))),
                                     finished)) {
        return false;
    }
    const auto failure = impl().failures.find(id);
    if (failure == impl().failures.end()) return true;
    impl().throw_failure("JobPipeline::wait", id, failure->second);
}

JobState JobPipeline::state(JobToken token) const {
    impl().require_own_process("JobPipeline::state");
    const std::lock_guard lock(impl().mutex);
    const std::uint64_t id = impl().known(token);
    if (const auto it = impl().entries.find(id); it != impl().entries.end()) return it->second.state;
    const auto failure = impl().failures.find(id);
    if (failure == impl().failures.end()) return JobState::done;
    return failure->second.state;
}

bool JobPipeline::cancel(JobToken token) {
    impl().require_own_process("JobPipeline::cancel");
    const std::lock_guard lock(impl().mutex);
    const std::uint64_t id = impl().known(token);
    const auto it = impl().entries.find(id);
    if (it == impl().entries.end() || it->second.state != JobState::queued) return false;
    impl().end(id, JobState::cancelled, nullptr);
    impl().failures.at(id).reported = true;
    return true;
}

void JobPipeline::wait_all() {
    impl().require_own_process("JobPipeline::wait_all");
    std::unique_lock lock(impl().mutex);
    if (!impl().entries.empty()) impl().require_other_thread("JobPipeline::wait_all");
    impl().over.wait(lock, [&] { return impl().entries.empty(); });
    for (auto& [id, failure] : impl().failures)
        if (!failure.reported) impl().throw_failure("JobPipeline::wait_all", id, failure);
}

/// Called with the lock.
BatchReport JobPipeline::Impl::whole_report() const {
    BatchReport whole = lanes.front()->report;
    if (lanes.size() == 1) return whole;
    for (std::size_t i = 1; i < lanes.size(); ++i) core::add_report(whole, lanes[i]->report);
    whole.wall_s = 0;
    for (const auto& lane : lanes) whole.wall_s = std::max(whole.wall_s, lane->times.end_s);
    for (const auto& lane : lanes) {
        whole.devices.push_back(lane->device_report());
        whole.devices.back().idle_end_s = whole.wall_s - lane->times.end_s;
    }
    return whole;
}

BatchReport JobPipeline::report() const {
    impl().require_own_process("JobPipeline::report");
    const std::lock_guard lock(impl().mutex);
    return impl().whole_report();
}

}  // namespace weft
