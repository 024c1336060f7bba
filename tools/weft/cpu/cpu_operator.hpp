// SPDX-License-Identifier: Apache-2.0
// Products with quantum kernel matrices that are not stored, on the processor: the baseline of the benches,
// and the reference for checks of results. They share no code with the shaders.
#pragma once

#include <cstddef>
#include <span>

#include <weft/ops/kernel_circuit.hpp>

namespace weft::tool {

/// out = K v of features x [samples, qubits] with themselves, in closed form; float32 arithmetic, vectorised
/// by the compiler.
void cpu_kernel_apply(const KernelMatrixCircuit& circuit, std::span<const float> x, std::size_t samples,
                      std::span<const float> v, std::span<float> out, unsigned threads);

/// A value of it in float64, by the fidelities of the qubits.
double cpu_kernel_apply_row(const KernelMatrixCircuit& circuit, std::span<const float> x, std::size_t samples,
                            std::span<const float> v, std::size_t row, unsigned threads);

}  // namespace weft::tool
