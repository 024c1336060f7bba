// SPDX-License-Identifier: Apache-2.0
// Completes <weft/cuda/devices.hpp>: encodes on several devices. A share is consecutive samples of the
// arrays.
#include <string>
#include <utility>
#include <vector>

#include <weft/cuda/devices.hpp>

#include "base/batch_call.hpp"
#include "cuda/devices_state.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops/encode/encode_batch_check.hpp"
#include "ops/encode/encode_check.hpp"
#include "ops/encode/encode_shares.hpp"

namespace weft::cuda {
namespace {

using kernels::EncodeArrays;
using kernels::EncodeSamples;
using kernels::EncodeShareFailures;

/// Encodes the arrays of a share, one after the other. Samples that fail are named at the end of the call.
OpReport encode_share(EncodeMethod method, std::uint32_t qubits, const EncodeSamples& samples,
                      const BatchOptions& batch, core::ShareWatch& watch, EncodeShareFailures& failures) {
    OpReport sum;
    for (std::size_t i = 0; i < samples.parts.size(); ++i) {
        const EncodeJob& part = samples.parts[i];
        try {
            core::add_to(sum, encode(method, part.values, part.states, {part.samples, qubits},
                                     {.batch = watch.options(batch)}));
        } catch (const EncodeError& error) {
            failures.add(error, std::span(&samples.first[i], 1));
        }
    }
    return sum;
}

/// Arrays and options have been checked. `batch`: failures name jobs.
OpReport encode_arrays(Devices& devices, EncodeMethod method, std::span<const EncodeJob> given,
                       std::uint32_t qubits, std::uint64_t features, const EncodeHostOptions& options,
                       bool batch) {
    const EncodeArrays arrays(given, qubits, features);
    if (options.check_values)
        kernels::require_no_failures(
            method, kernels::find_job_faults(method, qubits, features, given, host_threads()), false, batch);
    EncodeShareFailures failures;
    const char* const function = batch ? "encode_batch" : "encode";
    const auto work = [&](const core::Share& share, core::ShareWatch& watch) {
        return encode_share(method, qubits, arrays.cut(share.first, share.count), options.batch, watch,
                            failures);
    };
    OpReport report = run_shares(
        devices, {.function = function,
                  .rates = std::string("encode ") + to_string(method) + " " + std::to_string(qubits),
                  .items = arrays.samples(),
                  .item_bytes = arrays.sample_bytes(),
                  .chunk_items = wanted_chunk_elements(options.batch),
                  .single_job = !batch,
                  .progress_total = arrays.samples(),
                  .options = options.batch,
                  .worker = on_each(devices, function, work)});
    std::vector<EncodeFailure> failed = failures.sorted();
    if (batch) kernels::name_jobs(given, failed);
    kernels::require_no_failures(method, std::move(failed), true, batch);
    report.op = function;
    report.method = to_string(method);
    report.items = arrays.samples();
    report.jobs = given.size();
    return report;
}

}  // namespace

OpReport encode(Devices& devices, EncodeMethod method, const ConstHostArray& values, const HostArray& states,
                const StateShape& shape, const EncodeHostOptions& options) {
    const std::uint64_t features =
        kernels::check_encode(method, shape, {values.type, states.type}, values.size, states.size);
    kernels::check_spans(values, states);
    core::require_members("encode", options.batch, {.chunk_elements = true, .ring_slots = true});
    const EncodeJob array{values, states, shape.samples};
    return encode_arrays(devices, method, {&array, 1}, shape.qubits, features, options, false);
}

OpReport encode_batch(Devices& devices, EncodeMethod method, std::span<const EncodeJob> jobs,
                      std::uint32_t qubits, const EncodeHostOptions& options) {
    const std::uint64_t features = kernels::check_encode_jobs(method, jobs, qubits);
    core::require_members("encode", options.batch, {});
    return encode_arrays(devices, method, jobs, qubits, features, options, true);
}

}  // namespace weft::cuda
