// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu_operator.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "cpu/cpu_threads.hpp"

namespace weft::tool {
namespace {

constexpr std::size_t kTile = 64, kRows = 4;

/// Halves of Bloch vectors, [number][samples] with samples rounded up to whole tiles; the padding is 0.
struct Numbers {
    std::vector<float> values;
    std::size_t stride = 0, of_qubit = 3, qubits = 0;
};

Numbers numbers_of(const KernelMatrixCircuit& circuit, std::span<const float> x, std::size_t samples) {
    Numbers numbers;
    const bool rz = circuit.map == FeatureMap::ryrz;
    numbers.of_qubit = rz ? 3 : 2;
    numbers.qubits = x.size() / samples;
    numbers.stride = (samples + kTile - 1) / kTile * kTile;
    numbers.values.resize(numbers.of_qubit * numbers.qubits * numbers.stride);
    for (std::size_t i = 0; i < samples; ++i)
        for (std::size_t q = 0; q < numbers.qubits; ++q) {
            const double angle = circuit.scale * static_cast<double>(x[i * numbers.qubits + q]);
            const double c = std::cos(angle), s = std::sin(angle);
            float* at = numbers.values.data() + q * numbers.of_qubit * numbers.stride + i;
            at[0] = static_cast<float>(c);
            at[numbers.stride] = static_cast<float>(rz ? s * c : s);
            if (rz) at[2 * numbers.stride] = static_cast<float>(s * s);
        }
    return numbers;
}

template <std::size_t kNumbers>
void rows_of(const Numbers& numbers, std::span<const float> v, std::size_t samples, std::size_t row,
             std::span<float> out) {
    const std::size_t rows = std::min(kRows, samples - row), stride = numbers.stride;
    double sums[kRows] = {};
    for (std::size_t column = 0; column < stride; column += kTile) {
        for (std::size_t r = 0; r < rows; ++r) {
            float value[kTile];
            for (std::size_t j = 0; j < kTile; ++j) value[j] = v[column + j];
            for (std::size_t q = 0; q < numbers.qubits; ++q) {
                const float* at = numbers.values.data() + q * kNumbers * stride;
                float a[kNumbers];
                for (std::size_t k = 0; k < kNumbers; ++k) a[k] = 0.5f * at[k * stride + row + r];
                for (std::size_t j = 0; j < kTile; ++j) {
                    float factor = 0.5f;
                    for (std::size_t k = 0; k < kNumbers; ++k) factor += a[k] * at[k * stride + column + j];
                    value[j] *= factor;
                }
            }
            float sum[8] = {};
            for (std::size_t j = 0; j < kTile; j += 8)
                for (std::size_t k = 0; k < 8; ++k) sum[k] += value[j + k];
            for (const float part : sum) sums[r] += static_cast<double>(part);
        }
    }
    for (std::size_t r = 0; r < rows; ++r) out[row + r] = static_cast<float>(sums[r]);
}

}  // namespace

void cpu_kernel_apply(const KernelMatrixCircuit& circuit, std::span<const float> x, std::size_t samples,
                      std::span<const float> v, std::span<float> out, unsigned threads) {
    const Numbers numbers = numbers_of(circuit, x, samples);
    std::vector<float> padded(v.begin(), v.end());
    padded.resize(numbers.stride);
    parallel_for((samples + kRows - 1) / kRows, 1, threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t block = first; block < last; ++block)
            if (numbers.of_qubit == 3)
                rows_of<3>(numbers, padded, samples, block * kRows, out);
            else
                rows_of<2>(numbers, padded, samples, block * kRows, out);
    });
}

double cpu_kernel_apply_row(const KernelMatrixCircuit& circuit, std::span<const float> x, std::size_t samples,
                            std::span<const float> v, std::size_t row, unsigned threads) {
    const std::size_t qubits = x.size() / samples;
    const bool rz = circuit.map == FeatureMap::ryrz;
    double sum = 0;
    std::mutex mutex;
    parallel_for(samples, 10'000, threads, [&](std::size_t first, std::size_t last) {
        double part = 0;
        for (std::size_t j = first; j < last; ++j) {
            double value = static_cast<double>(v[j]);
            for (std::size_t q = 0; q < qubits; ++q) {
                const double a = circuit.scale * static_cast<double>(x[row * qubits + q]);
                const double b = circuit.scale * static_cast<double>(x[j * qubits + q]);
                // |<b|a>|^2 for one qubit that was turned by RY, and by RZ if there is one.
                const double apart = std::sin((a - b) / 2);
                value *= 1 - apart * apart * (rz ? 1 + std::sin(a) * std::sin(b) : 1);
            }
            part += value;
        }
        const std::lock_guard lock(mutex);
        sum += part;
    });
    return sum;
}

}  // namespace weft::tool
