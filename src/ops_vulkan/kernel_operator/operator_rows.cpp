// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/kernel_operator/operator_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

#include "base/batch_call.hpp"
#include "ops/kernel_operator/operator_check.hpp"
#include "ops/kernel_operator/operator_parameters.hpp"
#include "ops/kernel_operator/operator_rows.hpp"
#include "ops/kernel_operator/operator_shapes.hpp"
#include "ops_vulkan/kernel_matrix/kernel_states.hpp"
#include "ops_vulkan/kernel_operator/operator_host.hpp"
#include "shaders/operator.spv.hpp"

namespace weft::kernels {
namespace {

using ShaderWords = std::span<const std::uint32_t>;

/// Numbers are read in words of eight bytes, which software devices load fastest.
bool by_lanes(const OperatorPlan& plan) {
    return plan.device.software && plan.device.float64 && !plan.real64;
}

RowsShape rows_shape(const OperatorPlan& plan, std::uint64_t rows) {
    RowsShape shape = gpu_rows_shape(rows, plan.real64);
    if (!plan.device.software) return shape;
    shape.workgroup = std::clamp(plan.device.limits.subgroup_size, 4u, 32u);
    shape.rows = std::bit_ceil(static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, 8)));
    shape.columns = 8;
    return shape;
}

ShaderWords words_of(const OperatorPlan& plan) {
    if (plan.real64) return spirv::operator_rows_real64;
    return by_lanes(plan) ? ShaderWords(spirv::operator_rows_lanes)
                          : ShaderWords(spirv::operator_rows_real32);
}

Program rows_program(const Stream& stream, const OperatorPlan& plan, const RowsShape& shape) {
    ProgramOptions options{.name = "operator_rows",
                           .constants = {{0u, shape.workgroup},
                                         {3u, plan.layout.of_qubit},
                                         {4u, shape.rows},
                                         {5u, shape.columns}},
                           .elements_per_workgroup = 1};
    options.operations_per_element =
        static_cast<double>(shape.workgroup * shape.rows * shape.columns) * 4 * plan.shape.qubits;
    return {stream, words_of(plan), options};
}

/// Values of samples with themselves; `listed`: of the rows of a list.
Program own_program(const Stream& stream, const OperatorPlan& plan, bool listed) {
    return {stream,
            words_of(plan),
            {.name = "operator_rows",
             .constants = {
                 {0u, 128u}, {2u, true}, {3u, plan.layout.of_qubit}, {4u, 1u}, {5u, 1u}, {6u, listed}}}};
}

/// Rows that a dispatch takes where each binds `bytes`; bindings of samples begin at multiples of 64.
std::uint64_t rows_that_bind(const DeviceLimits& limits, std::uint64_t bytes) {
    const std::uint64_t range = limits.max_storage_buffer_range - limits.storage_buffer_offset_alignment;
    return std::max<std::uint64_t>(64, range / bytes / 64 * 64);
}

/// Rows of a band, which is the unit of cancellation: as many as take a moment, and whose values can be bound
/// and counted.
std::uint64_t rows_of_band(const DeviceLimits& limits, const OperatorPlan& plan) {
    const std::uint64_t all = plan.shape.columns();
    const std::uint64_t range = limits.max_storage_buffer_range - limits.storage_buffer_offset_alignment;
    const std::uint64_t factors = std::uint64_t{1} << (plan.device.software ? 27 : 37);
    const std::uint64_t values = std::min({range / plan.real_bytes(), std::uint64_t{1} << 31,
                                           std::max<std::uint64_t>(1, factors / plan.shape.qubits)});
    const std::uint64_t rows = values / all;
    return rows < 8 ? std::max<std::uint64_t>(1, rows) : rows / 8 * 8;
}

void record_closed_rows(Stream& stream, const DeviceSamples& samples, const std::vector<std::uint32_t>& rows,
                        const DeviceArray& out, const PairsDone& done) {
    const DeviceLimits& limits = stream.device().limits;
    const OperatorPlan& plan = samples.plan;
    const Buffer<std::uint32_t> list(stream, rows.size(), "operator rows");
    stream.upload(std::span<const std::uint32_t>(rows), list.view());
    const RowsShape shape = rows_shape(plan, rows.size());
    const Program program = rows_program(stream, plan, shape), own = own_program(stream, plan, true);
    const std::uint64_t all = plan.shape.columns(), most = rows_that_bind(limits, plan.sample_bytes());
    const std::uint64_t together = rows_of_band(limits, plan);
    const ConstWords of_rows = samples.rows(false), numbers = list.view();
    shared::OperatorRowsParameters p = rows_parameters(plan);
    for (std::uint64_t row = 0; row < rows.size(); row += together)
        for (std::uint64_t column = 0; column < all; column += most) {
            const std::uint64_t down = std::min<std::uint64_t>(together, rows.size() - row),
                                some = std::min(most, all - column);
            const BoundWords to = bind_elements(limits, out, row * all + column, (down - 1) * all + some);
            const ConstWords of_columns = samples_at(plan, samples.columns(false), column, some);
            p.rows = word(down);
            p.columns = word(some);
            p.list_base = word(row);
            p.column_base = word(column);
            p.out_base = to.before;
            p.out_width = word(all);
            const std::uint64_t workgroups =
                divide_up(down, shape.rows) * divide_up(some, std::uint64_t{shape.columns} * shape.workgroup);
            stream.dispatch(program, {of_rows, of_columns, numbers, to.words}, workgroups, p);
            if (plan.shape.square()) stream.dispatch(own, {of_rows, of_rows, numbers, to.words}, down, p);
            done(down * some);
        }
}

void record_closed_diagonal(Stream& stream, const DeviceSamples& samples, const DeviceArray& out,
                            const PairsDone& done) {
    const DeviceLimits& limits = stream.device().limits;
    const OperatorPlan& plan = samples.plan;
    const Program program = own_program(stream, plan, false);
    const std::uint64_t all = plan.shape.samples, most = rows_that_bind(limits, plan.sample_bytes());
    shared::OperatorRowsParameters p = rows_parameters(plan);
    for (std::uint64_t row = 0; row < all; row += most) {
        const std::uint64_t some = std::min(most, all - row);
        const BoundWords to = bind_elements(limits, out, row, some);
        const ConstWords numbers = samples_at(plan, samples.rows(false), row, some);
        p.out_base = to.before;
        stream.dispatch(program, {numbers, numbers, numbers, to.words}, some, p);
        done(some);
    }
}

OpReport report_of(const char* function, const HostArray& out, const core::ProgressMeter& meter) {
    OpReport report = operator_report(function, out.size, 0, out);
    report.chunks = meter.parts();
    report.wall_s = meter.elapsed_s();
    return report;
}

}  // namespace

void record_rows(Stream& stream, const DeviceSamples& samples, const std::vector<std::uint32_t>& rows,
                 const DeviceArray& out, const PairsDone& done) {
    if (samples.states) return record_state_rows(stream, samples, rows, out, done);
    record_closed_rows(stream, samples, rows, out, done);
}

void record_diagonal(Stream& stream, const DeviceSamples& samples, const DeviceArray& out,
                     const PairsDone& done) {
    if (samples.states) return record_state_diagonal(stream, samples, out, done);
    record_closed_diagonal(stream, samples, out, done);
}

OpReport rows_in_host_memory(Backend& backend, const DeviceSamples& samples,
                             const std::vector<std::uint32_t>& rows, const HostArray& out,
                             const BatchOptions& batch) {
    constexpr const char* kFunction = "kernel_rows";
    core::ProgressMeter meter(kFunction, batch, out.size);
    meter.check();
    Stream stream(backend, {.name = kFunction});
    const RowParts parts(samples.plan, rows);
    std::vector<std::byte> kept(parts.kept_bytes());
    std::uint64_t pairs = 0;
    for (std::size_t part = 0; part < parts.count(); ++part) {
        const std::vector<std::uint32_t> some = parts.rows(part);
        const HostResult made(stream, parts.target(part, out, kept));
        run_bands(
            stream, [&](const PairsDone& done) { record_rows(stream, samples, some, made.array(), done); },
            [&] { made.download(); }, [&](std::uint64_t more) { meter.show(pairs += more); });
        parts.put(part, out, kept);
    }
    return report_of(kFunction, out, meter);
}

OpReport diagonal_in_host_memory(Backend& backend, const DeviceSamples& samples, const HostArray& out,
                                 const BatchOptions& batch) {
    constexpr const char* kFunction = "kernel_diagonal";
    core::ProgressMeter meter(kFunction, batch, out.size);
    meter.check();
    std::uint64_t pairs = 0;
    Stream stream(backend, {.name = kFunction});
    const HostResult made(stream, out);
    run_bands(
        stream, [&](const PairsDone& done) { record_diagonal(stream, samples, made.array(), done); },
        [&] { made.download(); }, [&](std::uint64_t some) { meter.show(pairs += some); });
    return report_of(kFunction, out, meter);
}

}  // namespace weft::kernels
