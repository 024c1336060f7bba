// SPDX-License-Identifier: Apache-2.0
// bench_encode's own oracle: right states pass, and one wrong amplitude of any method does not.
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

#include "../../../examples/bench/bench_encode_states.hpp"

using bench::check_state;
using weft::c32;
using weft::EncodeMethod;

namespace {

const std::vector<double> kIqp{0.1, 0.2, 0.3, 0.4, 0.5, 0.6};

// H^n diag(exp(j theta)) H^n of the zero state, every term by itself.
std::vector<c32> iqp(const std::vector<double>& d, unsigned qubits) {
    const unsigned size = 1u << qubits;
    std::vector<c32> state;
    for (unsigned x = 0; x < size; ++x) {
        std::complex<double> sum = 0;
        for (unsigned z = 0; z < size; ++z) {
            double theta = 0;
            unsigned flips = 0, next = qubits;
            for (unsigned i = 0; i < qubits; ++i) {
                theta += d[i] * (z >> i & 1);
                flips += x >> i & z >> i & 1;
            }
            for (unsigned i = 0; i < qubits; ++i)
                for (unsigned j = i + 1; j < qubits; ++j) theta += d[next++] * (z >> i & z >> j & 1);
            sum += std::polar(flips % 2 == 0 ? 1.0 : -1.0, theta);
        }
        state.emplace_back(sum / static_cast<double>(size));
    }
    return state;
}

struct Known {
    EncodeMethod method;
    std::vector<double> row;
    std::vector<c32> state;
};

std::vector<Known> known() {
    const auto cosine = static_cast<float>(std::cos(0.3)), sine = static_cast<float>(std::sin(0.3));
    const float root = std::numbers::sqrt2_v<float> / 2;
    const std::complex<double> unit = std::polar(1.0, 0.3);
    return {{EncodeMethod::amplitude, {3, 4}, {0.6f, 0.8f}},
            {EncodeMethod::amplitude, {3, 4, 0}, {0.6f, 0.8f, 0, 0}},
            {EncodeMethod::angle, {0.3}, {cosine, sine}},
            {EncodeMethod::angle, {0, 0.3}, {cosine, 0, sine, 0}},
            {EncodeMethod::basis, {2}, {0, 0, 1, 0}},
            {EncodeMethod::phase, {0.3}, {root, root * c32(unit)}},
            {EncodeMethod::iqp, {0.3}, iqp({0.3}, 1)},
            {EncodeMethod::iqp, kIqp, iqp(kIqp, 3)},
            {EncodeMethod::iqp_z, {0.3}, iqp({0.3}, 1)},
            {EncodeMethod::iqp_z, {0.1, 0.2, 0.3}, iqp({0.1, 0.2, 0.3, 0, 0, 0}, 3)}};
}

}  // namespace

TEST_CASE(
    "bench_encode: states as they are defined pass, of one qubit too, and all amplitudes are compared") {
    for (const Known& k : known()) {
        CAPTURE(weft::to_string(k.method));
        const bench::StateCheck check = check_state(k.method, k.row, k.state);
        CHECK(check.amplitudes == k.state.size());
        CHECK(check.error < 1e-7);
    }
}

TEST_CASE("bench_encode: a wrong amplitude, NaN or another one, is found wherever it is") {
    for (const Known& k : known())
        for (std::size_t i = 0; i < k.state.size(); ++i)
            for (const c32 wrong :
                 {k.state[i] + c32(2e-6f), k.state[i] + c32(0, -2e-6f), c32(NAN), c32(9, 9)}) {
                CAPTURE(weft::to_string(k.method));
                std::vector<c32> state = k.state;
                state[i] = wrong;
                CHECK_THROWS_WITH_AS(
                    check_state(k.method, k.row, state),
                    doctest::Contains(("amplitude " + std::to_string(i) + " is wrong").c_str()), weft::Error);
            }
}

TEST_CASE("bench_encode: of a larger iqp five amplitudes and the norm are compared") {
    constexpr unsigned kQubits = 9;
    std::vector<double> row(kQubits * (kQubits + 1) / 2);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = 0.37 * static_cast<double>(i % 17);
    const std::vector<c32> state = iqp(row, kQubits);
    CHECK(check_state(EncodeMethod::iqp, row, state).amplitudes == 5);
    std::vector<c32> wrong = state;
    wrong[0] = -wrong[0];  // of the same norm
    CHECK_THROWS_WITH_AS(check_state(EncodeMethod::iqp, row, wrong),
                         doctest::Contains("amplitude 0 is wrong"), weft::Error);
    wrong = state;
    wrong[2] += c32(0.1f);
    CHECK_THROWS_WITH_AS(check_state(EncodeMethod::iqp, row, wrong), doctest::Contains("norm is wrong"),
                         weft::Error);
}

TEST_CASE("bench_encode: the first, the middle and the last row are checked, each once") {
    CHECK(bench::rows_to_check(1) == std::vector<std::uint64_t>{0});
    CHECK(bench::rows_to_check(2) == std::vector<std::uint64_t>{0, 1});
    CHECK(bench::rows_to_check(100) == std::vector<std::uint64_t>{0, 50, 99});
}
