// SPDX-License-Identifier: Apache-2.0
// run_batch: check everything, then drive the engine.
#include <weft/batch.hpp>

#include <chrono>
#include <string>

#include "vulkan/engine/batch_engine.hpp"

namespace weft {

BatchReport run_batch(Backend& backend, const Program& program, std::span<const Job> jobs,
                      const BatchOptions& options) {
    const auto begin = std::chrono::steady_clock::now();
    core::BackendState& backend_state = *detail::Access::backend_state(backend);
    core::Device& device = backend_state.context()->device;
    device.require_usable("run_batch");
    core::require_same_backend(backend_state, *detail::Access::object(program), "run_batch");
    const core::ProgramNeeds needs = core::needs_of(*detail::Access::object(program));
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        core::check_job(needs, device.snapshot().limits, jobs[i], i);
        bytes += core::job_bytes_in(jobs[i]) + core::job_bytes_out(jobs[i]);
    }
    const core::BatchSettings settings =
        core::settle_options(device.plan(), device.snapshot(), options, bytes);
    core::BatchEngine engine(backend_state, detail::Access::object(program), settings, nullptr);
    auto& spans = engine.scratch().spans;
    spans.clear();
    for (std::size_t i = 0; i < jobs.size(); ++i) core::append_spans(jobs[i], i, spans);
    core::check_overlaps(spans);

    for (const Job& job : jobs) engine.add(job);
    std::uint64_t notified = 0;
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    const auto notify = [&] {
        for (; options.progress && notified < engine.jobs_done(); ++notified)
            options.progress({notified + 1, jobs.size(), elapsed()});
    };
    notify();
    while (engine.can_start() || engine.in_flight()) {
        if (options.cancel.stop_requested())
            throw Error(Errc::cancelled, "run_batch: cancelled by its stop token (" +
                                             std::to_string(engine.jobs_done()) + " of " +
                                             std::to_string(jobs.size()) + " jobs were done)");
        if (engine.can_start()) {
            engine.start();
        } else {
            engine.finish();
            notify();
        }
    }
    BatchReport report = engine.report();
    report.wall_s = elapsed();
    return report;
}

}  // namespace weft
