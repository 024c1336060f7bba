// SPDX-License-Identifier: Apache-2.0
// Completes <weft/cuda/host.hpp>: kernel_matrix.
#include <cuda_runtime_api.h>

#include <weft/cuda/host.hpp>
#include <weft/cuda/kernel_matrix.hpp>

#include "base/batch_call.hpp"
#include "cuda/check.hpp"
#include "cuda/own_stream.hpp"
#include "cuda/scratch.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops/kernel_matrix/kernel_check.hpp"

namespace weft::cuda {
namespace {

using kernels::facts_of;

constexpr const char* kFunction = "kernel_matrix";

Scratch uploaded(StreamHandle stream, const void* data, std::uint64_t bytes) {
    Scratch memory(stream, bytes, kFunction, "X or Y");
    check(cudaMemcpyAsync(memory.data(), data, bytes, cudaMemcpyHostToDevice, stream), kFunction,
          "cudaMemcpyAsync");
    return memory;
}

// Waits for K and copies it into the caller's memory through the ring.
void download(const OwnStream& stream, const Scratch& memory, const HostArray& k) {
    stream.wait();
    const std::uint64_t unit = k.type.bytes();
    HostWork work;
    work.outputs = {{k.data, k.bytes(), unit}};
    work.elements = k.size;
    work.launch = [&](const Chunk& chunk) {
        check(cudaMemcpyAsync(chunk.outputs[0], memory.as<std::byte>() + chunk.first * unit,
                              chunk.count * unit, cudaMemcpyDeviceToDevice, chunk.stream),
              kFunction, "cudaMemcpyAsync");
    };
    BatchReport report;
    run_chunks(kFunction, work, {}, report);
}

// make(stream, x, y, k) puts the kernel matrix on the stream; `y` is null without Y.
template <class Make>
OpReport run(const ConstHostArray& x, const ConstHostArray* y, const HostArray& k,
             const KernelMatrixShape& shape, KernelMatrixMethod method, const BatchOptions& batch,
             const Make& make) {
    core::ProgressMeter meter(kFunction, batch, shape.pairs());
    meter.check();
    require_device(kFunction);
    {
        const OwnStream stream(kFunction);
        const Scratch x_memory = uploaded(stream, x.data, x.bytes());
        const Scratch y_memory = y != nullptr ? uploaded(stream, y->data, y->bytes()) : Scratch();
        const Scratch k_memory(stream, k.bytes(), kFunction, "K");
        const ConstDeviceArray x_array(x_memory.data(), x.size, x.type);
        const ConstDeviceArray y_array(y_memory.data(), y != nullptr ? y->size : 0, x.type);
        make(stream, x_array, y != nullptr ? &y_array : nullptr,
             DeviceArray(k_memory.data(), k.size, k.type));
        download(stream, k_memory, k);
    }
    OpReport report = kernels::kernel_report(shape, method, x, y, k);
    report.wall_s = meter.elapsed_s();
    meter.show(report.items);
    return report;
}

OpReport from_features(const KernelMatrixCircuit& circuit, const ConstHostArray& x, const ConstHostArray* y,
                       const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& host) {
    const KernelMatrixOptions options = kernels::host_options(host, false);
    kernels::check_features(facts_of(x), facts_of(y), facts_of(k), shape, options);
    kernels::check_no_autotune(options);
    const kernels::CircuitFacts facts = kernels::circuit_facts(shape, circuit, true);
    kernels::check_host_features(x, y, k, shape, circuit.scale, host_threads());
    const KernelMatrixMethod method =
        kernels::effective_layers(facts) != 0 ? KernelMatrixMethod::states : KernelMatrixMethod::product;
    return run(x, y, k, shape, method, host.batch,
               [&](StreamHandle stream, const ConstDeviceArray& dx, const ConstDeviceArray* dy,
                   const DeviceArray& dk) {
                   if (dy != nullptr)
                       kernel_matrix(stream, circuit, dx, *dy, dk, shape, options);
                   else
                       kernel_matrix(stream, circuit, dx, dk, shape, options);
               });
}

OpReport from_states(const ConstHostArray& x, const ConstHostArray* y, const HostArray& k,
                     const KernelMatrixShape& shape, const KernelMatrixHostOptions& host) {
    const KernelMatrixOptions options = kernels::host_options(host, false);
    kernels::check_states(facts_of(x), facts_of(y), facts_of(k), shape, options);
    kernels::check_no_autotune(options);
    kernels::check_host_states(x, y, k, shape, host_threads());
    return run(x, y, k, shape, KernelMatrixMethod::states, host.batch,
               [&](StreamHandle stream, const ConstDeviceArray& dx, const ConstDeviceArray* dy,
                   const DeviceArray& dk) {
                   if (dy != nullptr)
                       kernel_matrix(stream, dx, *dy, dk, shape, options);
                   else
                       kernel_matrix(stream, dx, dk, shape, options);
               });
}

}  // namespace

OpReport kernel_matrix(const KernelMatrixCircuit& circuit, const ConstHostArray& x, const HostArray& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options) {
    return from_features(circuit, x, nullptr, k, shape, options);
}
OpReport kernel_matrix(const KernelMatrixCircuit& circuit, const ConstHostArray& x, const ConstHostArray& y,
                       const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return from_features(circuit, x, &y, k, shape, options);
}
OpReport kernel_matrix(const ConstHostArray& states, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return from_states(states, nullptr, k, shape, options);
}
OpReport kernel_matrix(const weft::detail::GivenStates<ConstHostArray>& states, const ConstHostArray& others,
                       const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return from_states(states, &others, k, shape, options);
}

}  // namespace weft::cuda
