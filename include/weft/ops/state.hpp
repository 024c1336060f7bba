// SPDX-License-Identifier: Apache-2.0
// Quantum states as arrays of amplitudes: what encoders write and kernel matrices read.
#pragma once

#include <complex>
#include <cstdint>

namespace weft {

using c32 = std::complex<float>;   ///< an amplitude in complex64: two float32, real part first
using c64 = std::complex<double>;  ///< an amplitude in complex128

/// A batch of states, [samples, 2^qubits] row-major. Qubit k is bit k of an amplitude's index.
struct StateShape {
    std::uint64_t samples = 0;
    std::uint32_t qubits = 0;

    std::uint64_t state_size() const noexcept {
        return std::uint64_t{1} << qubits;
    }                                                                        ///< amplitudes of a state
    std::uint64_t amplitudes() const noexcept { return samples << qubits; }  ///< of all, below 2^64
};

}  // namespace weft
