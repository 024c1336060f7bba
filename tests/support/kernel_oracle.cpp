// SPDX-License-Identifier: Apache-2.0
#include "support/kernel_oracle.hpp"

namespace weft_test {

std::size_t wire_bit(std::size_t wire, std::size_t wires) {
    return std::size_t{1} << (wires - 1 - wire);
}

void apply_gate(State& state, std::size_t wire, std::size_t wires, const Amplitude (&m)[2][2]) {
    const std::size_t bit = wire_bit(wire, wires);
    for (std::size_t i = 0; i < state.size(); ++i) {
        if ((i & bit) != 0) continue;
        const Amplitude zero = state[i], one = state[i | bit];
        state[i] = m[0][0] * zero + m[0][1] * one;
        state[i | bit] = m[1][0] * zero + m[1][1] * one;
    }
}

void apply_ry(State& state, std::size_t wire, std::size_t wires, double t) {
    const double c = std::cos(t / 2), s = std::sin(t / 2);
    apply_gate(state, wire, wires, {{c, -s}, {s, c}});
}

void apply_rz(State& state, std::size_t wire, std::size_t wires, double t) {
    apply_gate(state, wire, wires, {{std::polar(1.0, -t / 2), 0}, {0, std::polar(1.0, t / 2)}});
}

void apply_rx(State& state, std::size_t wire, std::size_t wires, double t) {
    const double c = std::cos(t / 2);
    const Amplitude s(0, -std::sin(t / 2));
    apply_gate(state, wire, wires, {{c, s}, {s, c}});
}

void apply_cnot(State& state, std::size_t control, std::size_t target, std::size_t wires) {
    const std::size_t c = wire_bit(control, wires), t = wire_bit(target, wires);
    for (std::size_t i = 0; i < state.size(); ++i)
        if ((i & c) != 0 && (i & t) == 0) std::swap(state[i], state[i | t]);
}

void embed(State& state, const std::vector<double>& row, const OracleCircuit& circuit) {
    for (std::size_t q = 0; q < row.size(); ++q) {
        const double t = circuit.scale * row[q];
        if (circuit.map == "ryrz" && circuit.mistake.rz_first) apply_rz(state, q, row.size(), t);
        apply_ry(state, q, row.size(), t);
        if (circuit.map == "ryrz" && !circuit.mistake.rz_first) apply_rz(state, q, row.size(), t);
    }
}

void entangle(State& state, const std::vector<double>& weights, const KernelMistake& mistake) {
    const std::size_t n = weights.size();
    for (std::size_t q = 0; q < n; ++q) apply_rx(state, q, n, weights[q]);
    const auto cnot = [&](std::size_t a, std::size_t b) {
        if (mistake.reversed_cnot) std::swap(a, b);
        apply_cnot(state, a, b, n);
    };
    for (std::size_t q = 0; q + 1 < n; ++q) cnot(q, q + 1);
    if ((n > 2 && !mistake.open_chain) || (n == 2 && mistake.two_cnots)) cnot(n - 1, 0);
}

State oracle_state(const std::vector<double>& row, const OracleCircuit& circuit) {
    State state(std::size_t{1} << row.size());
    state[0] = 1;
    if (!circuit.reupload || circuit.weights.empty()) embed(state, row, circuit);
    for (const std::vector<double>& layer : circuit.weights) {
        if (circuit.reupload) embed(state, row, circuit);
        entangle(state, layer, circuit.mistake);
    }
    return state;
}

double overlap(const State& a, const State& b) {
    Amplitude sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * std::conj(b[i]);
    return std::norm(sum);
}

std::vector<double> oracle_kernel(const Table& x, const Table& y, const OracleCircuit& circuit) {
    std::vector<State> a, b;
    for (const auto& row : x) a.push_back(oracle_state(row, circuit));
    for (const auto& row : y) b.push_back(oracle_state(row, circuit));
    std::vector<double> k;
    for (const State& left : a)
        for (const State& right : b) k.push_back(overlap(left, right));
    return k;
}

std::vector<double> oracle_kernel(const Table& x, const OracleCircuit& circuit) {
    return oracle_kernel(x, x, circuit);
}

std::vector<double> flat(const Table& rows) {
    std::vector<double> values;
    for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
    return values;
}

std::vector<double> upper(const std::vector<double>& k, std::size_t rows) {
    std::vector<double> values;
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = i + 1; j < rows; ++j) values.push_back(k[i * rows + j]);
    return values;
}

const Table& two_qubit_rows() {
    static const Table rows{{0.1, 0.2}, {0.5, -0.4}, {1.0, 2.0}};
    return rows;
}

const Table& two_qubit_weights() {
    static const Table rows{{0.3, 0.7}, {-0.2, 0.4}};
    return rows;
}

const Table& three_qubit_rows() {
    static const Table rows{{0.1, 0.2, 0.3}, {0.4, 0.5, 0.6}, {-0.7, 0.8, -0.9}};
    return rows;
}

const Table& three_qubit_weights() {
    static const Table rows{{0.11, 0.22, 0.33}, {0.44, 0.55, 0.66}};
    return rows;
}

Table wave_rows(std::size_t samples, std::size_t qubits, double spread) {
    Table rows(samples, std::vector<double>(qubits));
    for (std::size_t i = 0; i < samples; ++i)
        for (std::size_t q = 0; q < qubits; ++q)
            rows[i][q] = spread * std::sin(static_cast<double>(7 * i + 3 * q + 1) * 0.7);
    return rows;
}

}  // namespace weft_test
