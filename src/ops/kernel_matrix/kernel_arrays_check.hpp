// SPDX-License-Identifier: Apache-2.0
// Facts and checks of the arguments of kernel_matrix, whoever's memory they lie in. Pure. All errors are
// invalid_argument.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <weft/error.hpp>
#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops/kernel_matrix/kernel_plan.hpp"

namespace weft::kernels {

inline CircuitFacts circuit_facts(const KernelMatrixShape& shape, const KernelMatrixCircuit& circuit, bool on_host) {
    CircuitFacts facts;
    facts.map = circuit.map;
    facts.layers = check_circuit(shape, circuit);
    facts.reupload = circuit.reupload;
    facts.on_host = on_host;
    return facts;
}

inline CircuitFacts state_facts(StateType type, bool on_host) {
    CircuitFacts facts;
    facts.given = true;
    facts.given64 = type == StateType::complex128;
    facts.on_host = on_host;
    return facts;
}

inline void check_type(ValueType type) {
    if (type == ValueType::int64)
        throw Error(Errc::invalid_argument, "kernel_matrix: wrong type (got int64, need float32 or float64)");
}

template <class Type>
void check_same_type(Type x, Type y) {
    if (x != y)
        throw Error(Errc::invalid_argument, std::string("kernel_matrix: types differ (got X of ") +
                                                to_string(x) + " and Y of " + to_string(y) +
                                                ", need the same)");
}

// Options, shape and the lengths of all arrays; a row of X has `row` units.
template <class Array, class Target>
void check_arrays(const Array& x, const Array* y, const Target& k, const KernelMatrixShape& shape,
                  std::uint64_t row, const char* unit, const KernelMatrixOptions& options) {
    check_kernel_options(options);
    check_count("x", x.count, shape.samples * row, unit);
    if (y != nullptr) {
        check_count("y", y->count, shape.others * row, unit);
        check_same_type(x.type, y->type);
    }
    check_type(k.type);
    check_count("k", k.count, shape.values(), "values");
}

/// States in host memory: null, overlap with `k`, amplitudes that are not finite, or too large.
inline void check_state_memory(const char* what, const KernelStateSource& source, const KernelTarget& k,
                               std::uint64_t row, std::uint32_t threads) {
    const std::uint64_t bytes = amplitude_bytes(source.type);
    check_kernel_memory(what, source.data, source.count * bytes, bytes / 2, k);
    const ValueType part = source.type == StateType::complex128 ? ValueType::float64 : ValueType::float32;
    check_finite_states(what, KernelSource(source.data, source.count * 2, part), row, k.type, threads);
}

inline std::uint64_t check_state_shape(const KernelMatrixShape& shape, bool with_y) {
    check_kernel_shape(shape, with_y);
    if (shape.qubits > 40 || std::max(shape.samples, shape.others) > std::uint64_t{1} << (58 - shape.qubits))
        throw Error(Errc::invalid_argument, "kernel_matrix: too many amplitudes (got " +
                                                std::to_string(std::max(shape.samples, shape.others)) +
                                                " states of " + std::to_string(shape.qubits) +
                                                " qubits, need at most 2^58)");
    return std::uint64_t{1} << shape.qubits;
}

}  // namespace weft::kernels
