// SPDX-License-Identifier: Apache-2.0
// Kernel matrices of product states, which writing K bounds.
#include <cmath>

#include <weft/cuda/kernel_matrix.hpp>

#include "bench_race_both.hpp"

namespace bench {

void race_products(weft::Backend& backend, const Settings& settings) {
    const std::uint64_t rows = settings.quick ? 256 : 16384;
    const std::uint32_t qubits = 8;
    const weft::KernelMatrixShape shape{rows, 0, qubits};
    std::vector<float> features(rows * qubits);
    for (std::size_t i = 0; i < features.size(); ++i) features[i] = std::sin(static_cast<float>(i % 10007));
    weft::Stream stream(backend);
    const Twin<float> x(backend, stream, features), k(backend, shape.values());
    const Results<float> results(backend, shape.values());
    race_twins(backend, settings, stream, k, results,
               Operation<float>{
                   .row = "kernel product " + std::to_string(rows) + " x " + std::to_string(qubits),
                   .bytes = static_cast<double>(k.vulkan.bytes()),
                   .on_vulkan =
                       [&](weft::Stream& s) {
                           weft::kernel_matrix(s, weft::KernelMatrixCircuit{}, x.vulkan, k.vulkan, shape);
                       },
                   .on_cuda =
                       [&] {
                           weft::cuda::kernel_matrix(nullptr, weft::KernelMatrixCircuit{}, x.cuda.span(),
                                                     k.cuda.span(), shape);
                       },
                   .bound = 4e-6,
                   .judge =
                       [&](std::span<const float> got) {
                           for (std::size_t i = 0; i < rows; ++i)
                               if (!(std::abs(got[i * (rows + 1)] - 1) <= 1e-6f))
                                   throw std::runtime_error("a diagonal that is not 1");
                       }});
}

}  // namespace bench
