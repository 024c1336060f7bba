// SPDX-License-Identifier: Apache-2.0
#include <weft/ops/field.hpp>

#include <string>
#include <vector>

#include <weft/error.hpp>
#include <weft/job.hpp>
#include <weft/program.hpp>

#include "ops/field/field_check.hpp"
#include "ops/field/field_scalar.hpp"
#include "ops_vulkan/field/field_programs.hpp"
#include "ops_vulkan/field/field_reduce.hpp"

namespace weft {
namespace {

template <class Limb>
Job to_job(const char* function, const FieldInfo& field, FieldOp op, FieldForm form, std::size_t index,
           const FieldVectors<Limb>& vectors) {
    Job job;
    job.inputs.push_back({vectors.a.data(), vectors.a.size_bytes()});
    if (takes_b(op)) job.inputs.push_back({vectors.b.data(), vectors.b.size_bytes()});
    job.outputs.push_back({vectors.out.data(), vectors.out.size_bytes()});
    job.elements = vectors.a.size() / field.limbs;
    if (op == FieldOp::axpy)
        job.parameters = kernels::axpy_parameters(
            field.field, kernels::axpy_words(std::string(function) + ": job " + std::to_string(index),
                                             field.field, form, vectors.scalar));
    return job;
}

template <class Limb>
BatchReport run(Backend& backend, const char* function, Field field, FieldOp op,
                std::span<const FieldVectors<Limb>> jobs, const FieldOptions& options) {
    kernels::check_field_enums(function, field, op, options.form, options.shader);
    const FieldInfo& info = field_info(field);
    kernels::check_field_jobs(function, field, op, jobs);
    if (options.checked) kernels::check_canonical(function, field, jobs, backend.plan().copy_threads);
    if (is_reduction(op)) return kernels::reduce_batch(backend, field, op, jobs, options);
    const auto make_program = [&](std::uint64_t elements) {
        return kernels::make_field_program(backend, field, op, elements,
                                           {.form = options.form, .shader = options.shader});
    };
    if (jobs.size() == 1) {  // the call whose latency counts: one job stays off the heap
        const Job job = to_job(function, info, op, options.form, 0, jobs[0]);
        return run_batch(backend, make_program(job.elements), {&job, 1}, options.batch);
    }
    std::vector<Job> all;
    all.reserve(jobs.size());
    std::uint64_t most = 0;
    for (const FieldVectors<Limb>& vectors : jobs) {
        all.push_back(to_job(function, info, op, options.form, all.size(), vectors));
        most = std::max(most, all.back().elements);
    }
    return run_batch(backend, make_program(most), all, options.batch);
}

BatchReport run_fp(Backend& backend, const char* function, FieldOp op, const FieldJob& job,
                   const FieldOptions& options) {
    return run<std::uint64_t>(backend, function, Field::bls12_381_fp, op, {&job, 1}, options);
}

}  // namespace

BatchReport field_batch(Backend& backend, Field field, FieldOp op, std::span<const FieldJob> jobs,
                        const FieldOptions& options) {
    return run(backend, "field_batch", field, op, jobs, options);
}

BatchReport field_batch(Backend& backend, Field field, FieldOp op, std::span<const Field31Job> jobs,
                        const FieldOptions& options) {
    return run(backend, "field_batch", field, op, jobs, options);
}

BatchReport field_batch(Backend& backend, FieldOp op, std::span<const FieldJob> jobs,
                        const FieldOptions& options) {
    return run(backend, "field_batch", Field::bls12_381_fp, op, jobs, options);
}

BatchReport field_add(Backend& backend, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                      std::span<std::uint64_t> out, const FieldOptions& options) {
    return run_fp(backend, "field_add", FieldOp::add, {a, b, out}, options);
}

BatchReport field_sub(Backend& backend, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                      std::span<std::uint64_t> out, const FieldOptions& options) {
    return run_fp(backend, "field_sub", FieldOp::sub, {a, b, out}, options);
}

BatchReport field_neg(Backend& backend, std::span<const std::uint64_t> a, std::span<std::uint64_t> out,
                      const FieldOptions& options) {
    return run_fp(backend, "field_neg", FieldOp::neg, {a, {}, out}, options);
}

BatchReport field_mul(Backend& backend, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                      std::span<std::uint64_t> out, const FieldOptions& options) {
    return run_fp(backend, "field_mul", FieldOp::mul, {a, b, out}, options);
}

Program field_program(Backend& backend, Field field, FieldOp op, const FieldKernelOptions& options) {
    kernels::check_field_enums("field_program", field, op, options.form, options.shader);
    if (is_reduction(op))
        throw Error(Errc::invalid_argument,
                    std::string("field_program: reductions take more than one program (got ") +
                        to_string(op) + ", need an element-wise operation)");
    return kernels::make_field_program(backend, field, op, 0, options);
}

Program field_program(Backend& backend, FieldOp op, FieldShader shader) {
    return field_program(backend, Field::bls12_381_fp, op, {.shader = shader});
}

}  // namespace weft
