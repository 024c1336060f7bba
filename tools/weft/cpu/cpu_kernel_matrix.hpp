// SPDX-License-Identifier: Apache-2.0
// Quantum kernel matrices on the processor: the baseline of reports and the check of results. Shares no code
// with the shaders.
#pragma once

#include <cstddef>
#include <span>

#include <weft/ops/kernel_matrix.hpp>

namespace weft::tool {

/// K of features x [samples, qubits] with themselves, circuits without layers, float32 arithmetic.
void cpu_kernel_of_features(FeatureMap map, std::span<const float> x, std::size_t samples, std::span<float> k,
                            unsigned threads);

/// K of states [samples, size] with themselves, float32 arithmetic.
void cpu_kernel_of_states(std::span<const c32> states, std::size_t samples, std::span<float> k,
                          unsigned threads);

}  // namespace weft::tool
