// SPDX-License-Identifier: Apache-2.0
// Refuses kernel matrices that cannot be before anything touches a device. All errors are invalid_argument.
#pragma once

#include <cstdint>

#include <weft/ops/kernel_matrix.hpp>

namespace weft::kernels {

void check_kernel_options(const KernelMatrixOptions& options);

/// Shape, map, scale and weights, which must be finite. Returns the layers of the weights.
std::uint32_t check_circuit(const KernelMatrixShape& shape, const KernelMatrixCircuit& circuit);

/// Samples and qubits; `with_y` says whether the call has a Y.
void check_kernel_shape(const KernelMatrixShape& shape, bool with_y);

/// The numbers of an array, "x" or another name, against what the shape needs.
void check_count(const char* what, std::uint64_t got, std::uint64_t need, const char* unit);

/// Pointers, alignment, and overlap of `k` with another array.
void check_kernel_memory(const char* what, const void* data, std::uint64_t bytes, std::uint64_t alignment,
                         const KernelTarget& k);

/// Every feature times the scale must be finite; the text names rows and columns of the first that are not.
void check_features(const char* what, const KernelSource& x, std::uint32_t qubits, double scale,
                    std::uint32_t threads);

/// The same for real and imaginary parts of states of `amplitudes` each, whose norms have to be small enough
/// for their fourth powers, in the arithmetic and in `k`.
void check_finite_states(const char* what, const KernelSource& parts, std::uint64_t amplitudes, ValueType k,
                         std::uint32_t threads);

inline std::uint64_t value_bytes(ValueType type) noexcept {
    return type == ValueType::float32 ? 4 : 8;
}
inline std::uint64_t amplitude_bytes(StateType type) noexcept {
    return type == StateType::complex64 ? 8 : 16;
}

}  // namespace weft::kernels
