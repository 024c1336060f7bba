// SPDX-License-Identifier: Apache-2.0
#include <weft/field.hpp>

#include <string>
#include <vector>

#include <weft/error.hpp>
#include <weft/job.hpp>
#include <weft/program.hpp>

#include "kernels/field_check.hpp"
#include "kernels/field_plan.hpp"

namespace weft {
namespace {

constexpr std::uint32_t kAddLimbs32[] = {
#include "shaders/field_add_limbs32.spv.inc"
};
constexpr std::uint32_t kAddLimbs64[] = {
#include "shaders/field_add_limbs64.spv.inc"
};
constexpr std::uint32_t kSubLimbs32[] = {
#include "shaders/field_sub_limbs32.spv.inc"
};
constexpr std::uint32_t kSubLimbs64[] = {
#include "shaders/field_sub_limbs64.spv.inc"
};
constexpr std::uint32_t kNegLimbs32[] = {
#include "shaders/field_neg_limbs32.spv.inc"
};
constexpr std::uint32_t kNegLimbs64[] = {
#include "shaders/field_neg_limbs64.spv.inc"
};

struct FieldKernel {
    const char* name;
    std::span<const std::uint32_t> limbs32, limbs64;
};

FieldKernel kernel_of(FieldOp op) {
    switch (op) {
        case FieldOp::add:
            return {"field_add", kAddLimbs32, kAddLimbs64};
        case FieldOp::sub:
            return {"field_sub", kSubLimbs32, kSubLimbs64};
        case FieldOp::neg:
            return {"field_neg", kNegLimbs32, kNegLimbs64};
    }
    throw Error(Errc::invalid_argument, "field_program: no such operation (got " +
                                            std::to_string(static_cast<int>(op)) + ", need add, sub or neg)");
}

// Owner: Backend or Stream. Nothing is cached here: the owner's pipeline cache makes this a look-up, and the
// default workgroup size needs no list of constants.
template <class Owner>
Program make_program(Owner& owner, FieldOp op, FieldShader shader) {
    const FieldKernel kernel = kernel_of(op);
    const kernels::FieldPlan plan = kernels::plan_field(owner.device(), shader);
    ProgramOptions options{.name = kernel.name, .max_groups = plan.max_groups};
    if (plan.local_size != kernels::kFieldLocalSize) options.constants.emplace_back(0u, plan.local_size);
    return {owner, plan.shader == FieldShader::limbs64 ? kernel.limbs64 : kernel.limbs32, options};
}

Job to_job(FieldOp op, const FieldJob& field) {
    Job job;
    job.inputs.push_back({field.a.data(), field.a.size_bytes()});
    if (op != FieldOp::neg) job.inputs.push_back({field.b.data(), field.b.size_bytes()});
    job.outputs.push_back({field.out.data(), field.out.size_bytes()});
    job.elements = field.a.size() / kBls12381FpLimbs;
    return job;
}

BatchReport run(Backend& backend, const char* function, FieldOp op, std::span<const FieldJob> jobs,
                const FieldOptions& options) {
    kernels::check_field_jobs(function, op, jobs);
    if (options.checked) kernels::check_canonical(function, jobs, backend.plan().copy_threads);
    const Program program = make_program(backend, op, FieldShader::automatic);
    if (jobs.size() == 1) {  // the call whose latency counts stays off the heap
        const Job job = to_job(op, jobs[0]);
        return run_batch(backend, program, {&job, 1}, options.batch);
    }
    std::vector<Job> all;
    all.reserve(jobs.size());
    for (const FieldJob& job : jobs) all.push_back(to_job(op, job));
    return run_batch(backend, program, all, options.batch);
}

// Views of one buffer may overlap only as a whole; the device would read what it has just written.
void check_views(const char* function, const BufferView<const std::uint64_t>& view, const char* name,
                 const BufferView<std::uint64_t>& out) {
    if (view.size() % kBls12381FpLimbs != 0 || view.size() != out.size())
        throw Error(Errc::invalid_argument, std::string(function) + ": " + name + " does not fit out (got " +
                                                std::to_string(view.size()) + " limbs, need " +
                                                std::to_string(out.size()) + " and a multiple of 6)");
    const std::size_t distance =
        view.first() > out.first() ? view.first() - out.first() : out.first() - view.first();
    if (view.object() == out.object() && distance != 0 && distance < view.size())
        throw Error(Errc::invalid_argument, std::string(function) + ": out overlaps " + name +
                                                " in part (got a distance of " + std::to_string(distance) +
                                                " limbs, need 0 or at least " + std::to_string(view.size()) +
                                                ")");
}

void record(Stream& stream, FieldOp op, BufferView<const std::uint64_t> a, BufferView<const std::uint64_t> b,
            BufferView<std::uint64_t> out) {
    const char* function = kernel_of(op).name;
    check_views(function, a, "a", out);
    check_views(function, b, "b", out);
    const Program program = make_program(stream, op, FieldShader::automatic);
    const std::uint64_t elements = a.size() / kBls12381FpLimbs;
    if (op == FieldOp::neg)
        stream.dispatch(program, {a, out}, elements);
    else
        stream.dispatch(program, {a, b, out}, elements);
}

}  // namespace

BatchReport field_batch(Backend& backend, FieldOp op, std::span<const FieldJob> jobs,
                        const FieldOptions& options) {
    return run(backend, "field_batch", op, jobs, options);
}

BatchReport field_add(Backend& backend, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                      std::span<std::uint64_t> out, const FieldOptions& options) {
    const FieldJob job{a, b, out};
    return run(backend, "field_add", FieldOp::add, {&job, 1}, options);
}

BatchReport field_sub(Backend& backend, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                      std::span<std::uint64_t> out, const FieldOptions& options) {
    const FieldJob job{a, b, out};
    return run(backend, "field_sub", FieldOp::sub, {&job, 1}, options);
}

BatchReport field_neg(Backend& backend, std::span<const std::uint64_t> a, std::span<std::uint64_t> out,
                      const FieldOptions& options) {
    const FieldJob job{a, {}, out};
    return run(backend, "field_neg", FieldOp::neg, {&job, 1}, options);
}

void field_add(Stream& stream, BufferView<const std::uint64_t> a, BufferView<const std::uint64_t> b,
               BufferView<std::uint64_t> out) {
    record(stream, FieldOp::add, std::move(a), std::move(b), std::move(out));
}

void field_sub(Stream& stream, BufferView<const std::uint64_t> a, BufferView<const std::uint64_t> b,
               BufferView<std::uint64_t> out) {
    record(stream, FieldOp::sub, std::move(a), std::move(b), std::move(out));
}

void field_neg(Stream& stream, BufferView<const std::uint64_t> a, BufferView<std::uint64_t> out) {
    record(stream, FieldOp::neg, a, a, std::move(out));
}

Program field_program(Backend& backend, FieldOp op, FieldShader shader) {
    return make_program(backend, op, shader);
}

}  // namespace weft
