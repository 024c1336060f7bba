// SPDX-License-Identifier: Apache-2.0
#include <thread>
#include <utility>
#include <vector>

#include <weft/cuda/encode.hpp>
#include <weft/cuda/host.hpp>

#include "ops_cuda/encode/encode_steps.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops/encode/encode_check.hpp"

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
    std::vector<std::uint32_t> status(2 * shape.samples);
    HostWork work;
    work.inputs = {{values.data, shape.samples * row_in, row_in}};
    // What became of the samples goes the way of the states: a copy of its own, asked for when a chunk is
    // done, would wait behind the states of all chunks under way.
    work.outputs = {{states.data, shape.samples * row_out, row_out}, {status.data(), status.size() * 4, 8}};
    work.elements = shape.samples;
    work.launch = [&](const Chunk& chunk) {
        encode_checked(chunk.stream, method, values_at(chunk.inputs[0], chunk.count * features, values.type),
                       states_at(chunk.outputs[0], chunk.count << shape.qubits, states.type),
                       {chunk.count, shape.qubits}, features,
                       reinterpret_cast<std::uint32_t*>(chunk.outputs[1]), false);
    };
    std::uint64_t samples_done = 0;
    work.done = [&](const Chunk& chunk) {
        samples_done += chunk.count;
        if (options.batch.progress) options.batch.progress(samples_done, shape.samples);
    };
    BatchReport report;
    run_chunks("encode", work, report);
    report.bytes_out -= status.size() * 4;
    std::vector<EncodeFailure> failures;
    kernels::append_failures(failures, status, 0, 0);
    kernels::require_no_failures(method, std::move(failures), true);
    return report;
}

}  // namespace weft::cuda
