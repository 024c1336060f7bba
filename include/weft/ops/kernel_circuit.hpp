// SPDX-License-Identifier: Apache-2.0
// What a quantum kernel matrix is made of: a circuit for features, or states that are given, and its shape.
//
// Example:
//     const std::vector<double> weights(2 * 6, 0.1);  // [layers, qubits], radians
//     const weft::KernelMatrixCircuit circuit{.weights = weights, .reupload = true};
//     const weft::KernelMatrixShape square{.samples = 500, .qubits = 6};
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include <weft/array.hpp>

namespace weft {

/// How a row x is embedded, with t = scale * x[q] on wire q, radians.
enum class FeatureMap {
    ry,    ///< RY(t)
    ryrz,  ///< RY(t), then RZ(t)
};
const char* to_string(FeatureMap map) noexcept;
/// The map of that name, in any case. Errors: invalid_argument - the text lists both.
FeatureMap feature_map(std::string_view name);

/// psi(x) = U(w_L-1) .. U(w_0) E(x) |0>, or with `reupload` U(w_L-1) E(x) .. U(w_0) E(x) |0>. E(x) embeds the
/// row; U(w) is RX(w[q]) on every wire q, then CNOTs along the ring: 0 to 1, 1 to 2, .. , the last to 0; for
/// two wires the first alone, for one none.
///
/// Without `reupload`, or with one layer, the layers are the same for both rows and cancel: K depends on the
/// map and the scale alone.
struct KernelMatrixCircuit {
    FeatureMap map = FeatureMap::ryrz;
    ConstHostArray weights = {};  ///< [layers, qubits] float32 or float64, radians; empty: no layers
    bool reupload = false;
    double scale = 1.0;
};

struct KernelMatrixShape {
    std::uint64_t samples = 0;  ///< rows of X, and of K
    std::uint64_t others = 0;   ///< rows of Y, and columns of K; 0: Y is X, and K square
    std::uint32_t qubits = 0;   ///< columns of X and Y

    bool square() const noexcept { return others == 0; }
    std::uint64_t columns() const noexcept { return square() ? samples : others; }
    std::uint64_t values() const noexcept { return samples * columns(); }
    /// Different pairs, which must be computed.
    std::uint64_t pairs() const noexcept { return square() ? samples * (samples + 1) / 2 : samples * others; }
};

inline StateShape::operator KernelMatrixShape() const {
    return {samples, 0, qubits};
}

namespace detail {
/// An array of states. Empty braces do not make one, so that in kernel_matrix(where, {}, x, k, shape) they
/// are a circuit.
template <class Array>
struct GivenStates : Array {
    template <class... Arguments>
    requires(sizeof...(Arguments) != 0 && std::constructible_from<Array, const Arguments&...>)
        GivenStates(const Arguments&... arguments)
        : Array(arguments...) {}
};
}  // namespace detail

}  // namespace weft
