// SPDX-License-Identifier: Apache-2.0
// Structured states and their exact kernel matrices. Rows are nearly equal and of constant modulus, with
// phases like those of feature maps, so that rounding errors add up instead of cancelling. Random vectors
// would hide an inaccurate sum.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

namespace weft_test {

template <class Real>
using States = std::vector<std::complex<Real>>;

/// Row r differs from row 0 by small phases; different values of `offset` give different sets.
template <class Real>
States<Real> structured_states(std::uint64_t rows, std::uint64_t amplitudes, std::uint64_t offset = 0) {
    States<Real> states(rows * amplitudes);
    const double modulus = 1 / std::sqrt(static_cast<double>(amplitudes));
    for (std::uint64_t r = 0; r < rows; ++r) {
        const double shift = 1e-3 * static_cast<double>((r + offset) % 97);
        for (std::uint64_t k = 0; k < amplitudes; ++k) {
            // The sum of +-1 over the bits, like the diagonal of an IQP circuit.
            double z = 0, zz = 0, last = 1;
            for (std::uint64_t bit = 1; bit < amplitudes; bit *= 2) {
                const double sign = (k & bit) != 0 ? -1 : 1;
                z += sign;
                zz += sign * last;
                last = sign;
            }
            states[r * amplitudes + k] =
                std::complex<Real>(std::polar(modulus, 0.3 * z + (0.2 + shift) * zz));
        }
    }
    return states;
}

template <class Real>
double exact_kernel(const States<Real>& x, const States<Real>& y, std::uint64_t i, std::uint64_t j,
                    std::uint64_t amplitudes) {
    long double re = 0, im = 0;
    for (std::uint64_t k = 0; k < amplitudes; ++k) {
        const long double ar = x[i * amplitudes + k].real(), ai = x[i * amplitudes + k].imag();
        const long double br = y[j * amplitudes + k].real(), bi = y[j * amplitudes + k].imag();
        re += ar * br + ai * bi;
        im += ai * br - ar * bi;
    }
    return static_cast<double>(re * re + im * im);
}

}  // namespace weft_test
