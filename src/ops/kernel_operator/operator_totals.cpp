// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_operator/operator_totals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/thread_parts.hpp"

namespace weft::kernels {
namespace {

constexpr std::uint64_t kLeastValues = std::uint64_t{1} << 16;  // of a thread
// A total is below 2^kBits units, which leaves a bit for the sign and one for rounding.
constexpr int kBits = 62;

/// Sums of |V|, whose bits do not depend on the number of threads.
template <class T>
std::vector<double> sizes_of_columns(const T* v, std::uint64_t rows, std::uint32_t columns,
                                     std::uint32_t threads) {
    constexpr std::uint64_t kRows = 4096;  // of a partial sum
    const std::uint64_t parts = (rows + kRows - 1) / kRows;
    std::vector<double> sums(parts * columns, 0.0);
    in_parts(parts, 16, threads, [&](std::uint64_t, std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t part = first; part < last; ++part)
            for (std::uint64_t i = part * kRows; i < std::min(rows, (part + 1) * kRows); ++i)
                for (std::uint32_t c = 0; c < columns; ++c)
                    sums[part * columns + c] += std::abs(static_cast<double>(v[i * columns + c]));
    });
    std::vector<double> sizes(columns, 0.0);
    for (std::size_t i = 0; i < sums.size(); ++i) sizes[i % columns] += sums[i];
    return sizes;
}

/// A power of two as two factors, because it may be below the smallest double.
struct PowerOfTwo {
    explicit PowerOfTwo(int exponent)
        : first(std::ldexp(1.0, exponent / 2)), second(std::ldexp(1.0, exponent - exponent / 2)) {}
    double first, second;
};

template <class T>
void add_values(std::span<const std::vector<std::uint32_t>> totals, std::span<const PowerOfTwo> units,
                const TotalFactors& factors, const T* v, T* out, std::uint64_t first, std::uint64_t last) {
    std::size_t column = first % units.size();
    for (std::uint64_t i = first; i < last; ++i) {
        std::uint64_t sum = 0;  // of complements, so it may wrap
        for (const std::vector<std::uint32_t>& words : totals)
            if (!words.empty()) sum += std::uint64_t{words[2 * i + 1]} << 32 | words[2 * i];
        const double total =
            static_cast<double>(static_cast<std::int64_t>(sum)) * units[column].first * units[column].second;
        double value = factors.alpha * total + factors.delta * static_cast<double>(v[i]);
        if (factors.beta != 0) value += factors.beta * static_cast<double>(out[i]);
        out[i] = static_cast<T>(value);
        if (++column == units.size()) column = 0;
    }
}

}  // namespace

double total_error(double terms, bool real64) noexcept {
    // Each term is rounded to a unit, which is at most 2^(1 - kBits) of the sum of |V| times the largest
    // kernel value. The total is rounded to a double, and the result to its type.
    return terms * std::ldexp(0.5, 1 - kBits + (real64 ? 53 : 24)) + 4;
}

std::vector<std::int32_t> total_units(const ConstHostArray& v, std::uint32_t columns, double largest,
                                      std::uint32_t threads) {
    const std::uint64_t rows = v.size / columns;
    const bool wide = v.type == kFloat64;
    const std::vector<double> sizes =
        wide ? sizes_of_columns(static_cast<const double*>(v.data), rows, columns, threads)
             : sizes_of_columns(static_cast<const float*>(v.data), rows, columns, threads);
    // Partial sums are of the type of V.
    const double most = wide ? std::numeric_limits<double>::max() / 4
                             : static_cast<double>(std::numeric_limits<float>::max()) / 4;
    std::vector<std::int32_t> units;
    for (const double size : sizes) {
        const double bound = size * largest;
        if (!(bound <= most) || !(size <= most)) return {};
        int exponent = 0;
        std::frexp(bound, &exponent);  // bound is below 2^exponent
        units.push_back(exponent - kBits);
    }
    return units;
}

void add_totals(std::span<const std::vector<std::uint32_t>> totals, std::span<const std::int32_t> units,
                const TotalFactors& factors, const ConstHostArray& v, const HostArray& out,
                std::uint32_t threads) {
    std::vector<PowerOfTwo> powers;
    for (const std::int32_t unit : units) powers.emplace_back(unit);
    in_parts(out.size, kLeastValues, threads, [&](std::uint64_t, std::uint64_t first, std::uint64_t last) {
        if (out.type == kFloat64)
            add_values<double>(totals, powers, factors, static_cast<const double*>(v.data),
                               static_cast<double*>(out.data), first, last);
        else
            add_values<float>(totals, powers, factors, static_cast<const float*>(v.data),
                              static_cast<float*>(out.data), first, last);
    });
}

}  // namespace weft::kernels
