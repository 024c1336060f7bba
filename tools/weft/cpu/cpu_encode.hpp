// SPDX-License-Identifier: Apache-2.0
// Quantum-data encoders on the processor: the baseline of reports and the check of results. Shares no code
// with the shaders.
#pragma once

#include <cstdint>
#include <span>

#include <weft/ops/encode.hpp>

namespace weft::tool {

/// states as weft::encode writes them, float32 or float64 in and complex64 out; threads share out the
/// samples. Errors: within 4e-6 of the definition for up to 20 qubits. Values must be fit to be encoded.
template <class Value>
void cpu_encode(EncodeMethod method, std::span<const Value> values, std::span<c32> states,
                const StateShape& shape, unsigned threads);

/// Pseudo-random values that can be encoded; for amplitude 2^qubits a sample.
template <class Value>
void fill_encode(EncodeMethod method, const StateShape& shape, std::span<Value> values);

}  // namespace weft::tool
