// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include <weft/cuda/host.hpp>
#include <weft/cuda/kernel_matrix.hpp>

#include "cuda/check.hpp"
#include "cuda/streamed_chunks.hpp"
#include "cuda/scratch.hpp"
#include "ops/kernel_matrix/kernel_arrays_check.hpp"
#include "ops/kernel_matrix/kernel_check.hpp"

namespace weft::cuda {
namespace {

constexpr const char* kFunction = "kernel_matrix";

std::uint32_t threads() {
    return std::max(1u, std::thread::hardware_concurrency());
}

/// A stream for the time of a call.
class OwnStream {
  public:
    OwnStream() {
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), kFunction,
              "cudaStreamCreateWithFlags");
    }
    OwnStream(OwnStream&&) = delete;
    ~OwnStream() {
        static_cast<void>(cudaStreamSynchronize(stream_));
        static_cast<void>(cudaStreamDestroy(stream_));
    }
    operator StreamHandle() const { return stream_; }

  private:
    cudaStream_t stream_ = nullptr;
};

Scratch uploaded(StreamHandle stream, const void* data, std::uint64_t bytes) {
    Scratch memory(stream, bytes, kFunction, "X or Y");
    check(cudaMemcpyAsync(memory.data(), data, bytes, cudaMemcpyHostToDevice, stream), kFunction,
          "cudaMemcpyAsync");
    return memory;
}

KernelFeatures array_of(const Scratch& memory, const KernelSource& x) {
    if (x.type == ValueType::float32) return DeviceSpan<const float>{memory.as<const float>(), x.count};
    return DeviceSpan<const double>{memory.as<const double>(), x.count};
}
KernelStates array_of(const Scratch& memory, const KernelStateSource& x) {
    if (x.type == StateType::complex64) return DeviceSpan<const c32>{memory.as<const c32>(), x.count};
    return DeviceSpan<const c64>{memory.as<const c64>(), x.count};
}
std::uint64_t bytes_of(const KernelSource& x) {
    return x.count * kernels::value_bytes(x.type);
}
std::uint64_t bytes_of(const KernelStateSource& x) {
    return x.count * kernels::amplitude_bytes(x.type);
}

KernelValues values_of(const Scratch& memory, const KernelTarget& k) {
    if (k.type == ValueType::float32) return DeviceSpan<float>{memory.as<float>(), k.count};
    return DeviceSpan<double>{memory.as<double>(), k.count};
}

// K, made, by the ring into the caller's memory.
void download(StreamHandle stream, const Scratch& memory, const KernelTarget& k) {
    check(cudaStreamSynchronize(stream), kFunction, "cudaStreamSynchronize");
    const std::uint64_t unit = kernels::value_bytes(k.type);
    HostWork work;
    work.outputs = {{k.data, k.count * unit, unit}};
    work.elements = k.count;
    work.launch = [&](const Chunk& chunk) {
        check(cudaMemcpyAsync(chunk.outputs[0], memory.as<std::byte>() + chunk.first * unit,
                              chunk.count * unit, cudaMemcpyDeviceToDevice, chunk.stream),
              kFunction, "cudaMemcpyAsync");
    };
    BatchReport report;
    run_chunks(kFunction, work, report);
}

// make(stream, x, y, k) puts the kernel on the stream; y is null where there is none.
template <class Source, class Make>
KernelMatrixReport run(const Source& x, const Source* y, const KernelTarget& k, const KernelMatrixShape& shape,
                       KernelMatrixMethod method, const KernelMatrixOptions& options, const Make& make) {
    const auto begin = std::chrono::steady_clock::now();
    if (options.cancel.stop_requested())
        throw Error(Errc::cancelled, "kernel_matrix: cancelled (its stop token was asked to stop)");
    require_device(kFunction);
    {
        const OwnStream stream;
        const Scratch x_memory = uploaded(stream, x.data, bytes_of(x));
        const Scratch y_memory = y != nullptr ? uploaded(stream, y->data, bytes_of(*y)) : Scratch();
        const Scratch k_memory(stream, k.count * kernels::value_bytes(k.type), kFunction, "K");
        const auto x_array = array_of(x_memory, x);
        if (y != nullptr) {
            const auto y_array = array_of(y_memory, *y);
            make(stream, x_array, &y_array, values_of(k_memory, k));
        } else {
            make(stream, x_array, static_cast<decltype(&x_array)>(nullptr), values_of(k_memory, k));
        }
        download(stream, k_memory, k);
    }
    KernelMatrixReport report;
    report.method = method;
    report.pairs = shape.pairs();
    report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (options.progress) options.progress({report.pairs, report.pairs, report.wall_s});
    return report;
}

KernelMatrixReport from_features(const KernelSource& x, const KernelSource* y, const KernelTarget& k,
                                 const KernelMatrixShape& shape, const KernelMatrixCircuit& circuit,
                                 const KernelMatrixOptions& options) {
    kernels::check_kernel_shape(shape, y != nullptr);
    kernels::check_type(x.type);
    kernels::check_arrays(x, y, k, shape, shape.qubits, "values", options);
    const kernels::CircuitFacts facts = kernels::circuit_facts(shape, circuit, true);
    for (const KernelSource* source : {&x, y}) {
        if (source == nullptr) continue;
        const char* what = source == y ? "y" : "x";
        const std::uint64_t unit = kernels::value_bytes(source->type);
        kernels::check_kernel_memory(what, source->data, source->count * unit, unit, k);
        kernels::check_features(what, *source, shape.qubits, circuit.scale, threads());
    }
    const KernelMatrixMethod method =
        kernels::effective_layers(facts) != 0 ? KernelMatrixMethod::states : KernelMatrixMethod::product;
    return run(
        x, y, k, shape, method, options,
        [&](StreamHandle stream, const KernelFeatures& dx, const KernelFeatures* dy, const KernelValues& dk) {
            if (dy != nullptr)
                kernel_matrix(stream, dx, *dy, dk, shape, circuit, options);
            else
                kernel_matrix(stream, dx, dk, shape, circuit, options);
        });
}

KernelMatrixReport from_states(const KernelStateSource& x, const KernelStateSource* y, const KernelTarget& k,
                               const KernelMatrixShape& shape, const KernelMatrixOptions& options) {
    const std::uint64_t row = kernels::check_state_shape(shape, y != nullptr);
    kernels::check_arrays(x, y, k, shape, row, "amplitudes", options);
    kernels::check_state_memory("x", x, k, row, threads());
    if (y != nullptr) kernels::check_state_memory("y", *y, k, row, threads());
    return run(
        x, y, k, shape, KernelMatrixMethod::states, options,
        [&](StreamHandle stream, const KernelStates& dx, const KernelStates* dy, const KernelValues& dk) {
            if (dy != nullptr)
                kernel_matrix(stream, dx, *dy, dk, shape, options);
            else
                kernel_matrix(stream, dx, dk, StateShape{shape.samples, shape.qubits}, options);
        });
}

}  // namespace

KernelMatrixReport kernel_matrix(const KernelSource& x, const KernelTarget& k, const KernelMatrixShape& shape,
                                 const KernelMatrixCircuit& circuit, const KernelMatrixOptions& options) {
    return from_features(x, nullptr, k, shape, circuit, options);
}
KernelMatrixReport kernel_matrix(const KernelSource& x, const KernelSource& y, const KernelTarget& k,
                                 const KernelMatrixShape& shape, const KernelMatrixCircuit& circuit,
                                 const KernelMatrixOptions& options) {
    return from_features(x, &y, k, shape, circuit, options);
}
KernelMatrixReport kernel_matrix(const KernelStateSource& states, const KernelTarget& k,
                                 const KernelMatrixShape& shape, const KernelMatrixOptions& options) {
    return from_states(states, nullptr, k, shape, options);
}
KernelMatrixReport kernel_matrix(const KernelStateSource& x, const KernelStateSource& y,
                                 const KernelTarget& k, const KernelMatrixShape& shape,
                                 const KernelMatrixOptions& options) {
    return from_states(x, &y, k, shape, options);
}

}  // namespace weft::cuda
