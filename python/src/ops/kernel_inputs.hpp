// SPDX-License-Identifier: Apache-2.0
// Rows and circuits of quantum kernels, as Python gives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <weft/ops/kernel_circuit.hpp>

#include "arrays.hpp"
#include "calls.hpp"

namespace weft::python {

inline bool is_states(ElementType type) {
    return type.kind == ElementKind::complex;
}

/// What rows of X, and of Y if there is one, are called.
struct RowNames {
    const char* x = "x";
    const char* y = "y";
};
/// Rows of features, or of states.
KernelMatrixShape shape_of(const char* call, const Shape& x, const Shape* y, bool states,
                           const RowNames& names = {});

/// What a call computes, in bytes of amplitudes or features that it reads, with `products` of all pairs:
/// decides whether it watches for signals.
std::uint64_t cost_of(const KernelMatrixShape& shape, bool makes_states, double products = 1);

struct Circuit {
    Array weights;  // keeps the memory that `circuit` names
    KernelMatrixCircuit circuit;

    /// K is made from states.
    bool makes_states() const { return circuit.reupload && circuit.weights.size > 0 && weights.shape[0] > 1; }
};
Circuit circuit_of(const char* call, const std::string& map, nb::handle weights, bool reupload, double scale,
                   std::size_t qubits);

}  // namespace weft::python
