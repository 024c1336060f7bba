// SPDX-License-Identifier: Apache-2.0
// Completes <weft/cuda/host.hpp>: transforms of arrays in host memory.
#include <string>
#include <utility>

#include <weft/cuda/host.hpp>

#include "base/batch_call.hpp"
#include "cuda/check.hpp"
#include "cuda/plan_device.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops/ntt/ntt_check.hpp"
#include "ops_cuda/ntt/ntt_resident.hpp"

namespace weft::cuda {
namespace {

struct HostCall {
    const char* function;
    const NttShape& shape;
    const BatchOptions& batch;
    std::uint64_t in_bytes, out_bytes;  // of the arrays
};

/// Rows are cut into chunks of whole transforms. Columns are strided, so they are one chunk.
template <class Launch>
void stream_through(const HostCall& call, const ConstHostArray& in, const HostArray& out, OpReport& report,
                    const Launch& launch) {
    const bool rows = call.shape.layout == NttLayout::rows;
    const std::uint64_t elements = call.shape.batch == 0 ? 0 : rows ? call.shape.batch : 1;
    core::ProgressMeter progress(call.function, call.batch, call.shape.batch);
    progress.check();
    std::uint64_t done = 0;
    HostWork work;
    work.elements = elements;
    if (elements != 0) {
        work.inputs.push_back({in.data, call.in_bytes, call.in_bytes / elements});
        work.outputs.push_back({out.data, call.out_bytes, call.out_bytes / elements});
    }
    work.launch = launch;
    work.done = [&](const Chunk& chunk) { progress.show(done += rows ? chunk.count : call.shape.batch); };
    if (elements != 0) run_chunks(call.function, work, call.batch, report);
}

/// Of the chunk: columns are all in one.
std::uint64_t batch_of(const NttShape& shape, const Chunk& chunk) {
    return shape.layout == NttLayout::rows ? chunk.count : shape.batch;
}

void check_options(const char* function, const NttHostOptions& options) {
    core::require_members(function, options.batch, {.chunk_elements = true, .ring_slots = true});
}

OpReport report_of(const char* function, const NttShape& shape, std::string method) {
    OpReport report;
    report.op = function;
    report.items = shape.batch;
    report.method = std::move(method);
    return report;
}

}  // namespace

OpReport ntt(Field field, NttDirection direction, const ConstHostArray& in, const HostArray& out,
             const NttShape& shape, const NttHostOptions& options) {
    constexpr const char* function = "ntt";
    kernels::NttRequest request =
        kernels::check_ntt(plan_device(), kernels::ntt_arguments(function, field, direction, shape, options),
                           kernels::ntt_range(in), kernels::ntt_range(out));
    check_options(function, options);
    kernels::refuse_field_shader(function, "NttHostOptions", options.shader);
    if (options.check_values)
        kernels::check_ntt_values(function, field, "in", in, shape, request.inputs, host_threads());
    OpReport report = report_of(function, shape, kernels::plan_ntt(plan_device(), request).method);
    stream_through({function, shape, options.batch, in.bytes(), out.bytes()}, in, out, report,
                   [&](const Chunk& chunk) {
                       request.batch = batch_of(shape, chunk);
                       run_ntt(chunk.stream, request, chunk.inputs[0], chunk.outputs[0], function);
                   });
    return report;
}

OpReport ntt_extend(Field field, const ConstHostArray& in, const HostArray& out, const NttShape& shape,
                    std::uint32_t blowup, const NttHostOptions& options) {
    constexpr const char* function = "ntt_extend";
    kernels::NttExtension extension = kernels::check_ntt_extend(
        plan_device(), kernels::ntt_arguments(function, field, NttDirection::forward, shape, options), blowup,
        kernels::ntt_range(in), kernels::ntt_range(out));
    check_options(function, options);
    kernels::refuse_field_shader(function, "NttHostOptions", options.shader);
    if (options.check_values)
        kernels::check_ntt_values(function, field, "in", in, shape, shape.size(), host_threads());
    OpReport report = report_of(function, shape,
                                kernels::plan_ntt(plan_device(), extension.inverse).method + ", " +
                                    kernels::plan_ntt(plan_device(), extension.forward).method);
    stream_through({function, shape, options.batch, in.bytes(), out.bytes()}, in, out, report,
                   [&](const Chunk& chunk) {
                       extension.inverse.batch = extension.forward.batch = batch_of(shape, chunk);
                       run_ntt_extend(chunk.stream, extension, chunk.inputs[0], chunk.outputs[0]);
                   });
    return report;
}

OpReport ntt_product(Field field, const ConstHostArray& a, const ConstHostArray& b, const HostArray& out,
                     const FieldHostOptions& options) {
    constexpr const char* function = "ntt_product";
    const kernels::NttProduct product =
        kernels::check_ntt_product(plan_device(), field, options.form, options.shader, kernels::ntt_range(a),
                                   kernels::ntt_range(b), kernels::ntt_range(out));
    core::require_members(function, options.batch, {.chunk_elements = true, .ring_slots = true});
    kernels::refuse_field_shader(function, "FieldHostOptions", options.shader);
    for (const auto& [name, array] : {std::pair{"a", a}, std::pair{"b", b}})
        if (options.check_values)
            kernels::check_ntt_values(function, field, name, array, {}, 0, host_threads());
    OpReport report = report_of(function, {.batch = 1}, kernels::plan_ntt(plan_device(), product.out).method);
    core::ProgressMeter progress(function, options.batch, 1);
    progress.check();
    HostWork work;
    work.elements = 1;
    work.inputs = {{a.data, a.bytes(), a.bytes()}, {b.data, b.bytes(), b.bytes()}};
    work.outputs = {{out.data, out.bytes(), out.bytes()}};
    work.launch = [&](const Chunk& chunk) {
        run_ntt_product(chunk.stream, product, options.form, chunk.inputs[0], chunk.inputs[1],
                        chunk.outputs[0]);
    };
    work.done = [&](const Chunk&) { progress.show(1); };
    run_chunks(function, work, options.batch, report);
    return report;
}

}  // namespace weft::cuda
