// SPDX-License-Identifier: Apache-2.0
// weft encodes samples, a CUDA kernel of the application changes the states in place, and weft computes their
// kernel matrix. The three steps are ordered on the GPU; the host waits once, for the result.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <vector>

#include <weft/cuda/interop.hpp>
#include <weft/weft.hpp>

namespace {

/// Replaces the state of sample 1 by that of sample 0.
__global__ void repeat_first(float2* states, std::size_t amplitudes) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < amplitudes) states[amplitudes + i] = states[i];
}

}  // namespace

int main() try {
    weft::Backend backend;
    const weft::cuda::Device cuda(backend);  // the CUDA device of the same GPU
    weft::Stream stream(backend);
    cudaStream_t cuda_stream = nullptr;
    if (cudaSetDevice(cuda.ordinal()) != cudaSuccess || cudaStreamCreate(&cuda_stream) != cudaSuccess)
        return 1;

    const weft::StateShape shape{.samples = 64, .qubits = 10};
    std::vector<float> values(shape.samples * shape.qubits);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.37f * static_cast<float>(i % 97);
    weft::Buffer<float> angles(backend, values.size());
    const weft::cuda::SharedBuffer<weft::c32> states(cuda, shape.amplitudes());
    weft::Buffer<float> k(backend, shape.samples * shape.samples);

    stream.upload(values, angles);
    weft::encode_angle(stream, angles, states.buffer(), shape);
    cuda.wait_for(cuda_stream, stream.submit());  // CUDA after weft
    const std::size_t amplitudes = std::size_t{1} << shape.qubits;
    repeat_first<<<static_cast<unsigned>(amplitudes / 256), 256, 0, cuda_stream>>>(
        reinterpret_cast<float2*>(states.span().data()), amplitudes);
    stream.wait_for(cuda.event(cuda_stream));  // weft after CUDA
    weft::kernel_matrix(stream, states.buffer(), k, shape);
    const std::vector<float> result = stream.download(k);
    cudaStreamDestroy(cuda_stream);

    std::printf("%s: K[0,1] = %.6f, K[0,2] = %.6f\n", cuda.info().name.c_str(), result[1], result[2]);
    return result[1] > 0.999f && result[2] < 0.999f ? 0 : 1;
} catch (const weft::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
