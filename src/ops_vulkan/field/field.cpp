// SPDX-License-Identifier: Apache-2.0
// Completes weft/ops/field.hpp: field vectors in host memory and in buffers, and field_program.
#include <weft/ops/field.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <weft/error.hpp>
#include <weft/job.hpp>
#include <weft/program.hpp>

#include "base/batch_call.hpp"
#include "ops/field/field_check.hpp"
#include "ops/field/field_plan.hpp"
#include "ops/field/field_scalar.hpp"
#include "ops_vulkan/field/field_programs.hpp"
#include "ops_vulkan/field/field_reduce.hpp"
#include "vulkan/devices/shared_call.hpp"

namespace weft {
namespace {

using kernels::FieldCall;
using Words = BufferView<std::uint32_t>;

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

// Field operations count elements.
template <class Where>
BatchReport run_jobs(Where& where, const Program& program, std::span<const Job> jobs,
                     const BatchOptions& options) {
    return core::run_counted(where, program, jobs, options, [&](std::size_t j) { return jobs[j].elements; });
}

template <class Where>
BatchReport run_elements(Where& where, const FieldCall& call, const FieldHostOptions& options) {
    const auto make_program = [&](std::uint64_t elements) {
        return kernels::make_field_program(where, call.field.field, call.op, elements,
                                           {.form = options.form, .shader = options.shader});
    };
    if (call.jobs.size() == 1) {  // this call's latency matters, so its job is not on the heap
        const Job job = to_job(call, options.form, 0);
        return run_jobs(where, make_program(job.elements), {&job, 1}, options.batch);
    }
    std::vector<Job> all;
    all.reserve(call.jobs.size());
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < call.jobs.size(); ++i) {
        all.push_back(to_job(call, options.form, i));
        most = std::max(most, all.back().elements);
    }
    return run_jobs(where, make_program(most), all, options.batch);
}

// Where: Backend or Devices.
template <class Where>
OpReport run(Where& where, Field field, FieldOp op, std::span<const FieldJob> jobs, bool batch,
             const FieldHostOptions& options) {
    kernels::check_field_enums(batch ? "field_batch" : "field_apply", field, op, options.form,
                               options.shader);
    const FieldCall call{field_info(field), op, jobs, batch};
    kernels::check_field_jobs(call);
    const Backend& backend = core::first_backend(where);
    if (options.check_values) kernels::check_canonical(call, backend.plan().copy_threads);
    OpReport report;
    report.op = kernels::field_function(op);
    report.items = call.elements();
    report.method = kernels::field_method(
        call.field, kernels::plan_field(backend.device(), call.field, op, 0, {.shader = options.shader}));
    static_cast<BatchReport&>(report) = core::in_name_of(call.function(), [&] {
        return is_reduction(op) ? kernels::reduce_batch(where, call, options)
                                : run_elements(where, call, options);
    });
    return report;
}

std::uint64_t offset_of(const ConstDeviceArray& array) {
    return array.first() * array.type().bytes();
}

Words words_of(const ConstDeviceArray& array) {
    return detail::Access::make<Words>(detail::Access::object(array), offset_of(array) / 4,
                                       array.bytes() / 4);
}
BufferView<const std::uint32_t> read_only(const ConstDeviceArray& array) {
    return words_of(array);
}

void dispatch(Stream& stream, const Program& program, bool two, const ConstDeviceArray& a,
              const ConstDeviceArray& b, const Words& out, std::uint64_t count,
              const Parameters& parameters) {
    if (two)
        stream.dispatch(program, {read_only(a), read_only(b), out}, count, parameters);
    else
        stream.dispatch(program, {read_only(a), out}, count, parameters);
}

// Totals of workgroups, then their sum; one workgroup needs no second step.
void record_reduction(Stream& stream, const FieldInfo& field, FieldOp op, const ConstDeviceArray& a,
                      const ConstDeviceArray& b, const DeviceArray& out, const FieldOptions& options) {
    const std::uint64_t elements = a.bytes() / field.element_bytes;
    if (elements == 0) return stream.fill(words_of(out), 0);
    const std::uint32_t shares = kernels::plan_field_shares(stream.device(), field, op, elements, options);
    const Program program = kernels::make_field_program(stream, field.field, op, elements, options);
    const Parameters parameters = kernels::block_parameters(0);
    if (shares == 1) return dispatch(stream, program, takes_b(op), a, b, words_of(out), 1, parameters);
    const Buffer<std::uint32_t> totals(stream, shares * field.element_bytes / 4, "field totals");
    const Program sum = kernels::make_field_program(stream, field.field, FieldOp::sum, shares, options);
    dispatch(stream, program, takes_b(op), a, b, totals.view(), shares, parameters);
    dispatch(stream, sum, false, totals, {}, words_of(out), 1, parameters);
}

}  // namespace

OpReport field_batch(Backend& backend, Field field, FieldOp op, std::span<const FieldJob> jobs,
                     const FieldHostOptions& options) {
    return run(backend, field, op, jobs, true, options);
}

OpReport field_batch(Devices& devices, Field field, FieldOp op, std::span<const FieldJob> jobs,
                     const FieldHostOptions& options) {
    return run(devices, field, op, jobs, true, options);
}

OpReport field_apply(Backend& backend, Field field, FieldOp op, const ConstHostArray& a,
                     const ConstHostArray& b, const ConstHostArray& scalar, const HostArray& out,
                     const FieldHostOptions& options) {
    const FieldJob job{a, b, scalar, out};
    return run(backend, field, op, {&job, 1}, false, options);
}
OpReport field_apply(Devices& devices, Field field, FieldOp op, const ConstHostArray& a,
                     const ConstHostArray& b, const ConstHostArray& scalar, const HostArray& out,
                     const FieldHostOptions& options) {
    const FieldJob job{a, b, scalar, out};
    return run(devices, field, op, {&job, 1}, false, options);
}

void field_apply(Stream& stream, Field field, FieldOp op, const ConstDeviceArray& a,
                 const ConstDeviceArray& b, const ConstHostArray& scalar, const DeviceArray& out,
                 const FieldOptions& options) {
    kernels::check_field_enums("field_apply", field, op, options.form, options.shader);
    const FieldInfo& info = field_info(field);
    using kernels::range_of;
    kernels::check_field_ranges(info, op, range_of(a), range_of(b), range_of(out), scalar, options);
    if (is_reduction(op)) return record_reduction(stream, info, op, a, b, out, options);
    const std::uint64_t elements = a.bytes() / info.element_bytes;
    Parameters parameters;
    if (op == FieldOp::axpy)
        parameters = kernels::axpy_parameters(
            field, kernels::axpy_words(kernels::field_function(op), field, options.form, scalar));
    const Program program = kernels::make_field_program(stream, field, op, elements, options);
    dispatch(stream, program, takes_b(op), a, b, words_of(out), elements, parameters);
}

namespace {

template <class Where>
Program program_of_elements(Where& where, Field field, FieldOp op, const FieldOptions& options) {
    kernels::check_field_enums("field_program", field, op, options.form, options.shader);
    if (is_reduction(op))
        throw Error(Errc::invalid_argument,
                    std::string("field_program: reductions take more than one program (got ") +
                        to_string(op) + ", need an element-wise operation)");
    if (options.block_elements != 0)
        throw Error(Errc::invalid_argument,
                    "field_program: FieldOptions::block_elements does not apply (got " +
                        std::to_string(options.block_elements) + ", need 0)");
    return kernels::make_field_program(where, field, op, 0, options);
}

}  // namespace

Program field_program(Backend& backend, Field field, FieldOp op, const FieldOptions& options) {
    return program_of_elements(backend, field, op, options);
}
Program field_program(Devices& devices, Field field, FieldOp op, const FieldOptions& options) {
    return program_of_elements(devices, field, op, options);
}

}  // namespace weft
