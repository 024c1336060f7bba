// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu_encode.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "cpu/cpu_threads.hpp"

namespace weft::tool {
namespace {

/// Multiplies without the check for infinities that operator* makes.
c32 times(c32 a, c32 b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

c32 turn(double angle) {
    return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
}

/// The tensor product of qubits (low, high), qubit 0 in bit 0; `factor(k)` gives the pair of qubit k.
template <class Factor>
void product(std::span<c32> state, std::uint32_t qubits, c32 first, Factor&& factor) {
    state[0] = first;
    for (std::uint32_t k = 0; k < qubits; ++k) {
        const auto [low, high] = factor(k);
        const std::size_t half = std::size_t{1} << k;
        for (std::size_t i = 0; i < half; ++i) {
            state[half + i] = times(state[i], high);
            state[i] = times(state[i], low);
        }
    }
}

template <class Value>
void amplitude(std::span<const Value> x, std::span<c32> state) {
    double squares = 0;
    for (const Value v : x) squares += double{v} * double{v};
    const double scale = 1 / std::sqrt(squares);
    for (std::size_t i = 0; i < x.size(); ++i) state[i] = {static_cast<float>(double{x[i]} * scale), 0.0f};
    std::fill(state.begin() + static_cast<std::ptrdiff_t>(x.size()), state.end(), c32{});
}

template <class Value>
void basis(std::span<const Value> x, std::span<c32> state) {
    std::fill(state.begin(), state.end(), c32{});
    state[static_cast<std::size_t>(x[0])] = 1;
}

/// theta(i) for all i. The upper half of each doubling is the lower half with one more bit. The angle of that
/// bit and its pairs with the bits below form a table that doubles in the same way.
template <class Value>
void iqp_angles(std::span<const Value> x, std::uint32_t n, std::span<double> theta, std::span<double> pairs) {
    theta[0] = 0;
    for (std::uint32_t k = 0; k < n; ++k) {
        pairs[0] = double{x[k]};
        for (std::uint32_t j = 0; j < k; ++j) {
            // In the order (0,1) (0,2) .. (1,2) .., the pair (j,k) follows all pairs that begin with a bit
            // below j.
            const std::size_t at = n + j * (2 * n - j - 1) / 2 + (k - j - 1);
            for (std::size_t i = 0; i < std::size_t{1} << j; ++i)
                pairs[(std::size_t{1} << j) + i] = pairs[i] + double{x[at]};
        }
        const std::size_t half = std::size_t{1} << k;
        for (std::size_t i = 0; i < half; ++i) theta[half + i] = theta[i] + pairs[i];
    }
}

void walsh_hadamard(std::span<c32> state) {
    for (std::size_t half = 1; half < state.size(); half *= 2)
        for (std::size_t block = 0; block < state.size(); block += 2 * half)
            for (std::size_t i = block; i < block + half; ++i) {
                const c32 a = state[i], b = state[i + half];
                state[i] = a + b;
                state[i + half] = a - b;
            }
}

template <class Value>
void iqp(std::span<const Value> x, std::uint32_t n, std::span<c32> state, std::vector<double>& scratch) {
    scratch.resize(2 * state.size());
    const std::span<double> theta = std::span(scratch).first(state.size());
    iqp_angles(x, n, theta, std::span(scratch).subspan(state.size()));
    const auto scale = static_cast<float>(std::ldexp(1.0, -static_cast<int>(n)));
    for (std::size_t i = 0; i < state.size(); ++i) {
        const auto angle = static_cast<float>(std::remainder(theta[i], 2 * std::numbers::pi));
        state[i] = {scale * std::cos(angle), scale * std::sin(angle)};
    }
    walsh_hadamard(state);
}

template <class Value>
void encode_one(EncodeMethod method, std::span<const Value> x, std::uint32_t n, std::span<c32> state,
                std::vector<double>& scratch) {
    using Pair = std::pair<c32, c32>;
    switch (method) {
        case EncodeMethod::amplitude:
            return amplitude(x, state);
        case EncodeMethod::basis:
            return basis(x, state);
        case EncodeMethod::angle:
            return product(state, n, 1, [&](std::uint32_t k) {
                const c32 t = turn(double{x[k]});
                return Pair{t.real(), t.imag()};
            });
        case EncodeMethod::phase:
            return product(state, n, static_cast<float>(std::pow(2.0, -0.5 * n)), [&](std::uint32_t k) {
                return Pair{1.0f, turn(double{x[k]})};
            });
        case EncodeMethod::iqp_z:
            return product(state, n, 1, [&](std::uint32_t k) {
                const c32 t = turn(double{x[k]});
                return Pair{(1.0f + t) * 0.5f, (1.0f - t) * 0.5f};
            });
        case EncodeMethod::iqp:
            return iqp(x, n, state, scratch);
    }
}

}  // namespace

template <class Value>
void cpu_encode(EncodeMethod method, std::span<const Value> values, std::span<c32> states,
                const StateShape& shape, unsigned threads) {
    constexpr std::size_t kGrainAmplitudes = 16384;  // about as long as starting a thread
    const std::size_t features = values.size() / shape.samples, size = shape.state_size();
    parallel_for(shape.samples, std::max<std::size_t>(kGrainAmplitudes / size, 1), threads,
                 [&](std::size_t first, std::size_t last) {
                     std::vector<double> scratch;
                     for (std::size_t s = first; s < last; ++s)
                         encode_one<Value>(method, values.subspan(s * features, features), shape.qubits,
                                           states.subspan(s * size, size), scratch);
                 });
}

template void cpu_encode(EncodeMethod, std::span<const float>, std::span<c32>, const StateShape&, unsigned);
template void cpu_encode(EncodeMethod, std::span<const double>, std::span<c32>, const StateShape&, unsigned);

template <class Value>
void fill_encode(EncodeMethod method, const StateShape& shape, std::span<Value> values) {
    std::uint32_t state = 1;
    for (Value& v : values) {
        state = state * 1664525u + 1013904223u;
        const float unit = static_cast<float>(state >> 8) * 0x1p-24f;  // [0, 1)
        if (method == EncodeMethod::basis)
            v = static_cast<float>((state >> 8) % std::min<std::uint64_t>(shape.state_size(), 1u << 24));
        else
            v = method == EncodeMethod::amplitude ? unit + 0.01f : 6.0f * unit - 3.0f;
    }
}
template void fill_encode(EncodeMethod, const StateShape&, std::span<float>);
template void fill_encode(EncodeMethod, const StateShape&, std::span<double>);

}  // namespace weft::tool
