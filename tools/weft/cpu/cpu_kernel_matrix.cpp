// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu_kernel_matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "cpu/cpu_threads.hpp"

namespace weft::tool {
namespace {

constexpr std::size_t kTile = 16;  // rows and columns that stay in the first cache
constexpr std::size_t kLanes = 8;  // sums side by side: one vector register of most processors

/// Calls `value(i, j)` for i >= j, tile by tile, and writes it to both sides of the diagonal.
template <class Value>
void symmetric(std::size_t n, std::span<float> k, unsigned threads, std::size_t work, Value&& value) {
    const std::size_t tiles = (n + kTile - 1) / kTile, pairs = tiles * (tiles + 1) / 2;
    constexpr std::size_t kGrainWork = 200'000;  // about as long as starting a thread
    parallel_for(
        pairs, std::max<std::size_t>(1, kGrainWork / (work * kTile * kTile)), threads,
        [&](std::size_t first, std::size_t last) {
            for (std::size_t pair = first; pair < last; ++pair) {
                auto row = static_cast<std::size_t>((std::sqrt(8.0 * static_cast<double>(pair) + 1) - 1) / 2);
                while (row * (row + 1) / 2 > pair) --row;
                while ((row + 1) * (row + 2) / 2 <= pair) ++row;
                const std::size_t column = pair - row * (row + 1) / 2;
                for (std::size_t i = row * kTile; i < std::min(n, (row + 1) * kTile); ++i)
                    for (std::size_t j = column * kTile; j < std::min(i + 1, (column + 1) * kTile); ++j)
                        k[i * n + j] = k[j * n + i] = value(i, j);
            }
        });
}

/// Of a wire: squares and products of cos and sin of half the angle, cos and sin of the angle.
struct Wire {
    float c, s, cos, sin;
};

}  // namespace

void cpu_kernel_of_features(FeatureMap map, std::span<const float> x, std::size_t samples, std::span<float> k,
                            unsigned threads) {
    const std::size_t qubits = samples == 0 ? 0 : x.size() / samples;
    std::vector<Wire> wires;
    for (const float angle : x) {
        const double t = static_cast<double>(angle);
        wires.push_back({static_cast<float>(std::cos(t / 2)), static_cast<float>(std::sin(t / 2)),
                         static_cast<float>(std::cos(t)), static_cast<float>(std::sin(t))});
    }
    const bool turns = map == FeatureMap::ryrz;
    symmetric(samples, k, threads, 6 * qubits, [&](std::size_t i, std::size_t j) {
        const Wire *a = &wires[i * qubits], *b = &wires[j * qubits];
        float product = 1;
        for (std::size_t q = 0; q < qubits; ++q) {
            // <b|a> = c c' + s s' e^(j (a - b)), but for a phase that all share.
            const float cc = a[q].c * b[q].c, ss = a[q].s * b[q].s;
            const float turn = turns ? a[q].cos * b[q].cos + a[q].sin * b[q].sin : 1.0f;
            product *= cc * cc + ss * ss + 2 * cc * ss * turn;
        }
        return product;
    });
}

void cpu_kernel_of_states(std::span<const c32> states, std::size_t samples, std::span<float> k,
                          unsigned threads) {
    const std::size_t size = samples == 0 ? 0 : states.size() / samples;
    // Real and imaginary parts apart, padded, so that lanes are whole.
    const std::size_t width = (size + kLanes - 1) / kLanes * kLanes;
    std::vector<float> re(samples * width), im(samples * width);
    for (std::size_t i = 0; i < samples; ++i)
        for (std::size_t n = 0; n < size; ++n) {
            re[i * width + n] = states[i * size + n].real();
            im[i * width + n] = states[i * size + n].imag();
        }
    symmetric(samples, k, threads, 4 * width, [&](std::size_t i, std::size_t j) {
        const float *ar = &re[i * width], *ai = &im[i * width], *br = &re[j * width], *bi = &im[j * width];
        std::array<float, kLanes> real{}, imaginary{};
        for (std::size_t n = 0; n < width; n += kLanes)
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                real[lane] += ar[n + lane] * br[n + lane] + ai[n + lane] * bi[n + lane];
                imaginary[lane] += ai[n + lane] * br[n + lane] - ar[n + lane] * bi[n + lane];
            }
        float x = 0, y = 0;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            x += real[lane];
            y += imaginary[lane];
        }
        return x * x + y * y;
    });
}

}  // namespace weft::tool
