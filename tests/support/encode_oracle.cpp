// SPDX-License-Identifier: Apache-2.0
#include "support/encode_oracle.hpp"

namespace weft_test {

std::vector<Exact> amplitude_state(std::span<const double> x, std::uint32_t qubits) {
    long double largest = 0;
    for (const double v : x) largest = std::max(largest, std::fabs(static_cast<long double>(v)));
    long double sum = 0;
    for (const double v : x)
        sum += static_cast<long double>(v) / largest * (static_cast<long double>(v) / largest);
    std::vector<Exact> state(std::size_t{1} << qubits);
    for (std::size_t i = 0; i < x.size(); ++i) state[i] = x[i] / largest / std::sqrt(sum);
    return state;
}

std::vector<Exact> product_state(std::span<const Exact> zero, std::span<const Exact> one) {
    std::vector<Exact> state(std::size_t{1} << zero.size());
    for (std::size_t i = 0; i < state.size(); ++i) {
        state[i] = 1;
        for (std::size_t k = 0; k < zero.size(); ++k) state[i] *= (i >> k & 1) != 0 ? one[k] : zero[k];
    }
    return state;
}

std::vector<Exact> angle_state(std::span<const double> x) {
    std::vector<Exact> zero, one;
    for (const double v : x) {
        zero.emplace_back(std::cos(static_cast<long double>(v)));
        one.emplace_back(std::sin(static_cast<long double>(v)));
    }
    return product_state(zero, one);
}

std::vector<Exact> phase_state(std::span<const double> x) {
    std::vector<Exact> state(std::size_t{1} << x.size());
    for (std::size_t i = 0; i < state.size(); ++i) {
        long double sum = 0;
        for (std::size_t k = 0; k < x.size(); ++k)
            if ((i >> k & 1) != 0) sum += x[k];
        state[i] = std::polar(std::exp2(-static_cast<long double>(x.size()) / 2), sum);
    }
    return state;
}

void walsh_hadamard(std::vector<Exact>& state) {
    for (std::size_t step = 1; step < state.size(); step *= 2)
        for (std::size_t i = 0; i < state.size(); ++i)
            if ((i & step) == 0) {
                const Exact a = state[i], b = state[i + step];
                state[i] = a + b;
                state[i + step] = a - b;
            }
}

std::vector<Exact> iqp_state(std::span<const double> d, std::uint32_t qubits, bool pairs) {
    std::vector<Exact> state(std::size_t{1} << qubits);
    for (std::size_t x = 0; x < state.size(); ++x) {
        long double theta = 0;
        std::size_t pair = qubits;
        for (std::uint32_t i = 0; i < qubits; ++i) {
            if ((x >> i & 1) != 0) theta += d[i];
            for (std::uint32_t j = i + 1; pairs && j < qubits; ++j, ++pair)
                if ((x >> i & x >> j & 1) != 0) theta += d[pair];
        }
        state[x] = std::polar(1 / static_cast<long double>(state.size()), theta);
    }
    walsh_hadamard(state);
    return state;
}

std::vector<Exact> expected_state(weft::EncodeMethod method, std::span<const double> values,
                                  std::uint32_t qubits) {
    switch (method) {
        case weft::EncodeMethod::amplitude:
            return amplitude_state(values, qubits);
        case weft::EncodeMethod::angle:
            return angle_state(values);
        case weft::EncodeMethod::basis: {
            std::vector<Exact> state(std::size_t{1} << qubits);
            state.at(static_cast<std::size_t>(values[0])) = 1;
            return state;
        }
        case weft::EncodeMethod::phase:
            return phase_state(values);
        case weft::EncodeMethod::iqp:
        case weft::EncodeMethod::iqp_z:
            return iqp_state(values, qubits, method == weft::EncodeMethod::iqp);
    }
    throw std::logic_error("no such method");
}

std::vector<double> sample_values(weft::EncodeMethod method, std::uint32_t qubits, std::uint64_t seed) {
    const std::uint64_t count = weft::encode_features(method, qubits);
    std::vector<double> values(count);
    std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    for (double& v : values) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const double unit = static_cast<double>(state >> 40) / 16777216.0;
        v = method == weft::EncodeMethod::basis ? std::floor(unit * std::ldexp(1.0, static_cast<int>(qubits)))
                                                : static_cast<float>(7 * unit - 3.5);
    }
    return values;
}

}  // namespace weft_test
