// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include <weft/cuda_encode.hpp>
#include <weft/cuda_host.hpp>

#include "cuda/host_chunks.hpp"
#include "kernels/encode_check.hpp"

namespace weft::cuda {
namespace {

EncodeValues values_at(const std::byte* data, std::uint64_t count, ValueType type) {
    switch (type) {
        case ValueType::float32:
            return DeviceSpan<const float>{reinterpret_cast<const float*>(data), count};
        case ValueType::float64:
            return DeviceSpan<const double>{reinterpret_cast<const double*>(data), count};
        default:
            return DeviceSpan<const std::int64_t>{reinterpret_cast<const std::int64_t*>(data), count};
    }
}
EncodeStates states_at(std::byte* data, std::uint64_t count, StateType type) {
    if (type == StateType::complex64) return DeviceSpan<c32>{reinterpret_cast<c32*>(data), count};
    return DeviceSpan<c64>{reinterpret_cast<c64*>(data), count};
}

}  // namespace

BatchReport encode(EncodeMethod method, const EncodeSource& values, const EncodeTarget& states,
                   const StateShape& shape, const EncodeOptions& options) {
    const std::uint64_t features =
        kernels::check_encode(method, shape, {values.type, states.type}, values.count, states.count);
    kernels::check_spans(values, states);
    if (options.strict)
        kernels::require_no_failures(method,
                                     kernels::find_faults(method, shape.qubits, features, values,
                                                          std::max(1u, std::thread::hardware_concurrency())),
                                     false);
    const std::uint64_t row_in = features * (values.type == ValueType::float32 ? 4 : 8);
    const std::uint64_t row_out = shape.state_size() * (states.type == StateType::complex64 ? 8 : 16);
    std::map<std::uint64_t, EncodeOutcome> outcomes;  // of chunks under way, by their first sample
    std::vector<EncodeFailure> failures;
    HostWork work;
    work.inputs = {{values.data, shape.samples * row_in, row_in}};
    work.outputs = {{states.data, shape.samples * row_out, row_out}};
    work.elements = shape.samples;
    work.launch = [&](const Chunk& chunk) {
        outcomes.emplace(
            chunk.first,
            encode(chunk.stream, method, values_at(chunk.inputs[0], chunk.count * features, values.type),
                   states_at(chunk.outputs[0], chunk.count << shape.qubits, states.type),
                   {chunk.count, shape.qubits}));
    };
    std::uint64_t samples_done = 0;
    work.done = [&](const Chunk& chunk) {
        for (EncodeFailure failure : outcomes.at(chunk.first).failures(chunk.stream)) {
            failure.sample += chunk.first;
            failures.push_back(failure);
        }
        outcomes.erase(chunk.first);
        samples_done += chunk.count;
        if (options.batch.progress) options.batch.progress(samples_done, shape.samples);
    };
    BatchReport report;
    run_chunks("encode", work, report);
    kernels::require_no_failures(method, std::move(failures), true);
    return report;
}

}  // namespace weft::cuda
