// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/encode.hpp>: encodes on several devices. Each share is an encode_batch on one device,
// of consecutive samples of the arrays.
#include <string>
#include <utility>
#include <vector>

#include <weft/devices.hpp>
#include <weft/ops/encode.hpp>

#include "base/batch_call.hpp"
#include "ops/encode/encode_batch_check.hpp"
#include "ops/encode/encode_check.hpp"
#include "ops/encode/encode_shares.hpp"
#include "vulkan/devices/shared_call.hpp"
#include "vulkan/engine/scratch_cache.hpp"

namespace weft {
namespace {

using kernels::EncodeArrays;
using kernels::EncodeSamples;
using kernels::EncodeShareFailures;

/// Arrays and options have been checked. `batch`: failures name jobs.
OpReport encode_arrays(Devices& devices, EncodeMethod method, std::span<const EncodeJob> given,
                       std::uint32_t qubits, std::uint64_t features, const EncodeHostOptions& options,
                       bool batch) {
    const PlanReport& plan = core::first_backend(devices).plan();
    const EncodeArrays arrays(given, qubits, features);
    if (options.check_values)
        kernels::require_no_failures(
            method, kernels::find_job_faults(method, qubits, features, given, plan.copy_threads), false,
            batch);
    EncodeShareFailures failures;
    const auto worker = [&](std::size_t) -> core::ShareWorker {
        return [&](Backend& backend, const core::Share& share, core::ShareWatch& watch) {
            const EncodeSamples samples = arrays.cut(share.first, share.count);
            try {
                return encode_batch(backend, method, samples.parts, qubits,
                                    {.batch = watch.options(options.batch)});
            } catch (const EncodeError& error) {
                failures.add(error, samples.first);
                return OpReport();
            }
        };
    };
    // Shares begin where every device can bind the arrays.
    constexpr std::uint64_t kStep = 64;
    OpReport report = core::run_shares(
        devices, {.function = batch ? "encode_batch" : "encode",
                  .rates = std::string("encode ") + to_string(method) + " " + std::to_string(qubits),
                  .items = arrays.samples(),
                  .step = arrays.sample_bytes() < (std::uint64_t{1} << 20) ? kStep : 1,
                  .item_bytes = arrays.sample_bytes(),
                  .chunk_items = core::wanted_chunk_items(plan, options.batch),
                  .single_job = !batch,
                  .progress_total = arrays.samples(),
                  .options = options.batch,
                  .worker = worker});
    std::vector<EncodeFailure> failed = failures.sorted();
    if (batch) kernels::name_jobs(given, failed);
    kernels::require_no_failures(method, std::move(failed), true, batch);
    report.op = "encode";
    report.method = to_string(method);
    report.items = arrays.samples();
    report.jobs = 1;
    return report;
}

void check_options(const char* function, Devices& devices, const BatchOptions& options) {
    core::check_batch_options(function, core::first_backend(devices), options);
    core::require_members(function, options, {.mode = true, .chunk_elements = true});
}

}  // namespace

OpReport encode(Devices& devices, EncodeMethod method, const ConstHostArray& values, const HostArray& states,
                const StateShape& shape, const EncodeHostOptions& options) {
    const std::uint64_t features =
        kernels::check_encode(method, shape, {values.type, states.type}, values.size, states.size);
    kernels::check_spans(values, states);
    check_options("encode", devices, options.batch);
    const EncodeJob array{values, states, shape.samples};
    return encode_arrays(devices, method, {&array, 1}, shape.qubits, features, options, false);
}

OpReport encode_batch(Devices& devices, EncodeMethod method, std::span<const EncodeJob> jobs,
                      std::uint32_t qubits, const EncodeHostOptions& options) {
    const std::uint64_t features = kernels::check_encode_jobs(method, jobs, qubits);
    check_options("encode_batch", devices, options.batch);
    OpReport report = encode_arrays(devices, method, jobs, qubits, features, options, true);
    report.op = "encode_batch";
    report.method = to_string(method);
    report.jobs = jobs.size();
    return report;
}

}  // namespace weft
