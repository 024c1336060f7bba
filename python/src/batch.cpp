// SPDX-License-Identifier: Apache-2.0
// run_batch and JobPipeline: arrays in host memory through a program.
#include <weft/batch.hpp>

#include <condition_variable>
#include <mutex>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "calls.hpp"
#include "devices.hpp"
#include "errors.hpp"
#include "program.hpp"
#include "text.hpp"

namespace weft::python {

namespace {

BatchOptions options_of(const std::string& mode, const std::string& path, const std::string& queues,
                        std::uint64_t chunk_elements, std::uint32_t ring_slots) {
    if (mode != "pipelined" && mode != "sequential")
        refuse("mode: unknown value (got '" + mode + "', need one of 'pipelined', 'sequential')");
    return {.mode = mode == "pipelined" ? BatchMode::pipelined : BatchMode::sequential,
            .path = path_named(path),
            .queues = queues_named(queues),
            .chunk_elements = chunk_elements,
            .ring_slots = ring_slots};
}

BatchReport run_jobs(nb::handle backend, const Program& program, const nb::typed<nb::iterable, PyJob>& given,
                     nb::handle progress, const std::string& mode, const std::string& path,
                     const std::string& queues, std::uint64_t chunk_elements, std::uint32_t ring_slots) {
    std::vector<Job> jobs;
    std::vector<Array> arrays;
    std::uint64_t bytes = 0;
    for (const nb::handle object : given) {
        const auto& job = nb::cast<const PyJob&>(object);
        jobs.push_back(job.job);
        arrays.insert(arrays.end(), job.arrays.begin(), job.arrays.end());
        for (const Array& array : job.arrays) bytes += array.bytes();
    }
    const Where where = where_of(backend);
    // How much a shader computes is not known.
    Call call(where, 64 * bytes, progress, false, options_of(mode, path, queues, chunk_elements, ring_slots));
    return call(
        [where, program, jobs = std::move(jobs), arrays = std::move(arrays)](const BatchOptions& options) {
            return where([&](auto& on) { return run_batch(on, program, jobs, options); });
        });
}

/// A pipeline that may be used from any thread. Nobody waits with its mutex held: the pipeline's own thread
/// says when a job is done.
class PyPipeline {
    /// `use(pipeline)` with the mutex held.
    template <class Use>
    auto with(Use&& use) {
        const WithoutLock unlocked;
        const std::lock_guard lock(mutex_);
        return use(open());
    }

  public:
    PyPipeline(nb::handle backend, const Program& program, BatchOptions options) {
        options.progress = [state = state_](const Progress&) {
            const std::lock_guard lock(state->mutex);
            ++state->done;
            state->changed.notify_all();
        };
        const Where where = where_of(backend);
        const WithoutLock unlocked;
        pipeline_ = where([&](auto& on) { return std::make_unique<JobPipeline>(on, program, options); });
    }
    ~PyPipeline() { destroy_without_lock(pipeline_); }
    PyPipeline(const PyPipeline&) = delete;
    PyPipeline& operator=(const PyPipeline&) = delete;

    std::uint64_t submit(const PyJob& job) {
        wait_for_writers();
        return with([&](JobPipeline& pipeline) { return pipeline.submit(job.job).id; });
    }
    JobState state(std::uint64_t token) {
        return with([&](JobPipeline& pipeline) { return pipeline.state({token}); });
    }
    bool cancel(std::uint64_t token) {
        const bool cancelled = with([&](JobPipeline& pipeline) { return pipeline.cancel({token}); });
        if (cancelled) state_->changed.notify_all();
        return cancelled;
    }
    BatchReport report() {
        return with([](JobPipeline& pipeline) { return pipeline.report(); });
    }
    /// false: the time was up. Errors: the job's own.
    bool wait(std::uint64_t token, std::optional<double> timeout_s) {
        const auto ended = [&] {
            const JobState now = state_unlocked(token);
            return now != JobState::queued && now != JobState::running;
        };
        const bool done = wait_with_signals(
            [&](std::chrono::nanoseconds slice) {
                if (ended()) return true;
                std::unique_lock lock(state_->mutex);
                // Failures are not announced, so the state is looked at again soon.
                state_->changed.wait_for(lock, std::min<std::chrono::nanoseconds>(slice, kFailureInterval));
                lock.unlock();
                return ended();
            },
            timeout_s);
        if (done) with([&](JobPipeline& pipeline) { return pipeline.wait({token}); });
        return done;
    }
    /// Cancels queued jobs. Running ones write to the arrays that `jobs` keeps, and are waited for, unless a
    /// signal ends that or there is no `wait`.
    void close(nb::object jobs, bool wait) {
        std::unique_ptr<JobPipeline> closed;
        {
            const WithoutLock unlocked;
            const std::lock_guard lock(mutex_);
            closed = std::move(pipeline_);
        }
        if (!closed) return;
        using Held = std::pair<std::unique_ptr<JobPipeline>, nb::object>;
        const auto held = std::make_shared<Held>(std::move(closed), std::move(jobs));
        finish_writing([held] { held->first.reset(); }, wait);
    }

  private:
    static constexpr std::chrono::milliseconds kFailureInterval{2};
    struct State {
        std::mutex mutex;
        std::condition_variable changed;
        std::uint64_t done = 0;
    };

    JobState state_unlocked(std::uint64_t token) {
        const std::lock_guard lock(mutex_);
        return open().state({token});
    }
    JobPipeline& open() {
        if (!pipeline_) refuse("JobPipeline: used after close()");
        return *pipeline_;
    }

    std::shared_ptr<State> state_ = std::make_shared<State>();
    std::mutex mutex_;
    std::unique_ptr<JobPipeline> pipeline_;
};

const char* name_of(JobState state) {
    switch (state) {
        case JobState::queued:
            return "queued";
        case JobState::running:
            return "running";
        case JobState::done:
            return "done";
        case JobState::failed:
            return "failed";
        case JobState::cancelled:
            break;
    }
    return "cancelled";
}

}  // namespace

void bind_batch(nb::module_& module) {
    module.def("_run_batch", &run_jobs, nb::arg("backend"), nb::arg("program"), nb::arg("jobs"),
               nb::arg("progress").none(), nb::arg("mode"), nb::arg("path"), nb::arg("queues"),
               nb::arg("chunk_elements"), nb::arg("ring_slots"));
    nb::class_<PyPipeline>(module, "_Pipeline")
        .def(
            "__init__",
            [](PyPipeline* self, nb::handle backend, const Program& program, const std::string& mode,
               const std::string& path, const std::string& queues, std::uint64_t chunk_elements,
               std::uint32_t ring_slots) {
                new (self)
                    PyPipeline(backend, program, options_of(mode, path, queues, chunk_elements, ring_slots));
            },
            nb::arg("backend"), nb::arg("program"), nb::arg("mode"), nb::arg("path"), nb::arg("queues"),
            nb::arg("chunk_elements"), nb::arg("ring_slots"))
        .def("submit", &PyPipeline::submit)
        .def("state", [](PyPipeline& p, std::uint64_t token) { return name_of(p.state(token)); })
        .def("cancel", &PyPipeline::cancel)
        .def("wait", &PyPipeline::wait, nb::arg("token"), nb::arg("timeout_s").none())
        .def("report", &PyPipeline::report)
        .def("close", &PyPipeline::close, nb::arg("jobs"), nb::arg("wait"));
}

}  // namespace weft::python
