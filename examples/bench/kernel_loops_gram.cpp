// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernel_loops.hpp"

namespace loops {
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

void tile(const std::vector<float>& packed, std::uint64_t row0, std::uint64_t column0, std::uint64_t rows,
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

std::vector<float> pack(std::span<const std::complex<float>> states, std::uint64_t rows,
                        std::uint64_t amplitudes) {
    const std::uint64_t groups = (rows + kPanel - 1) / kPanel * (kPanel / kColumns);
    std::vector<float> packed(groups * amplitudes * 2 * kColumns);
    on_all_cores((rows + kColumns - 1) / kColumns, [&](std::uint64_t group) {
        for (std::uint64_t r = group * kColumns; r < std::min(rows, (group + 1) * kColumns); ++r)
            for (std::uint64_t k = 0; k < amplitudes; ++k) {
                float* at = packed.data() + (group * amplitudes + k) * 2 * kColumns + r % kColumns;
                at[0] = states[r * amplitudes + k].real();
                at[kColumns] = states[r * amplitudes + k].imag();
            }
    });
    return packed;
}

void gram(const std::vector<float>& packed, std::uint64_t rows, std::uint64_t amplitudes,
          std::span<float> k) {
    const std::uint64_t panels = (rows + kPanel - 1) / kPanel;
    on_all_cores(panels * panels, [&](std::uint64_t t) {
        if (t % panels <= t / panels)
            tile(packed, t / panels * kPanel, t % panels * kPanel, rows, amplitudes, k);
    });
}

}  // namespace loops
