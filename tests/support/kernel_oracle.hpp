// SPDX-License-Identifier: Apache-2.0
// Quantum kernels by gate-by-gate simulation in double, with which the kernel matrices of weft are compared.
// It uses no identities, no fusing and no tiles, and shares nothing with shaders or src.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft_test {

using Amplitude = std::complex<double>;
using State = std::vector<Amplitude>;
using Table = std::vector<std::vector<double>>;  // rows

/// Deliberate mistakes, to show that a test detects them.
struct KernelMistake {
    bool rz_first = false, open_chain = false, reversed_cnot = false, two_cnots = false;
};

struct OracleCircuit {
    std::string map = "ryrz";
    Table weights = {};
    bool reupload = false;
    double scale = 1;
    KernelMistake mistake = {};
};

// Wire 0 is the most significant bit.
std::size_t wire_bit(std::size_t wire, std::size_t wires);

void apply_gate(State& state, std::size_t wire, std::size_t wires, const Amplitude (&m)[2][2]);

void apply_ry(State& state, std::size_t wire, std::size_t wires, double t);
void apply_rz(State& state, std::size_t wire, std::size_t wires, double t);
void apply_rx(State& state, std::size_t wire, std::size_t wires, double t);
void apply_cnot(State& state, std::size_t control, std::size_t target, std::size_t wires);

void embed(State& state, const std::vector<double>& row, const OracleCircuit& circuit);

void entangle(State& state, const std::vector<double>& weights, const KernelMistake& mistake);

State oracle_state(const std::vector<double>& row, const OracleCircuit& circuit);

double overlap(const State& a, const State& b);

std::vector<double> oracle_kernel(const Table& x, const Table& y, const OracleCircuit& circuit);
std::vector<double> oracle_kernel(const Table& x, const OracleCircuit& circuit);

std::vector<double> flat(const Table& rows);

/// The values above the diagonal, row by row.
std::vector<double> upper(const std::vector<double>& k, std::size_t rows);

const Table& two_qubit_rows();
const Table& two_qubit_weights();
const Table& three_qubit_rows();
const Table& three_qubit_weights();

/// Rows of sines: deterministic, and all different.
Table wave_rows(std::size_t samples, std::size_t qubits, double spread = 3);

}  // namespace weft_test
