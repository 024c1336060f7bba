// SPDX-License-Identifier: Apache-2.0
// Quantum-data encoders on the processor: the baseline of reports and the reference for checks of results.
// They share no code with the shaders.
#pragma once

#include <cstdint>
#include <span>

#include <weft/ops/encode.hpp>

namespace weft::tool {

/// Writes states as weft::encode does, float32 or float64 in and complex64 out; threads share the samples.
/// States are within 4e-6 of the definition for up to 20 qubits. The values must be ones that can be encoded.
template <class Value>
void cpu_encode(EncodeMethod method, std::span<const Value> values, std::span<c32> states,
                const StateShape& shape, unsigned threads);

/// Pseudo-random values that can be encoded; for amplitude 2^qubits a sample.
template <class Value>
void fill_encode(EncodeMethod method, const StateShape& shape, std::span<Value> values);

}  // namespace weft::tool
