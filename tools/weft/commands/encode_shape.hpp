// SPDX-License-Identifier: Apache-2.0
// What `weft encode` needs of the shape of its values, with advice for those that have another.
#pragma once

#include <cstdint>
#include <string>

#include <weft/ops/encode.hpp>

#include "arrays/array_source.hpp"

namespace weft::tool {

/// The change in Python that makes rows of samples of an array that has no two axes, ".reshape(1, -1)";
/// empty: its values make no whole samples.
std::string change_to_rows(const Shape& shape, EncodeMethod method, std::uint32_t qubits);
/// The number of qubits that rows of so many values are encoded into; 0: there is none.
std::uint32_t qubits_for(EncodeMethod method, std::uint64_t features);

/// "wrong number of columns (..)"; empty: it is right. Of what does not depend on the device.
std::string wrong_columns(EncodeMethod method, std::uint32_t qubits, std::uint64_t features);
/// Errors: Failure with Exit::usage - not (samples, features), no values, the wrong number of columns, more
/// amplitudes than can be counted.
void require_encodable(const ArraySource& source, EncodeMethod method, std::uint32_t qubits);

}  // namespace weft::tool
