// SPDX-License-Identifier: Apache-2.0
#include <weft/ops/kernel_post.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <weft/error.hpp>

#include "ops/kernel_matrix/kernel_clip.hpp"

namespace weft {
namespace {

void check_square(const char* function, std::uint64_t count, std::uint64_t rows) {
    if (rows == 0) throw Error(Errc::invalid_argument, std::string(function) + ": no rows (got 0, need 1)");
    if (rows > 0xffffffffu || count != rows * rows)
        throw Error(Errc::invalid_argument, std::string(function) + ": not a square matrix (got " +
                                                std::to_string(count) + " numbers for " +
                                                std::to_string(rows) + " rows, need rows x rows)");
}

/// Labels as they enter the sums.
std::vector<double> weights_of(const char* function, std::span<const double> labels, bool rescale) {
    std::uint64_t positive = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] != 1 && labels[i] != -1)
            throw Error(Errc::invalid_argument, std::string(function) + ": label " + std::to_string(i) +
                                                    " is neither 1 nor -1 (got " + std::to_string(labels[i]) +
                                                    ")");
        positive += labels[i] > 0 ? 1 : 0;
    }
    std::vector<double> weights(labels.begin(), labels.end());
    if (!rescale) return weights;
    const auto up = static_cast<double>(positive), down = static_cast<double>(labels.size() - positive);
    for (double& w : weights) w /= w > 0 ? up : down;
    return weights;
}

/// The power of two that brings the largest value of K to between 1/2 and 1, so that squares of any finite
/// values are in range; 0 for a K of zeros, NaN where a value is not finite.
template <class T>
double scale_of(std::span<const T> k) {
    double largest = 0;
    for (const T value : k) {
        if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
        largest = std::max(largest, std::abs(static_cast<double>(value)));
    }
    if (largest == 0) return 0;
    int exponent = 0;
    std::frexp(largest, &exponent);
    return std::ldexp(1.0, -std::clamp(exponent, -1022, 1023));
}

struct Sums {
    double polarity = 0, k_squared = 0, y_squared = 0;
};

template <class T>
Sums sums_of(const char* function, std::span<const T> k, std::span<const double> labels, bool rescale,
             double scale = 1) {
    check_square(function, k.size(), labels.size());
    const std::vector<double> y = weights_of(function, labels, rescale);
    Sums sums;
    for (std::size_t i = 0; i < y.size(); ++i) {
        double row = 0, squares = 0;  // a row at a time: sums of sums keep their digits
        for (std::size_t j = 0; j < y.size(); ++j) {
            const double value = scale * static_cast<double>(k[i * y.size() + j]);
            row += y[j] * value;
            squares += value * value;
        }
        sums.polarity += y[i] * row;
        sums.k_squared += squares;
        sums.y_squared += y[i] * y[i];
    }
    return sums;
}

template <class T>
double alignment(std::span<const T> k, std::span<const double> labels, bool rescale) {
    const double scale = scale_of(k);
    const Sums sums = sums_of("kernel_alignment", k, labels, rescale, scale);
    if (std::isnan(scale)) return scale;
    // ||y y^T||_F is the square of ||y||.
    const double norms = std::sqrt(sums.k_squared) * sums.y_squared;
    return norms > 0 ? sums.polarity / norms : 0;
}

template <class T>
void center(std::span<T> k, std::uint64_t rows) {
    check_square("center_kernel_matrix", k.size(), rows);
    const auto n = static_cast<double>(rows);
    std::vector<double> row_mean(rows), column_mean(rows);
    double mean = 0;
    for (std::uint64_t i = 0; i < rows; ++i) {
        double sum = 0;
        for (std::uint64_t j = 0; j < rows; ++j) {
            const auto value = static_cast<double>(k[i * rows + j]);
            sum += value;
            column_mean[j] += value / n;
        }
        row_mean[i] = sum / n;
        mean += sum / n / n;
    }
    for (std::uint64_t i = 0; i < rows; ++i)
        for (std::uint64_t j = 0; j < rows; ++j) {
            T& value = k[i * rows + j];
            value = static_cast<T>(static_cast<double>(value) - row_mean[i] - column_mean[j] + mean);
        }
}

template <class T>
void normalize(std::span<T> k, std::uint64_t rows, double jitter) {
    check_square("normalize_kernel_matrix", k.size(), rows);
    if (!(jitter >= 0) || !std::isfinite(jitter))
        throw Error(Errc::invalid_argument, "normalize_kernel_matrix: jitter out of range (got " +
                                                std::to_string(jitter) + ", need 0 or more)");
    std::vector<double> factor(rows);
    for (std::uint64_t i = 0; i < rows; ++i)
        factor[i] = 1 / std::sqrt(std::max(static_cast<double>(k[i * rows + i]) + jitter, 1e-12));
    for (std::uint64_t i = 0; i < rows; ++i)
        for (std::uint64_t j = 0; j < rows; ++j) {
            T& value = k[i * rows + j];
            value = i == j && !std::isnan(value)
                        ? T(1)
                        : static_cast<T>(static_cast<double>(value) * (factor[i] * factor[j]));
        }
}

template <class T>
std::uint64_t clip(std::span<T> k, std::uint64_t rows) {
    check_square("clip_kernel_matrix", k.size(), rows);
    for (std::size_t i = 0; i < k.size(); ++i)
        if (i % rows <= i / rows && !std::isfinite(k[i]))
            throw Error(Errc::invalid_argument, "clip_kernel_matrix: row " + std::to_string(i / rows) +
                                                    " column " + std::to_string(i % rows) +
                                                    " is not finite (need finite numbers)");
    return kernels::clip_eigenvalues(k, rows);
}

}  // namespace

double kernel_polarity(std::span<const float> k, std::span<const double> labels, bool rescale_labels) {
    return sums_of("kernel_polarity", k, labels, rescale_labels).polarity;
}
double kernel_polarity(std::span<const double> k, std::span<const double> labels, bool rescale_labels) {
    return sums_of("kernel_polarity", k, labels, rescale_labels).polarity;
}
double kernel_alignment(std::span<const float> k, std::span<const double> labels, bool rescale_labels) {
    return alignment(k, labels, rescale_labels);
}
double kernel_alignment(std::span<const double> k, std::span<const double> labels, bool rescale_labels) {
    return alignment(k, labels, rescale_labels);
}
void center_kernel_matrix(std::span<float> k, std::uint64_t rows) {
    center(k, rows);
}
void center_kernel_matrix(std::span<double> k, std::uint64_t rows) {
    center(k, rows);
}
void normalize_kernel_matrix(std::span<float> k, std::uint64_t rows, double jitter) {
    normalize(k, rows, jitter);
}
void normalize_kernel_matrix(std::span<double> k, std::uint64_t rows, double jitter) {
    normalize(k, rows, jitter);
}
std::uint64_t clip_kernel_matrix(std::span<float> k, std::uint64_t rows) {
    return clip(k, rows);
}
std::uint64_t clip_kernel_matrix(std::span<double> k, std::uint64_t rows) {
    return clip(k, rows);
}

}  // namespace weft
