// SPDX-License-Identifier: Apache-2.0
// Encoded states by their definition, in long double and by direct sums. It checks the shaders and shares no
// code with them.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include <weft/ops/encode.hpp>

namespace weft_test {

using Exact = std::complex<long double>;

std::vector<Exact> amplitude_state(std::span<const double> x, std::uint32_t qubits);

/// Product states from the factors for bit values 0 and 1 of each qubit.
std::vector<Exact> product_state(std::span<const Exact> zero, std::span<const Exact> one);

std::vector<Exact> angle_state(std::span<const double> x);

std::vector<Exact> phase_state(std::span<const double> x);

/// The transform is in place and not normalised.
void walsh_hadamard(std::vector<Exact>& state);

std::vector<Exact> iqp_state(std::span<const double> d, std::uint32_t qubits, bool pairs);

std::vector<Exact> expected_state(weft::EncodeMethod method, std::span<const double> values,
                                  std::uint32_t qubits);

/// Values that fit the method, the same for the same seed; representable as float32.
std::vector<double> sample_values(weft::EncodeMethod method, std::uint32_t qubits, std::uint64_t seed);

}  // namespace weft_test
