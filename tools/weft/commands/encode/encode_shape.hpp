// SPDX-License-Identifier: Apache-2.0
// The shape that `weft encode` needs of its values, and advice for values of another shape.
#pragma once

#include <cstdint>
#include <string>

#include <weft/ops/encode.hpp>

#include "arrays/array_source.hpp"

namespace weft::tool {

/// The change in Python that turns an array without exactly two axes into rows of samples, ".reshape(1, -1)";
/// empty: its values do not make whole samples.
std::string change_to_rows(const Shape& shape, EncodeMethod method, std::uint32_t qubits);
/// The number of qubits that rows of that many values are encoded into; 0: there is none.
std::uint32_t qubits_for(EncodeMethod method, std::uint64_t features);

/// "wrong number of columns (..)"; empty: it is right. Checks only what does not depend on the device.
std::string wrong_columns(EncodeMethod method, std::uint32_t qubits, std::uint64_t features);
/// Errors: Failure with Exit::usage - not (samples, features), no values, the wrong number of columns, or
/// more amplitudes than can be counted.
void require_encodable(const ArraySource& source, EncodeMethod method, std::uint32_t qubits);

}  // namespace weft::tool
