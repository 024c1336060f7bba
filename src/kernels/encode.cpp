// SPDX-License-Identifier: Apache-2.0
#include <weft/encode.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <weft/error.hpp>

#include "kernels/encode_check.hpp"
#include "kernels/encode_plan.hpp"
#include "kernels/encode_steps.hpp"
#include "kernels/encode_streamed.hpp"

namespace weft {

std::vector<EncodeFailure> EncodeOutcome::failures(Stream& stream) const {
    const std::vector<std::uint32_t> words = stream.download(*status_);
    std::vector<EncodeFailure> failures;
    kernels::append_failures(failures, words, 0, 0);
    return failures;
}

void EncodeOutcome::check(Stream& stream) const {
    kernels::require_no_failures(method_, failures(stream), true);
}

EncodeOutcome encode(Stream& stream, EncodeMethod method, const EncodeValues& values,
                     const EncodeStates& states, const StateShape& shape, const EncodeOptions& options) {
    const std::uint64_t features =
        kernels::check_encode(method, shape, {values.type, states.type}, values.count, states.count);
    const kernels::EncodePlan plan =
        kernels::plan_encode(stream.device(), method, {values.type, states.type}, shape, features, false);
    auto status = std::make_shared<Buffer<std::uint32_t>>(stream, 2 * shape.samples, "encode status");
    EncodeOutcome outcome(method, status);
    if (options.strict) {
        kernels::encode_resident(stream, plan, values, states, status->view(), true);
        kernels::require_no_failures(method, outcome.failures(stream), false);
    }
    kernels::encode_resident(stream, plan, values, states, status->view(), false);
    return outcome;
}

EncodeOutcome encode_amplitude(Stream& stream, const EncodeValues& values, const EncodeStates& states,
                               const StateShape& shape, const EncodeOptions& options) {
    return encode(stream, EncodeMethod::amplitude, values, states, shape, options);
}
EncodeOutcome encode_angle(Stream& stream, const EncodeValues& values, const EncodeStates& states,
                           const StateShape& shape, const EncodeOptions& options) {
    return encode(stream, EncodeMethod::angle, values, states, shape, options);
}
EncodeOutcome encode_basis(Stream& stream, const EncodeValues& values, const EncodeStates& states,
                           const StateShape& shape, const EncodeOptions& options) {
    return encode(stream, EncodeMethod::basis, values, states, shape, options);
}
EncodeOutcome encode_phase(Stream& stream, const EncodeValues& values, const EncodeStates& states,
                           const StateShape& shape, const EncodeOptions& options) {
    return encode(stream, EncodeMethod::phase, values, states, shape, options);
}
EncodeOutcome encode_iqp(Stream& stream, const EncodeValues& values, const EncodeStates& states,
                         const StateShape& shape, const EncodeOptions& options) {
    return encode(stream, EncodeMethod::iqp, values, states, shape, options);
}
EncodeOutcome encode_iqp_z(Stream& stream, const EncodeValues& values, const EncodeStates& states,
                           const StateShape& shape, const EncodeOptions& options) {
    return encode(stream, EncodeMethod::iqp_z, values, states, shape, options);
}

BatchReport encode(Backend& backend, EncodeMethod method, const EncodeSource& values,
                   const EncodeTarget& states, const StateShape& shape, const EncodeOptions& options) {
    const std::uint64_t features =
        kernels::check_encode(method, shape, {values.type, states.type}, values.count, states.count);
    kernels::check_spans(values, states);
    const kernels::EncodePlan plan =
        kernels::plan_encode(backend.device(), method, {values.type, states.type}, shape, features, true);
    if (options.strict)
        kernels::require_no_failures(
            method, kernels::find_faults(method, shape.qubits, features, values, backend.plan().copy_threads),
            false);
    std::vector<EncodeFailure> failures;
    BatchReport report =
        plan.single_dispatch()
            ? kernels::encode_by_jobs(backend, plan, values, states, options.batch, failures)
            : kernels::encode_by_rounds(backend, plan, values, states, options.batch, failures);
    kernels::require_no_failures(method, std::move(failures), true);
    return report;
}

EncodeEstimate estimate_encode(const Backend& backend, EncodeMethod method, const StateShape& shape,
                               EncodeTypes types, std::uint64_t features) {
    const std::uint64_t most = encode_features(method, shape.qubits);
    const std::uint64_t wanted = method == EncodeMethod::amplitude && features != 0 ? features : most;
    // What is multiplied below must not wrap to something that fits.
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
    std::uint64_t available = 0;
    for (const MemoryReport::Heap& heap : backend.memory().heaps)
        if (heap.device_local) available = std::max(available, heap.budget != 0 ? heap.budget : heap.size);
    return kernels::estimate(backend.device(), backend.plan().slots, available, method, types, shape, wanted);
}

}  // namespace weft
