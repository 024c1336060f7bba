// SPDX-License-Identifier: Apache-2.0
// Kernel matrices as one writes them for processors, for benches to compare with: float32, vectorised by the
// compiler, a thread a core.
#pragma once

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include <weft/ops/kernel_matrix.hpp>

namespace loops {

/// `work` of 0 to count - 1 on all cores, in no order.
template <class Work>
void on_all_cores(std::uint64_t count, const Work& work) {
    std::atomic<std::uint64_t> next{0};
    const auto take = [&] {
        for (std::uint64_t i = next++; i < count; i = next++) work(i);
    };
    std::vector<std::thread> threads;
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    for (unsigned i = 1; i < cores; ++i) threads.emplace_back(take);
    take();
    for (std::thread& thread : threads) thread.join();
}

/// States by 8 rows, amplitude by amplitude: 8 real parts, then 8 imaginary ones.
std::vector<float> pack(std::span<const std::complex<float>> states, std::uint64_t rows,
                        std::uint64_t amplitudes);
/// |X X^H|^2 of states so packed: tiles, 4 x 8 sums in registers, and an outer sum.
void gram(const std::vector<float>& packed, std::uint64_t rows, std::uint64_t amplitudes, std::span<float> k);

/// K of all pairs of rows of features, [samples, qubits]: by the closed form where the circuit cancels, else
/// by states, of which the last layer is left out, and their products.
void kernel_matrix(std::span<const float> x, std::uint64_t samples, std::uint32_t qubits,
                   const weft::KernelMatrixCircuit& circuit, std::span<float> k);

}  // namespace loops
