// SPDX-License-Identifier: Apache-2.0
// Circuits of kernel matrices, gate by gate in double; benches compare kernel values with them.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <weft/ops/kernel_circuit.hpp>

namespace weft::tool {

using State = std::vector<std::complex<double>>;

template <class Pair>
void on_wire(State& state, std::size_t wire, std::size_t wires, const Pair& pair) {
    const std::size_t bit = std::size_t{1} << (wires - 1 - wire);
    for (std::size_t i = 0; i < state.size(); ++i)
        if ((i & bit) == 0) pair(state[i], state[i | bit]);
}

inline void embed(State& state, std::span<const float> row, const KernelMatrixCircuit& circuit) {
    for (std::size_t q = 0; q < row.size(); ++q) {
        const double t = circuit.scale * static_cast<double>(row[q]), c = std::cos(t / 2),
                     s = std::sin(t / 2);
        const std::complex<double> turn = circuit.map == FeatureMap::ryrz ? std::polar(1.0, t / 2) : 1.0;
        on_wire(state, q, row.size(), [&](auto& zero, auto& one) {
            const auto was = zero;
            zero = std::conj(turn) * (c * was - s * one);
            one = turn * (s * was + c * one);
        });
    }
}

inline void entangle(State& state, const double* weights, std::size_t wires) {
    for (std::size_t q = 0; q < wires; ++q) {
        const double c = std::cos(weights[q] / 2);
        const std::complex<double> s(0, -std::sin(weights[q] / 2));
        on_wire(state, q, wires, [&](auto& zero, auto& one) {
            const auto was = zero;
            zero = c * was + s * one;
            one = s * was + c * one;
        });
    }
    const auto cnot = [&](std::size_t control, std::size_t target) {
        const std::size_t a = std::size_t{1} << (wires - 1 - control),
                          b = std::size_t{1} << (wires - 1 - target);
        for (std::size_t i = 0; i < state.size(); ++i)
            if ((i & a) != 0 && (i & b) == 0) std::swap(state[i], state[i | b]);
    };
    for (std::size_t q = 0; q + 1 < wires; ++q) cnot(q, q + 1);
    if (wires > 2) cnot(wires - 1, 0);
}

/// Weights must be double.
inline State state_of(std::span<const float> row, const KernelMatrixCircuit& circuit) {
    State state(std::size_t{1} << row.size());
    state[0] = 1;
    const auto* weights = static_cast<const double*>(circuit.weights.data);
    const std::size_t layers = circuit.weights.size / row.size();
    if (!circuit.reupload || layers == 0) embed(state, row, circuit);
    for (std::size_t layer = 0; layer < layers; ++layer) {
        if (circuit.reupload) embed(state, row, circuit);
        entangle(state, weights + layer * row.size(), row.size());
    }
    return state;
}

inline double overlap_of(const State& a, const State& b) {
    std::complex<double> sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * std::conj(b[i]);
    return std::norm(sum);
}

/// The closed form of circuits whose layers cancel.
inline double closed_form(std::span<const float> x, std::span<const float> y,
                          const KernelMatrixCircuit& circuit) {
    double k = 1;
    for (std::size_t q = 0; q < x.size(); ++q) {
        const double a = circuit.scale * static_cast<double>(x[q]),
                     b = circuit.scale * static_cast<double>(y[q]);
        const double c = std::pow(std::cos((a - b) / 2), 2);
        k *= circuit.map == FeatureMap::ryrz ? c * c + (1 - c) * std::pow(std::cos((a + b) / 2), 2) : c;
    }
    return k;
}

}  // namespace weft::tool
