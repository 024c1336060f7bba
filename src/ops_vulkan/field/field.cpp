// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/field.hpp>: field vectors in host memory, and field_program.
#include <weft/ops/field.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <weft/error.hpp>
#include <weft/job.hpp>
#include <weft/program.hpp>

#include "ops/field/field_check.hpp"
#include "ops/field/field_plan.hpp"
#include "ops/field/field_ranges.hpp"
#include "ops/field/field_scalar.hpp"
#include "ops_vulkan/field/field_programs.hpp"
#include "ops_vulkan/field/field_reduce.hpp"

namespace weft {
namespace {

using kernels::FieldCall;

Job to_job(const FieldCall& call, FieldForm form, std::size_t index) {
    const FieldJob& vectors = call.jobs[index];
    Job job;
    job.inputs.push_back({vectors.a.data, vectors.a.bytes()});
    if (takes_b(call.op)) job.inputs.push_back({vectors.b.data, vectors.b.bytes()});
    job.outputs.push_back({vectors.out.data, vectors.out.bytes()});
    job.elements = call.elements(vectors);
    if (call.op == FieldOp::axpy)
        job.parameters = kernels::axpy_parameters(
            call.field.field, kernels::axpy_words(call.place(index), call.field.field, form, vectors.scalar));
    return job;
}

// run_batch counts jobs, field operations count elements.
BatchReport run_jobs(Backend& backend, const Program& program, std::span<const Job> jobs,
                     const BatchOptions& options) {
    if (!options.progress) return run_batch(backend, program, jobs, options);
    std::uint64_t done = 0, total = 0;
    for (const Job& job : jobs) total += job.elements;
    BatchOptions batch = options;
    batch.progress = [&](const Progress& progress) {
        done += jobs[progress.done - 1].elements;
        options.progress({done, total, progress.elapsed_s});
    };
    return run_batch(backend, program, jobs, batch);
}

BatchReport run_elements(Backend& backend, const FieldCall& call, const FieldHostOptions& options) {
    const auto make_program = [&](std::uint64_t elements) {
        return kernels::make_field_program(backend, call.field.field, call.op, elements,
                                           {.form = options.form, .shader = options.shader});
    };
    if (call.jobs.size() == 1) {  // the call whose latency counts: one job stays off the heap
        const Job job = to_job(call, options.form, 0);
        return run_jobs(backend, make_program(job.elements), {&job, 1}, options.batch);
    }
    std::vector<Job> all;
    all.reserve(call.jobs.size());
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < call.jobs.size(); ++i) {
        all.push_back(to_job(call, options.form, i));
        most = std::max(most, all.back().elements);
    }
    return run_jobs(backend, make_program(most), all, options.batch);
}

OpReport run(Backend& backend, Field field, FieldOp op, std::span<const FieldJob> jobs, bool batch,
             const FieldHostOptions& options) {
    kernels::check_field_enums(batch ? "field_batch" : "field_apply", field, op, options.form,
                               options.shader);
    const FieldCall call{field_info(field), op, jobs, batch};
    kernels::check_field_jobs(call);
    if (options.check_values) kernels::check_canonical(call, backend.plan().copy_threads);
    OpReport report;
    report.op = kernels::field_function(op);
    report.items = call.elements();
    report.method = kernels::field_method(
        call.field, kernels::plan_field(backend.device(), call.field, op, 0, {.shader = options.shader}));
    static_cast<BatchReport&>(report) = is_reduction(op) ? kernels::reduce_batch(backend, call, options)
                                                         : run_elements(backend, call, options);
    return report;
}

}  // namespace

OpReport field_batch(Backend& backend, Field field, FieldOp op, std::span<const FieldJob> jobs,
                     const FieldHostOptions& options) {
    return run(backend, field, op, jobs, true, options);
}

OpReport field_apply(Backend& backend, Field field, FieldOp op, const ConstHostArray& a,
                     const ConstHostArray& b, const ConstHostArray& scalar, const HostArray& out,
                     const FieldHostOptions& options) {
    const FieldJob job{a, b, scalar, out};
    return run(backend, field, op, {&job, 1}, false, options);
}

Program field_program(Backend& backend, Field field, FieldOp op, const FieldOptions& options) {
    kernels::check_field_enums("field_program", field, op, options.form, options.shader);
    if (is_reduction(op))
        throw Error(Errc::invalid_argument,
                    std::string("field_program: reductions take more than one program (got ") +
                        to_string(op) + ", need an element-wise operation)");
    if (options.block_elements != 0)
        throw Error(Errc::invalid_argument,
                    "field_program: FieldOptions::block_elements does not apply (got " +
                        std::to_string(options.block_elements) + ", need 0)");
    return kernels::make_field_program(backend, field, op, 0, options);
}

}  // namespace weft
