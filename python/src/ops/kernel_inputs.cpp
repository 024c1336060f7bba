// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_inputs.hpp"

#include <algorithm>
#include <limits>

#include "errors.hpp"

namespace weft::python {

KernelMatrixShape shape_of(const char* call, const Shape& x, const Shape* y, bool states,
                           const RowNames& names) {
    const std::string of_x = std::string(call) + ": " + names.x, of_y = std::string(call) + ": " + names.y;
    if (x.size() != 2)
        refuse(of_x + ": wrong number of axes (got shape " + to_string(x) +
               ", need (samples, qubits), or (samples, 2**qubits) states)");
    if (y && (y->size() != 2 || (*y)[1] != x[1] || (*y)[0] == 0))
        refuse(of_y + ": wrong shape (got " + to_string(*y) + ", need (others, " + std::to_string(x[1]) +
               "), one row or more)");
    std::size_t qubits = x[1];
    if (states) {
        if (x[1] < 2 || (x[1] & (x[1] - 1)) != 0)
            refuse(of_x + ": states have 2**qubits amplitudes (got " + std::to_string(x[1]) + ")");
        qubits = static_cast<std::size_t>(__builtin_ctzll(x[1]));
    }
    if (qubits > std::numeric_limits<std::uint32_t>::max())
        refuse(of_x + ": too many columns (got " + std::to_string(qubits) + ")");
    return {x[0], y ? (*y)[0] : 0, static_cast<std::uint32_t>(qubits)};
}

std::uint64_t cost_of(const KernelMatrixShape& shape, bool makes_states, double products) {
    const double values = makes_states ? static_cast<double>(std::uint64_t{1} << std::min(shape.qubits, 40u))
                                       : static_cast<double>(shape.qubits);
    const double bytes =
        8 * values * (products * static_cast<double>(shape.values()) + static_cast<double>(shape.samples));
    return bytes > 1e15 ? std::uint64_t{1} << 50 : static_cast<std::uint64_t>(bytes);
}

Circuit circuit_of(const char* call, const std::string& map, nb::handle weights, bool reupload, double scale,
                   std::size_t qubits) {
    Circuit made;
    made.circuit.map = feature_map(map);
    made.circuit.reupload = reupload;
    made.circuit.scale = scale;
    if (weights.is_none()) return made;
    made.weights = input(call, "weights", weights, {kFloat32, kFloat64});
    if (made.weights.shape.size() != 2 || made.weights.shape[1] != qubits)
        refuse(std::string(call) + ": weights: wrong shape (got " + to_string(made.weights.shape) +
               ", need (layers, " + std::to_string(qubits) + "))");
    made.circuit.weights = made.weights;
    return made;
}

}  // namespace weft::python
