// SPDX-License-Identifier: Apache-2.0
// cpu_kernel_of_states of cpu_kernel_matrix.hpp: tiles, 4 x 8 sums in registers, and an outer sum.
#include <algorithm>
#include <vector>

#include "cpu/cpu_kernel_matrix.hpp"
#include "cpu/cpu_threads.hpp"

namespace weft::tool {
namespace {

constexpr std::uint64_t kColumns = 8, kRows = 4, kFlush = 256, kPanel = 64;

struct Sums {
    float re[kRows][kColumns] = {}, im[kRows][kColumns] = {};
};

void add(Sums& sums, const float* a, const float* b, std::uint64_t count) {
    Sums s;
    for (std::uint64_t k = 0; k < count; ++k, a += 2 * kColumns, b += 2 * kColumns)
        for (std::uint64_t r = 0; r < kRows; ++r) {
            const float ar = a[r], ai = a[kColumns + r];
            for (std::uint64_t c = 0; c < kColumns; ++c) {
                s.re[r][c] += ar * b[c] + ai * b[kColumns + c];
                s.im[r][c] += ai * b[c] - ar * b[kColumns + c];
            }
        }
    for (std::uint64_t r = 0; r < kRows; ++r)
        for (std::uint64_t c = 0; c < kColumns; ++c) {
            sums.re[r][c] += s.re[r][c];
            sums.im[r][c] += s.im[r][c];
        }
}

void tile(std::span<const float> packed, std::uint64_t row0, std::uint64_t column0, std::uint64_t rows,
          std::uint64_t amplitudes, std::span<float> k) {
    for (std::uint64_t i = row0; i < std::min(rows, row0 + kPanel); i += kRows)
        for (std::uint64_t j = column0; j < std::min(rows, column0 + kPanel); j += kColumns) {
            const float* a = packed.data() + i / kColumns * amplitudes * 2 * kColumns + i % kColumns;
            const float* b = packed.data() + j / kColumns * amplitudes * 2 * kColumns;
            Sums sums;
            for (std::uint64_t at = 0; at < amplitudes; at += kFlush)
                add(sums, a + at * 2 * kColumns, b + at * 2 * kColumns, std::min(kFlush, amplitudes - at));
            for (std::uint64_t r = 0; r < kRows; ++r)
                for (std::uint64_t c = 0; c < kColumns; ++c) {
                    if (i + r >= rows || j + c > i + r) continue;
                    const float value = sums.re[r][c] * sums.re[r][c] + sums.im[r][c] * sums.im[r][c];
                    k[(i + r) * rows + j + c] = k[(j + c) * rows + i + r] = value;
                }
        }
}

}  // namespace

std::vector<float> cpu_pack_states(std::span<const c32> states, std::size_t samples, unsigned threads) {
    const std::size_t amplitudes = samples == 0 ? 0 : states.size() / samples;
    const std::size_t blocks = (samples + kPanel - 1) / kPanel * (kPanel / kColumns);
    std::vector<float> packed(blocks * amplitudes * 2 * kColumns);
    constexpr std::size_t kGrainAmplitudes = 50'000;  // about as long as starting a thread
    parallel_for(samples, kGrainAmplitudes / std::max<std::size_t>(amplitudes, 1) + 1, threads,
                 [&](std::size_t first, std::size_t last) {
                     for (std::size_t r = first; r < last; ++r)
                         for (std::size_t k = 0; k < amplitudes; ++k) {
                             float* at = packed.data() + (r / kColumns * amplitudes + k) * 2 * kColumns;
                             at[r % kColumns] = states[r * amplitudes + k].real();
                             at[kColumns + r % kColumns] = states[r * amplitudes + k].imag();
                         }
                 });
    return packed;
}

void cpu_gram(std::span<const float> packed, std::size_t samples, std::size_t amplitudes, std::span<float> k,
              unsigned threads) {
    cpu_tile_pairs((samples + kPanel - 1) / kPanel, 4 * amplitudes * kPanel * kPanel, threads,
                   [&](std::size_t row, std::size_t column) {
                       tile(packed, row * kPanel, column * kPanel, samples, amplitudes, k);
                   });
}

void cpu_kernel_of_states(std::span<const c32> states, std::size_t samples, std::span<float> k,
                          unsigned threads) {
    if (samples != 0)
        cpu_gram(cpu_pack_states(states, samples, threads), samples, states.size() / samples, k, threads);
}

}  // namespace weft::tool
