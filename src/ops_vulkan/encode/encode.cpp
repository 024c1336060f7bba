// SPDX-License-Identifier: Apache-2.0
#include <weft/ops/encode.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <weft/error.hpp>
#include <weft/memory_report.hpp>

#include "base/batch_call.hpp"
#include "ops/encode/encode_batch_check.hpp"
#include "ops/encode/encode_check.hpp"
#include "ops/encode/encode_plan.hpp"
#include "ops_vulkan/encode/encode_steps.hpp"
#include "ops_vulkan/encode/encode_streamed.hpp"
#include "vulkan/engine/scratch_cache.hpp"

namespace weft {
namespace {

bool stages(const Backend& backend) {
    const PlanReport& plan = backend.plan();
    return plan.large_path == Path::staged || plan.ordinary_path == Path::staged ||
           plan.small_path == Path::staged;
}

}  // namespace

kernels::EncodeRoom kernels::room_of(const Backend& backend) {
    const PlanReport& plan = backend.plan();
    EncodeRoom room;
    room.slots = plan.ring_slots;
    room.copies = stages(backend);
    room.chunk_elements = plan.chunk_elements;
    room.chunk_exact = plan.chunk_exact;
    const MemoryReport memory = backend.memory();
    for (const MemoryReport::Heap& heap : memory.heaps)
        if (heap.device_local)
            room.available = std::max(room.available, heap.budget != 0 ? heap.budget : heap.size);
    if (memory.limit != 0) room.available = std::min(room.available, memory.limit);
    return room;
}

namespace {

// Bytes that a streamed encode may still allocate.
std::uint64_t memory_left(const Backend& backend) {
    const std::uint64_t available = kernels::room_of(backend).available;
    const std::uint64_t taken = core::memory_limit(backend) != 0 ? backend.memory().block_bytes : 0;
    return available - std::min(available, taken);
}

// Bytes that a streamed encode may take. If memory is limited, what earlier calls have kept is freed before
// anything is cut smaller. run_batch does so itself, after it has reused what the last batch left.
std::uint64_t require_memory(Backend& backend, const kernels::EncodePlan& plan, const BatchOptions& options) {
    constexpr std::uint64_t kSmall = std::uint64_t{1} << 30;
    const std::uint64_t limit = core::memory_limit(backend);
    const std::uint64_t least = kernels::least_bytes(plan, backend.device(), stages(backend));
    if (limit == 0 && least < kSmall) return ~std::uint64_t{0};
    const std::uint64_t wanted =
        plan.single_dispatch()
            ? least
            : kernels::rounds_bytes(plan, backend.device(),
                                    kernels::usual_rounds(plan, backend.device(), options.chunk_elements));
    std::uint64_t left = memory_left(backend);
    if (limit != 0 && wanted > left) {
        backend.trim();
        left = memory_left(backend);
    }
    if (least > left)
        throw Error(Errc::out_of_memory,
                    "encode: no memory for the smallest part that can be streamed (got " +
                        std::to_string(left) + " bytes, need " + std::to_string(least) + ")");
    return limit != 0 ? left : ~std::uint64_t{0};
}

}  // namespace

std::vector<EncodeFailure> EncodeOutcome::failures(Stream& stream) const {
    const std::weak_ptr<const void> other = detail::Access::identity(stream);
    if (!deferred_ && (stream_.owner_before(other) || other.owner_before(stream_)))
        throw Error(Errc::invalid_argument, "EncodeOutcome: the states are made on another stream (got \"" +
                                                stream.name() +
                                                "\", need the stream that encode was called with)");
    const std::vector<std::uint32_t> words = stream.download(*status_);
    std::vector<EncodeFailure> failures;
    kernels::append_failures(failures, words, 0, 0);
    return failures;
}

void EncodeOutcome::require_all(Stream& stream) const {
    kernels::require_no_failures(method_, failures(stream), true);
}

EncodeOutcome encode(Stream& stream, EncodeMethod method, const ConstDeviceArray& values,
                     const DeviceArray& states, const StateShape& shape, const EncodeOptions& options) {
    const EncodeTypes types{values.type(), states.type()};
    const std::uint64_t features = kernels::check_encode(method, shape, types, values.size(), states.size());
    const kernels::EncodePlan plan =
        kernels::plan_encode(stream.device(), method, types, shape, features, false);
    kernels::check_alignment(plan, states.first());
    auto status = std::make_shared<Buffer<std::uint32_t>>(stream, 2 * shape.samples, "encode status");
    EncodeOutcome outcome(method, status, detail::Access::identity(stream), detail::Access::deferred(stream));
    const kernels::EncodeScratch scratch(stream, plan);
    if (options.check_values) {
        kernels::encode_resident(stream, plan, scratch, values, states, status->view(), true);
        kernels::require_no_failures(method, outcome.failures(stream), false);
    }
    kernels::encode_resident(stream, plan, scratch, values, states, status->view(), false);
    return outcome;
}

namespace {

// States that need several passes: one array after the other.
BatchReport encode_one_by_one(Backend& backend, kernels::EncodePlan plan, std::span<const EncodeJob> arrays,
                              const BatchOptions& options, std::uint64_t most,
                              std::vector<EncodeFailure>& failures) {
    const std::uint64_t all = plan.samples;
    std::uint64_t done = 0;
    BatchReport total;
    BatchOptions batch = options;
    if (options.progress)
        batch.progress = [&](const Progress& p) {
            options.progress({done + p.done, all, total.wall_s + p.elapsed_s});
        };
    for (const EncodeJob& array : arrays) {
        plan.samples = array.samples;
        std::vector<EncodeFailure> found;
        const BatchReport one =
            kernels::encode_by_rounds(backend, plan, array.values, array.states, batch, most, found);
        for (EncodeFailure& failure : found) failure.sample += done;
        failures.insert(failures.end(), found.begin(), found.end());
        done += array.samples;
        total.path = one.path;
        total.jobs += one.jobs;
        total.elements += one.elements;
        total.chunks += one.chunks;
        total.chunk_elements = std::max(total.chunk_elements, one.chunk_elements);
        total.bytes_in += one.bytes_in;
        total.bytes_out += one.bytes_out;
        total.wall_s += one.wall_s;
    }
    return total;
}

// The arrays and the batch options have been checked. `batch`: failures name jobs.
OpReport encode_arrays(Backend& backend, EncodeMethod method, std::span<const EncodeJob> arrays,
                       std::uint32_t qubits, std::uint64_t features, const EncodeHostOptions& options,
                       bool batch) {
    const StateShape shape{kernels::samples_of(arrays), qubits};
    const EncodeTypes types{arrays[0].values.type, arrays[0].states.type};
    const kernels::EncodePlan plan =
        kernels::plan_encode(backend.device(), method, types, shape, features, true);
    BatchOptions settled = options.batch;
    settled.chunk_elements = core::wanted_chunk_items(backend.plan(), options.batch);
    const std::uint64_t most = require_memory(backend, plan, settled);
    if (options.check_values)
        kernels::require_no_failures(
            method, kernels::find_job_faults(method, qubits, features, arrays, backend.plan().copy_threads),
            false, batch);
    std::vector<EncodeFailure> failures;
    OpReport report;
    static_cast<BatchReport&>(report) =
        plan.single_dispatch() ? kernels::encode_by_jobs(backend, plan, arrays, settled, failures)
                               : encode_one_by_one(backend, plan, arrays, settled, most, failures);
    if (batch) kernels::name_jobs(arrays, failures);
    kernels::require_no_failures(method, std::move(failures), true, batch);
    report.op = "encode";
    report.method = to_string(method);
    report.items = shape.samples;
    return report;
}

void check_options(const char* function, Backend& backend, const BatchOptions& options) {
    core::check_batch_options(function, backend, options);
    core::require_members(function, options, {.mode = true, .chunk_elements = true});
}

}  // namespace

OpReport encode(Backend& backend, EncodeMethod method, const ConstHostArray& values, const HostArray& states,
                const StateShape& shape, const EncodeHostOptions& options) {
    const std::uint64_t features =
        kernels::check_encode(method, shape, {values.type, states.type}, values.size, states.size);
    kernels::check_spans(values, states);
    check_options("encode", backend, options.batch);
    const EncodeJob array{values, states, shape.samples};
    return encode_arrays(backend, method, {&array, 1}, shape.qubits, features, options, false);
}

OpReport encode_batch(Backend& backend, EncodeMethod method, std::span<const EncodeJob> jobs,
                      std::uint32_t qubits, const EncodeHostOptions& options) {
    const std::uint64_t features = kernels::check_encode_jobs(method, jobs, qubits);
    check_options("encode_batch", backend, options.batch);
    OpReport report;
    if (!jobs.empty()) report = encode_arrays(backend, method, jobs, qubits, features, options, true);
    report.op = "encode_batch";
    report.method = to_string(method);
    report.jobs = jobs.size();
    return report;
}

EncodeEstimate estimate_encode(const Backend& backend, EncodeMethod method, const StateShape& shape,
                               EncodeTypes types, std::uint64_t features) {
    const std::uint64_t most = encode_features(method, shape.qubits);
    const std::uint64_t wanted = method == EncodeMethod::amplitude && features != 0 ? features : most;
    // The products below must not wrap to numbers that fit.
    if (wanted > most)
        throw Error(Errc::invalid_argument, "estimate_encode: too many values a sample (got " +
                                                std::to_string(wanted) + ", need at most " +
                                                std::to_string(most) + " for " +
                                                std::to_string(shape.qubits) + " qubits)");
    if (shape.samples > (std::uint64_t{1} << 58 >> shape.qubits))
        throw Error(Errc::invalid_argument,
                    "estimate_encode: too many samples (got " + std::to_string(shape.samples) + " of " +
                        std::to_string(shape.qubits) + " qubits, need at most 2^58 amplitudes)");
    kernels::check_encode(method, shape, types, shape.samples * wanted, shape.amplitudes());
    return kernels::estimate(backend.device(), kernels::room_of(backend), method, types, shape, wanted);
}

}  // namespace weft
