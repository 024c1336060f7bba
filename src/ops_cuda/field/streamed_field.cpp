// SPDX-License-Identifier: Apache-2.0
// Also completes <weft/cuda/host.hpp>: field vectors in host memory.
#include "ops_cuda/field/streamed_field.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>
#include <vector>

#include <weft/cuda/field.hpp>
#include <weft/cuda/host.hpp>

#include "base/batch_call.hpp"
#include "cuda/check.hpp"
#include "cuda/scratch.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops/field/field_check.hpp"
#include "ops/field/field_scalar.hpp"

namespace weft::cuda {
namespace {

using kernels::FieldCall;

/// What the jobs of a call have in common.
struct Running {
    const FieldCall& call;
    const std::string& function;
    FieldForm form;
    const BatchOptions& batch;
    core::ProgressMeter& progress;
    BatchReport& report;
    std::uint64_t elements_done = 0;
};

HostWork work_of(Running& run, const FieldJob& job) {
    const std::uint64_t bytes = run.call.field.element_bytes;
    HostWork work;
    work.inputs.push_back({job.a.data, job.a.bytes(), bytes});
    if (takes_b(run.call.op)) work.inputs.push_back({job.b.data, job.b.bytes(), bytes});
    work.elements = run.call.elements(job);
    work.done = [&run](const Chunk& chunk) { run.progress.show(run.elements_done += chunk.count); };
    return work;
}

/// Puts a chunk's operation on its stream.
void launch(const Running& run, const Chunk& chunk, const ConstHostArray& scalar, std::byte* out,
            std::uint64_t out_elements) {
    const ElementType type = kernels::limb_type(run.call.field);
    const std::uint64_t limbs = chunk.count * run.call.field.limbs;
    ConstDeviceArray b;
    if (takes_b(run.call.op)) b = {chunk.inputs[1], limbs, type};
    field_apply(chunk.stream, run.call.field.field, run.call.op, {chunk.inputs[0], limbs, type}, b, scalar,
                {out, out_elements * run.call.field.limbs, type}, {.form = run.form});
}

void run_elements(Running& run, const FieldJob& job) {
    HostWork work = work_of(run, job);
    work.outputs.push_back({job.out.data, job.out.bytes(), run.call.field.element_bytes});
    work.launch = [&](const Chunk& chunk) { launch(run, chunk, job.scalar, chunk.outputs[0], chunk.count); };
    run_chunks(run.function.c_str(), work, run.batch, run.report);
}

// Totals of chunks stay on the device; the host adds them.
void run_reduction(Running& run, const FieldJob& job) {
    HostWork work = work_of(run, job);
    const FieldInfo& field = run.call.field;
    const char* const function = run.function.c_str();
    BatchOptions batch = run.batch;  // with the size that the room for totals is made for
    batch.chunk_elements = chunk_elements(function, work, run.batch);
    const std::uint64_t most =
        std::max<std::uint64_t>(1, (work.elements + batch.chunk_elements - 1) / batch.chunk_elements);
    require_device(function);
    const Scratch totals(nullptr, most * field.element_bytes, function, "totals");
    check(cudaStreamSynchronize(nullptr), function, "cudaStreamSynchronize");
    std::size_t chunks = 0;
    work.launch = [&](const Chunk& chunk) {
        launch(run, chunk, {}, totals.as<std::byte>() + chunks++ * field.element_bytes, 1);
    };
    run_chunks(function, work, batch, run.report);
    std::vector<std::byte> values(chunks * field.element_bytes);
    if (chunks != 0)
        check(cudaMemcpy(values.data(), totals.data(), values.size(), cudaMemcpyDeviceToHost), function,
              "cudaMemcpy");
    kernels::FieldWords sum{};
    for (std::size_t i = 0; i < chunks; ++i)
        sum = kernels::add_on_host(field.field, sum, kernels::to_words(field, values.data(), i));
    kernels::from_words(field, sum, job.out.data);
}

OpReport run(Field field, FieldOp op, std::span<const FieldJob> jobs, bool batch,
             const FieldHostOptions& options) {
    const FieldCall call = checked_host_call(field, op, jobs, batch, options);
    const std::string function = call.function();
    OpReport report;
    report.op = kernels::field_function(op);
    report.items = call.elements();
    core::ProgressMeter progress(function.c_str(), options.batch, report.items);
    progress.check();
    Running running{call, function, options.form, options.batch, progress, report};
    for (const FieldJob& job : jobs)
        is_reduction(op) ? run_reduction(running, job) : run_elements(running, job);
    return report;
}

}  // namespace

FieldCall checked_host_call(Field field, FieldOp op, std::span<const FieldJob> jobs, bool batch,
                            const FieldHostOptions& options) {
    kernels::check_field_enums(batch ? "field_batch" : "field_apply", field, op, options.form,
                               options.shader);
    const FieldCall call{field_info(field), op, jobs, batch};
    const std::string function = call.function();
    core::require_members(function.c_str(), options.batch, {.chunk_elements = true, .ring_slots = true});
    kernels::refuse_field_shader(function, "FieldHostOptions", options.shader);
    kernels::check_field_jobs(call);
    if (options.check_values) kernels::check_canonical(call, host_threads());
    for (std::size_t i = 0; op == FieldOp::axpy && i < jobs.size(); ++i)
        kernels::axpy_words(call.place(i), field, options.form, jobs[i].scalar);
    return call;
}

OpReport field_batch(Field field, FieldOp op, std::span<const FieldJob> jobs,
                     const FieldHostOptions& options) {
    return run(field, op, jobs, true, options);
}

OpReport field_apply(Field field, FieldOp op, const ConstHostArray& a, const ConstHostArray& b,
                     const ConstHostArray& scalar, const HostArray& out, const FieldHostOptions& options) {
    const FieldJob job{a, b, scalar, out};
    return run(field, op, {&job, 1}, false, options);
}

}  // namespace weft::cuda
