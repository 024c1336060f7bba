// SPDX-License-Identifier: Apache-2.0
// The table of kernel matrices: circuits and rows, with published values or with those of a gate-by-gate
// simulation.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/ops/kernel_matrix.hpp>

#include "support/kernel_oracle.hpp"

namespace weft_test {

enum class KernelJudge {
    simulation,  ///< gate by gate, with all qubits together
    product,     ///< the closed expression for circuits that cancel, for any number of qubits
};

struct KernelCase {
    std::string name;
    Table x, y;  ///< no y: square
    OracleCircuit circuit;
    std::vector<double> values =
        {};  ///< published values: all of a cross kernel matrix, or above the diagonal of a square one
    KernelJudge judge = KernelJudge::simulation;
    double bound32 = 2e-6, bound64 = 1e-12;  ///< for results in float32 and float64
    std::int64_t state_tile = -1;
    weft::Choice bulk_states = weft::Choice::automatic;
    bool float32_too = true;  ///< features also in float32; otherwise only in float64
    bool float64_too = true;  ///< results also in float64; otherwise only in float32
};

/// K of circuits that cancel: the overlap of two rows is the product of the overlaps of their qubits. It uses
/// long double, because an error in one of thousands of equal factors occurs in all of them.
inline std::vector<double> product_kernel(const Table& x, const Table& y, const OracleCircuit& circuit) {
    const auto of_qubit = [&](double left, double right) {
        const long double a = circuit.scale * static_cast<long double>(left),
                          b = circuit.scale * static_cast<long double>(right);
        if (circuit.map == "ry") return std::cos((a - b) / 2) * std::cos((a - b) / 2);
        using Exact = std::complex<long double>;
        return std::norm(std::cos(a / 2) * std::cos(b / 2) * std::polar(1.0L, (b - a) / 2) +
                         Exact(std::sin(a / 2) * std::sin(b / 2)) * std::polar(1.0L, (a - b) / 2));
    };
    std::vector<double> k;
    for (const std::vector<double>& a : x)
        for (const std::vector<double>& b : y) {
            long double value = 1;
            for (std::size_t q = 0; q < a.size(); ++q) value *= of_qubit(a[q], b[q]);
            k.push_back(static_cast<double>(value));
        }
    return k;
}

inline Table wave_weights(std::size_t layers, std::size_t qubits) {
    Table rows(layers, std::vector<double>(qubits));
    for (std::size_t l = 0; l < layers; ++l)
        for (std::size_t q = 0; q < qubits; ++q)
            rows[l][q] = 1.3 * std::cos(static_cast<double>(5 * l + 2 * q) * 0.6);
    return rows;
}
inline OracleCircuit circuit(const char* map, const Table& weights, bool reupload, double scale = 1) {
    return {map, weights, reupload, scale, {}};
}
inline OracleCircuit reupload(const char* map, const Table& weights, double scale = 1) {
    return {map, weights, true, scale, {}};
}

/// Published values, and values that were computed by hand.
inline std::vector<KernelCase> published_kernels() {
    constexpr double kPi = 3.14159265358979323846;
    struct Row {
        const char* what;
        Table rows;
        OracleCircuit circuit;
        std::vector<double> values;
    };
    const Table &x2 = two_qubit_rows(), &w2 = two_qubit_weights();
    const Table &x3 = three_qubit_rows(), &w3 = three_qubit_weights();
    Table x5(4, std::vector<double>(5)), w5(3, std::vector<double>(5)), x10(3, std::vector<double>(10));
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t q = 0; q < 5; ++q) x5[i][q] = std::sin(static_cast<double>(7 * i + 3 * q + 1));
    for (std::size_t l = 0; l < 3; ++l)
        for (std::size_t q = 0; q < 5; ++q) w5[l][q] = 0.1 * std::cos(static_cast<double>(5 * l + 2 * q));
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t q = 0; q < 10; ++q) x10[i][q] = 0.05 * static_cast<double>((i + 1) * (q + 1));
    const std::vector<double> ryrz2{0.881398184544714, 0.219039574114769, 0.401203388635380};
    const std::vector<double> ryrz5{0.802539453948416, 0.843764270589859, 0.706822932969637,
                                    0.923041137824143, 0.449863623169179, 0.628640458356351};
    const std::vector<double> again2{0.511382804912692, 0.314722519382784, 0.839342672523955};
    const std::vector<Row> rows{
        // Layers cancel.
        {"two qubits, ryrz", x2, circuit("ryrz", w2, false), ryrz2},
        {"other weights cancel", x2, circuit("ryrz", {{1.9, -2.2}, {0.01, 3.0}, {0.7, 0.7}}, false), ryrz2},
        {"no layers", x2, circuit("ryrz", {}, false), ryrz2},
        {"two qubits, ry",
         x2,
         circuit("ry", w2, false),
         {0.876645262691814, 0.313294196676095, 0.123266245085645}},
        {"two qubits, angle",
         x2,
         circuit("ry", w2, false),
         {0.876645262691814, 0.313294196676095, 0.123266245085645}},
        {"scale 2",
         x2,
         circuit("ryrz", w2, false, 2),
         {0.633910695216884, 0.091240923362661, 0.175938948298043}},
        {"three qubits, angle",
         x3,
         circuit("ry", w3, false),
         {0.934489718581650, 0.527412824531324, 0.380415466260578}},
        {"three qubits, ryrz",
         x3,
         circuit("ryrz", w3, false),
         {0.928077709802020, 0.583213263111870, 0.571560239570174}},
        {"one qubit", {{0}, {kPi / 2}, {kPi}}, circuit("ry", {{0.5}}, false), {0.5, 0, 0.5}},
        {"five qubits", x5, circuit("ryrz", w5, false), ryrz5},
        {"one layer with re-upload", x5, circuit("ryrz", {w5[0]}, true), ryrz5},
        {"ten qubits, ryrz",
         x10,
         circuit("ryrz", {}, false),
         {0.731827707611461, 0.247576525520468, 0.668081259468536}},
        {"ten qubits, angle",
         x10,
         circuit("ry", {}, false),
         {0.784823754805054, 0.371443786375792, 0.784823754805054}},
        // With re-upload, all layers but the last one change K.
        {"two qubits, ryrz", x2, reupload("ryrz", w2), again2},
        {"the last layer cancels", x2, reupload("ryrz", {w2[0], {9, -5}}), again2},
        {"the first does not",
         x2,
         reupload("ryrz", {{0.31, 0.7}, w2[1]}),
         {0.511514060207841, 0.317003229373116, 0.842259826899613}},
        {"two qubits, angle",
         x2,
         reupload("ry", w2),
         {0.664601061157782, 0.039084690723088, 0.114690246412488}},
        {"scale", x2, reupload("ryrz", w2, 0.5), {0.852935296647782, 0.225372883921087, 0.170381635467106}},
        {"three qubits, angle",
         x3,
         reupload("ry", w3),
         {0.877701797619603, 0.264097422717237, 0.130103270954013}},
        {"three qubits, ryrz",
         x3,
         reupload("ryrz", w3),
         {0.757765802420804, 0.438089651672432, 0.376842005852745}},
        {"one qubit", {{0.3}, {1.1}}, reupload("ryrz", {{0.5}, {0.25}}), {0.384437712527361}},
        {"five qubits, three layers",
         x5,
         reupload("ryrz", w5),
         {0.398574985334020, 0.580659497227801, 0.335569313097167, 0.749741890574208, 0.068016147399252,
          0.173079062017578}},
        {"five qubits, angle",
         x5,
         reupload("ry", w5),
         {0.581178674106956, 0.661638978769918, 0.321673460054243, 0.835421658757682, 0.041279841433195,
          0.211851385771533}},
    };
    std::vector<KernelCase> cases;
    for (const Row& row : rows) cases.push_back({row.what, row.rows, {}, row.circuit, row.values});
    const Table y{{0, 0}, {0.3, -0.3}};
    cases.push_back({"cross",
                     x2,
                     y,
                     circuit("ryrz", w2, false),
                     {0.987560267580271, 0.932715311625405, 0.901737655666900, 0.985867520056119,
                      0.224827593488711, 0.333371957286263}});
    cases.push_back({"cross, turned around",
                     y,
                     x2,
                     circuit("ryrz", w2, false),
                     {0.987560267580271, 0.901737655666900, 0.224827593488711, 0.932715311625405,
                      0.985867520056119, 0.333371957286263}});
    cases.push_back({"cross with re-upload",
                     x2,
                     y,
                     reupload("ryrz", w2),
                     {0.936694574986341, 0.672936807780476, 0.671794441582328, 0.958384037211097,
                      0.446075436160675, 0.776141729151221}});
    cases.push_back({"cross with re-upload, turned around",
                     y,
                     x2,
                     reupload("ryrz", w2),
                     {0.936694574986341, 0.671794441582328, 0.446075436160675, 0.672936807780476,
                      0.958384037211097, 0.776141729151221}});
    return cases;
}

inline std::vector<KernelCase> kernel_cases() {
    std::vector<KernelCase> cases;
    // Product states: sizes around the tiles, odd shapes, many qubits.
    for (const char* map : {"ry", "ryrz"})
        for (const std::size_t rows : {1u, 15u, 16u, 17u, 63u, 64u, 65u, 100u, 130u, 257u})
            cases.push_back({"product, square", wave_rows(rows, 5), {}, circuit(map, {}, false)});
    struct Size {
        std::size_t rows, columns, qubits;
    };
    for (const Size size :
         {Size{1, 1, 1}, {1, 200, 3}, {200, 1, 4}, {65, 63, 9}, {33, 129, 2}, {64, 64, 8}, {67, 130, 6}})
        cases.push_back({"product, cross", wave_rows(size.rows, size.qubits),
                         wave_rows(size.columns, size.qubits, 1.5), circuit("ryrz", {}, false, 0.7)});
    for (const std::size_t qubits : {31u, 40u, 100u})
        cases.push_back({"product of many qubits",
                         wave_rows(65, qubits, 0.2),
                         {},
                         circuit("ryrz", {}, false),
                         {},
                         KernelJudge::product});
    // Every qubit of a pair deviates equally, the worst case for rounding errors that add up. Mesa's software
    // devices end the loops of an invocation after 65535 iterations in all.
    for (const auto& [qubits, at] : {std::pair{2500u, std::vector{0.3, 0.3004, 0.31, 0.34, 0.3, 2.0}},
                                     {66000u, std::vector{0.3, 0.3001, 0.301, 0.304}}}) {
        KernelCase c{"equal features of thousands of qubits",
                     {},
                     {},
                     circuit("ry", {}, false),
                     {},
                     KernelJudge::product,
                     4e-6,
                     1e-11};
        for (const double t : at) c.x.emplace_back(qubits, t);
        cases.push_back(c);
    }
    // States of circuits: every width, in one pass and in several; sizes around the tiles, made once or in
    // tiles.
    for (const std::size_t qubits : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u, 11u, 12u, 13u, 14u}) {
        KernelCase c{
            "circuit",
            wave_rows(3, qubits, 1.2),
            {},
            reupload(qubits % 3 == 0 ? "ry" : "ryrz", wave_weights(qubits % 2 == 0 ? 3 : 2, qubits))};
        // Matrix units truncate the bits that they shift out.
        c.bound32 = qubits > 10 ? 1e-5 : 2e-6;
        c.float32_too = qubits < 6;
        cases.push_back(c);
    }
    for (const Size size : {Size{1, 0, 3},
                            {15, 0, 3},
                            {17, 0, 3},
                            {33, 0, 3},
                            {63, 0, 3},
                            {64, 0, 3},
                            {65, 0, 3},
                            {100, 0, 3},
                            {129, 0, 3},
                            {257, 0, 3},
                            {1, 70, 3},
                            {70, 1, 3},
                            {100, 130, 3},
                            {200, 65, 3}})
        for (const auto& [tile, bulk] : {std::pair{-1, weft::Choice::automatic},
                                         {64, weft::Choice::off},
                                         {1, weft::Choice::off},
                                         {100, weft::Choice::off}}) {
            KernelCase c{"circuit, tiles of states",
                         wave_rows(size.rows, 3),
                         {},
                         reupload("ryrz", wave_weights(2, 3))};
            if (size.columns != 0) c.y = wave_rows(size.columns, 3, 1.5);
            c.state_tile = tile;
            c.bulk_states = bulk;
            c.float32_too = c.float64_too = false;
            cases.push_back(c);
        }
    return cases;
}

/// Given states: rows, others (0: square), qubits.
struct KernelStatesCase {
    std::uint64_t rows, others;
    std::uint32_t qubits;
    bool unit;  ///< of norm 1
};
inline const std::vector<KernelStatesCase>& kernel_states_cases() {
    static const std::vector<KernelStatesCase> cases{
        {66, 0, 1, true},  {33, 70, 1, true},  {130, 0, 3, true},  {33, 70, 3, true},   {66, 0, 4, true},
        {33, 70, 7, true}, {33, 0, 10, true},  {20, 0, 14, true},  {66, 0, 1, false},   {33, 70, 3, false},
        {66, 0, 4, false}, {33, 70, 7, false}, {33, 0, 10, false}, {1700, 0, 3, false},  // tiles of 128 x 64
    };
    return cases;
}

}  // namespace weft_test
