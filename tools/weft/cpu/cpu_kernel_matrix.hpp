// SPDX-License-Identifier: Apache-2.0
// Quantum kernel matrices on the processor: the baseline of reports and benches, and the reference for checks
// of results. They share no code with the shaders. float32 arithmetic, vectorised by the compiler.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <weft/ops/kernel_circuit.hpp>

namespace weft::tool {

/// K of features x [samples, qubits] with themselves: by the closed form if the circuit cancels, otherwise by
/// products of states, whose last layer is left out. Weights must be double.
void cpu_kernel_of_features(const KernelMatrixCircuit& circuit, std::span<const float> x, std::size_t samples,
                            std::span<float> k, unsigned threads);

/// K of features x [samples, qubits] with the single row y by states, one after the other; it measures the
/// time that building states takes. Weights must be double.
void cpu_overlaps_of_features(const KernelMatrixCircuit& circuit, std::span<const float> x,
                              std::size_t samples, std::span<const float> y, std::span<float> k,
                              unsigned threads);

/// K of states [samples, amplitudes] with themselves. This function and the next two are in cpu_gram.cpp.
void cpu_kernel_of_states(std::span<const c32> states, std::size_t samples, std::span<float> k,
                          unsigned threads);

/// The two steps of it. States are packed by 8 rows, amplitude by amplitude: 8 real parts, then 8 imaginary
/// ones.
std::vector<float> cpu_pack_states(std::span<const c32> states, std::size_t samples, unsigned threads);
void cpu_gram(std::span<const float> packed, std::size_t samples, std::size_t amplitudes, std::span<float> k,
              unsigned threads);

/// Calls `body(row, column)` for all pairs of tiles with column <= row. `work`: about how many
/// multiplications a pair takes.
void cpu_tile_pairs(std::size_t tiles, std::size_t work, unsigned threads,
                    const std::function<void(std::size_t row, std::size_t column)>& body);

}  // namespace weft::tool
