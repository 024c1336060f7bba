// SPDX-License-Identifier: Apache-2.0
// Products with quantum kernel matrices in double, pair by pair, with which kernel operators are compared. A
// value is the product over the qubits of |<b|a>|^2 of states of one qubit; it shares nothing with shaders or
// src.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft_test {

struct OperatorOracle {
    bool rz = true;
    std::size_t qubits = 1;
    double scale = 1;
    double shrink = 1;  ///< of values of different samples
    double lambda = 0;
    bool square = true;

    using Amplitudes = std::vector<std::complex<double>>;
    /// Both amplitudes of each qubit, sample by sample.
    template <class T>
    Amplitudes states(const std::vector<T>& x) const {
        Amplitudes states;
        for (const T feature : x) {
            const double t = scale * static_cast<double>(feature) / 2;
            states.push_back(std::cos(t) * std::polar(1.0, rz ? -t : 0));
            states.push_back(std::sin(t) * std::polar(1.0, rz ? t : 0));
        }
        return states;
    }
    double value(const Amplitudes& a, std::size_t i, const Amplitudes& b, std::size_t j) const {
        if (square && i == j) return 1 + lambda;
        double product = 1;
        for (std::size_t q = 0; q < qubits; ++q) {
            const auto *left = &a[2 * (i * qubits + q)], *right = &b[2 * (j * qubits + q)];
            const double re = left[0].real() * right[0].real() + left[0].imag() * right[0].imag() +
                              left[1].real() * right[1].real() + left[1].imag() * right[1].imag();
            const double im = left[0].imag() * right[0].real() - left[0].real() * right[0].imag() +
                              left[1].imag() * right[1].real() - left[1].real() * right[1].imag();
            product *= re * re + im * im;
        }
        return shrink * product;
    }
    /// K, row by row.
    template <class T>
    std::vector<double> matrix(const std::vector<T>& x, const std::vector<T>& y) const {
        const std::size_t rows = x.size() / qubits, columns = y.size() / qubits;
        const Amplitudes a = states(x), b = states(y);
        std::vector<double> k(rows * columns);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < columns; ++j) k[i * columns + j] = value(a, i, b, j);
        return k;
    }
};

/// K times V, or its transpose times V; V and the result are row by row, with `width` columns.
inline std::vector<double> oracle_product(const std::vector<double>& k, std::size_t rows, std::size_t columns,
                                          const std::vector<double>& v, std::size_t width,
                                          bool transpose = false) {
    std::vector<double> out((transpose ? columns : rows) * width, 0.0);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
            for (std::size_t c = 0; c < width; ++c)
                out[(transpose ? j : i) * width + c] +=
                    k[i * columns + j] * v[(transpose ? i : j) * width + c];
    return out;
}

/// Gaussian elimination of a positive definite matrix; `b` becomes the solution.
inline void eliminate(std::vector<double> a, std::vector<double>& b, std::size_t n, std::size_t columns) {
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = 0; i < n; ++i) {
            if (i == k) continue;
            const double factor = a[i * n + k] / a[k * n + k];
            for (std::size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
            for (std::size_t c = 0; c < columns; ++c) b[i * columns + c] -= factor * b[k * columns + c];
        }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < columns; ++c) b[i * columns + c] /= a[i * n + i];
}

/// Deterministic numbers from -1 to 1.
template <class T>
std::vector<T> scattered(std::size_t count, std::uint32_t seed) {
    std::vector<T> values(count);
    std::uint32_t state = seed * 2654435761u + 1u;
    for (T& value : values) {
        state = state * 1664525u + 1013904223u;
        value = static_cast<T>(static_cast<double>(state >> 8) / 8388608.0 - 1.0);
    }
    return values;
}

}  // namespace weft_test
