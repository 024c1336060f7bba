// SPDX-License-Identifier: Apache-2.0
// The table of products with kernel operators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/ops/kernel_operator.hpp>

namespace weft_test {

struct OperatorCase {
    weft::FeatureMap map = weft::FeatureMap::ryrz;
    std::uint32_t qubits = 8;
    std::size_t samples = 100, others = 0, columns = 1;
    weft::Choice symmetric = weft::Choice::automatic;
    bool transpose = false;
    double a = 1, b = 0, lambda = 0;
    bool normalize = false;
    double jitter = 0, scale = 1;
    weft::Choice low_rank = weft::Choice::off;
    bool float64_too = true;  ///< otherwise only in float32
    bool mixed = false;       ///< features are of the other type than the operator
};

inline std::string name_of(const OperatorCase& c) {
    return std::string(weft::to_string(c.map)) + " " + std::to_string(c.qubits) + " qubits, " +
           std::to_string(c.samples) + " x " + std::to_string(c.others) + ", " + std::to_string(c.columns) +
           " columns" + (c.transpose ? ", transposed" : "") +
           (c.symmetric == weft::Choice::on ? ", symmetric" : "") +
           (c.low_rank == weft::Choice::on ? ", low rank" : "") +
           (c.mixed ? ", features of another type" : "");
}

/// All maps, and numbers of qubits on both sides of what one invocation, or a kernel that is compiled ahead,
/// can have.
inline std::vector<OperatorCase> qubit_cases() {
    std::vector<OperatorCase> cases;
    for (const weft::FeatureMap map : {weft::FeatureMap::ry, weft::FeatureMap::ryrz})
        for (const std::uint32_t qubits : {1u, 3u, 8u, 12u}) cases.push_back({map, qubits, 131, 0, 2});
    cases.push_back({weft::FeatureMap::ryrz, 13, 70, 0, 1});
    cases.push_back({weft::FeatureMap::ry, 16, 70, 0, 5});
    cases.push_back({weft::FeatureMap::ryrz, 25, 140, 0, 1});
    cases.push_back({weft::FeatureMap::ryrz, 24, 70, 0, 1, weft::Choice::automatic});
    cases.back().float64_too = false;
    cases.push_back({weft::FeatureMap::ry, 40, 70, 33, 2});
    cases.push_back({weft::FeatureMap::ryrz, 5, 70, 33, 2});
    cases.back().mixed = true;
    return cases;
}

/// Columns of V, a Y, and factors.
inline std::vector<OperatorCase> shape_cases() {
    std::vector<OperatorCase> cases;
    for (const std::size_t columns : {1u, 3u, 16u, 17u})
        cases.push_back({weft::FeatureMap::ryrz, 4, 200, 0, columns});
    cases.push_back({weft::FeatureMap::ryrz, 4, 150, 0, 64});
    cases.back().float64_too = false;
    for (const bool transpose : {false, true})
        for (const std::size_t others : {1u, 77u}) {
            cases.push_back({weft::FeatureMap::ryrz, 5, 65, others, 3});
            cases.back().transpose = transpose;
        }
    OperatorCase factors{weft::FeatureMap::ryrz, 4, 90, 0, 2};
    factors.a = -2.5;
    factors.b = 0.75;
    factors.lambda = 0.125;
    factors.normalize = true;
    factors.jitter = 0.5;
    factors.scale = 1.7;
    cases.push_back(factors);
    return cases;
}

inline std::vector<OperatorCase> symmetric_cases() {
    std::vector<OperatorCase> cases;
    for (const std::size_t columns : {1u, 7u}) {
        OperatorCase c{weft::FeatureMap::ryrz, 4, 1100, 0, columns, weft::Choice::on};
        c.b = 0.5;
        c.lambda = 0.25;
        c.float64_too = false;
        cases.push_back(c);
    }
    OperatorCase c{weft::FeatureMap::ry, 5, 700, 0, 1, weft::Choice::on};
    c.normalize = true;
    c.jitter = 0.25;
    cases.push_back(c);
    for (const weft::Choice symmetric : {weft::Choice::automatic, weft::Choice::on}) {
        OperatorCase large{weft::FeatureMap::ryrz, 8, 1999, 0, 1, symmetric};
        large.float64_too = false;
        cases.push_back(large);
    }
    return cases;
}

/// By way of features.
inline std::vector<OperatorCase> low_rank_cases() {
    std::vector<OperatorCase> cases;
    for (const weft::FeatureMap map : {weft::FeatureMap::ry, weft::FeatureMap::ryrz})
        for (const std::uint32_t qubits : {1u, 2u, 5u}) cases.push_back({map, qubits, 150, 0, 2});
    for (const bool transpose : {false, true}) {
        cases.push_back({weft::FeatureMap::ry, 5, 333, 41, 1});
        cases.back().transpose = transpose;
        cases.back().float64_too = false;
    }
    OperatorCase factors{weft::FeatureMap::ryrz, 3, 200, 0, 1};
    factors.a = -2.5;
    factors.b = 0.75;
    factors.lambda = 0.125;
    factors.normalize = true;
    factors.jitter = 0.5;
    cases.push_back(factors);
    // The most features that there may be.
    cases.push_back({weft::FeatureMap::ryrz, 9, 40, 33, 1});
    cases.back().float64_too = false;
    for (OperatorCase& c : cases) c.low_rank = weft::Choice::on;
    return cases;
}

/// Products of states, which are given or made by two layers.
struct StateCase {
    std::uint32_t qubits = 4;
    std::size_t samples = 130, others = 0, columns = 3;
    bool given = false;  ///< of norms around 1
    bool transpose = false, normalize = false;
    double a = 1, b = 0, lambda = 0;
    weft::Choice symmetric = weft::Choice::automatic;
    double vram_fraction = 0.85;
    bool float64_too = false;
};

inline std::string name_of(const StateCase& c) {
    return std::string(c.given ? "given states, " : "two layers, ") + std::to_string(c.qubits) + " qubits, " +
           std::to_string(c.samples) + " x " + std::to_string(c.others) + ", " + std::to_string(c.columns) +
           " columns" + (c.transpose ? ", transposed" : "") + (c.normalize ? ", normalized" : "");
}

inline std::vector<StateCase> state_cases() {
    std::vector<StateCase> cases;
    for (const bool given : {false, true}) {
        cases.push_back({.given = given, .a = -2.5, .b = 0.75, .lambda = 0.125, .float64_too = true});
        // Blocks across the diagonal, with and without their images.
        for (const weft::Choice symmetric : {weft::Choice::automatic, weft::Choice::off})
            cases.push_back({.qubits = 3,
                             .samples = 530,
                             .columns = 17,
                             .given = given,
                             .normalize = given,
                             .symmetric = symmetric});
        for (const bool transpose : {false, true})
            cases.push_back({.qubits = 3,
                             .samples = 65,
                             .others = 77,
                             .given = given,
                             .transpose = transpose,
                             .normalize = given});
    }
    return cases;
}

}  // namespace weft_test
