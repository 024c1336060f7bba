// SPDX-License-Identifier: Apache-2.0
// Completes <weft/cuda/host.hpp>: encode.
#include <utility>
#include <vector>

#include <weft/cuda/encode.hpp>
#include <weft/cuda/host.hpp>

#include "base/batch_call.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops/encode/encode_batch_check.hpp"
#include "ops/encode/encode_check.hpp"
#include "ops_cuda/encode/encode_steps.hpp"

namespace weft::cuda {

OpReport encode(EncodeMethod method, const ConstHostArray& values, const HostArray& states,
                const StateShape& shape, const EncodeHostOptions& options) {
    const std::uint64_t features =
        kernels::check_encode(method, shape, {values.type, states.type}, values.size, states.size);
    kernels::check_spans(values, states);
    core::require_members("encode", options.batch, {.chunk_elements = true, .ring_slots = true});
    if (options.check_values)
        kernels::require_no_failures(
            method, kernels::find_faults(method, shape.qubits, features, values, host_threads()), false);
    const std::uint64_t row_in = features * values.type.bytes();
    const std::uint64_t row_out = shape.state_size() * states.type.bytes();
    std::vector<std::uint32_t> status(2 * shape.samples);
    HostWork work;
    work.inputs = {{values.data, shape.samples * row_in, row_in}};
    // The status goes through the ring with the states. A copy of its own at the end of a chunk would wait
    // for the states of all chunks under way.
    work.outputs = {{states.data, shape.samples * row_out, row_out}, {status.data(), status.size() * 4, 8}};
    work.elements = shape.samples;
    work.launch = [&](const Chunk& chunk) {
        encode_checked(chunk.stream, method, {chunk.inputs[0], chunk.count * features, values.type},
                       {chunk.outputs[0], chunk.count << shape.qubits, states.type},
                       {chunk.count, shape.qubits}, features,
                       reinterpret_cast<std::uint32_t*>(chunk.outputs[1]), false);
    };
    core::ProgressMeter meter("encode", options.batch, shape.samples);
    meter.check();
    std::uint64_t samples_done = 0;
    work.done = [&](const Chunk& chunk) { meter.show(samples_done += chunk.count); };
    OpReport report;
    run_chunks("encode", work, options.batch, report);
    report.bytes_out -= status.size() * 4;
    std::vector<EncodeFailure> failures;
    kernels::append_failures(failures, status, 0, 0);
    kernels::require_no_failures(method, std::move(failures), true);
    report.op = "encode";
    report.method = to_string(method);
    report.items = shape.samples;
    return report;
}

OpReport encode_batch(EncodeMethod method, std::span<const EncodeJob> jobs, std::uint32_t qubits,
                      const EncodeHostOptions& options) {
    const std::uint64_t features = kernels::check_encode_jobs(method, jobs, qubits);
    core::require_members("encode", options.batch, {});
    if (options.check_values)
        kernels::require_no_failures(
            method, kernels::find_job_faults(method, qubits, features, jobs, host_threads()), false, true);
    const std::uint64_t all = kernels::samples_of(jobs);
    OpReport report;
    EncodeHostOptions each{.batch = options.batch};
    if (options.batch.progress)
        each.batch.progress = [&](const Progress& p) {
            options.batch.progress({report.items + p.done, all, report.wall_s + p.elapsed_s});
        };
    std::vector<EncodeFailure> failures;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const StateShape shape{jobs[i].samples, qubits};
        try {
            const OpReport one = encode(method, jobs[i].values, jobs[i].states, shape, each);
            report.path = one.path;
            report.wall_s += one.wall_s;
        } catch (const EncodeError& error) {
            for (EncodeFailure failure : error.failures()) {
                failure.job = i;
                failures.push_back(failure);
            }
        }
        report.items += shape.samples;
        report.bytes_in += jobs[i].values.bytes();
        report.bytes_out += jobs[i].states.bytes();
    }
    kernels::require_no_failures(method, std::move(failures), true, true);
    report.op = "encode_batch";
    report.method = to_string(method);
    report.jobs = jobs.size();
    report.elements = all;
    return report;
}

}  // namespace weft::cuda
