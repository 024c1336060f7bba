// SPDX-License-Identifier: Apache-2.0
#include "bench_encode_states.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <string>

namespace bench {
namespace {

using Amplitude = std::complex<double>;
using weft::EncodeMethod;

constexpr std::uint32_t kAllBits = 8;  // of an iqp every amplitude of which is compared

class Comparison {
  public:
    Comparison(EncodeMethod method, std::span<const weft::c32> state) : method_(method), state_(state) {
        check_.bound = state_bound(qubits());
    }
    std::uint32_t qubits() const noexcept {
        return static_cast<std::uint32_t>(std::bit_width(state_.size()) - 1);
    }
    void require(std::uint64_t index, const Amplitude& want) {
        const Amplitude got(state_[index].real(), state_[index].imag());
        const double error = std::abs(got - want);
        if (!(error < check_.bound)) refuse("amplitude " + std::to_string(index), got, want);  // NaN too
        check_.error = std::max(check_.error, error);
        ++check_.amplitudes;
    }
    void require_norm() {
        double norm = 0;
        for (const weft::c32& a : state_) norm += std::norm(Amplitude(a.real(), a.imag()));
        if (!(std::abs(norm - 1) < 1e-5)) refuse("the square of the norm", norm, 1);
    }
    const StateCheck& result() const noexcept { return check_; }

  private:
    [[noreturn]] void refuse(const std::string& what, const Amplitude& got, const Amplitude& want) const {
        std::array<char, 160> text{};
        std::snprintf(text.data(), text.size(), " is wrong (got %.9g%+.9gj, need %.9g%+.9gj)", got.real(),
                      got.imag(), want.real(), want.imag());
        throw weft::Error(weft::Errc::driver, std::string(weft::to_string(method_)) + " of " +
                                                  std::to_string(qubits()) + " qubits: " + what +
                                                  text.data());
    }

    EncodeMethod method_;
    std::span<const weft::c32> state_;
    StateCheck check_;
};

void compare_amplitude(Comparison& with, std::span<const double> row, std::uint64_t size) {
    double most = 0;
    for (const double v : row) most = std::max(most, std::abs(v));
    double sum = 0;
    for (const double v : row) sum += v / most * (v / most);
    const double norm = most * std::sqrt(sum);
    for (std::uint64_t i = 0; i < size; ++i) with.require(i, i < row.size() ? row[i] / norm : 0.0);
}

/// Amplitudes that bit k is not, and is, set in are multiplied by.
struct Factor {
    Amplitude zero, one;
};

Factor factor(EncodeMethod method, double x) {
    const Amplitude unit = std::polar(1.0, x);
    if (method == EncodeMethod::angle) return {std::cos(x), std::sin(x)};
    if (method == EncodeMethod::phase) return {1 / std::numbers::sqrt2, unit / std::numbers::sqrt2};
    return {(1.0 + unit) / 2.0, (1.0 - unit) / 2.0};
}

void compare_product(Comparison& with, EncodeMethod method, std::span<const double> row) {
    std::vector<Amplitude> state{1};
    for (const double x : row) {
        const Factor by = factor(method, x);
        const std::size_t half = state.size();
        state.resize(2 * half);
        for (std::size_t i = 0; i < half; ++i) {
            state[half + i] = state[i] * by.one;
            state[i] *= by.zero;
        }
    }
    for (std::size_t i = 0; i < state.size(); ++i) with.require(i, state[i]);
}

std::vector<std::uint64_t> indices_of_iqp(std::uint32_t qubits) {
    std::vector<std::uint64_t> all;
    const std::uint64_t size = std::uint64_t{1} << qubits;
    if (qubits > kAllBits) return {0, 1, size / 2, 0x9e3779b97f4a7c15 >> (64 - qubits), size - 1};
    for (std::uint64_t i = 0; i < size; ++i) all.push_back(i);
    return all;
}

// As defined: 2^-n times the sum over z of (-1)^(x.z) exp(j theta(z)). theta is told from that of z without
// its lowest bit.
void compare_iqp(Comparison& with, std::span<const double> row, std::uint32_t qubits) {
    std::vector<std::vector<double>> pair(qubits, std::vector<double>(qubits));
    std::size_t next = qubits;
    for (std::uint32_t i = 0; i < qubits; ++i)
        for (std::uint32_t j = i + 1; j < qubits; ++j) pair[i][j] = row[next++];
    const std::vector<std::uint64_t> indices = indices_of_iqp(qubits);
    std::vector<Amplitude> sums(indices.size());
    std::vector<double> theta(std::size_t{1} << qubits);
    for (std::uint64_t z = 0; z < theta.size(); ++z) {
        if (z != 0) {
            const std::uint64_t rest = z & (z - 1);
            const auto k = static_cast<std::uint32_t>(std::countr_zero(z));
            theta[z] = theta[rest] + row[k];
            for (std::uint64_t left = rest; left != 0; left &= left - 1)
                theta[z] += pair[k][static_cast<std::uint32_t>(std::countr_zero(left))];
        }
        const Amplitude term = std::polar(1.0, theta[z]);
        for (std::size_t i = 0; i < indices.size(); ++i)
            sums[i] += (std::popcount(indices[i] & z) & 1) != 0 ? -term : term;
    }
    for (std::size_t i = 0; i < indices.size(); ++i)
        with.require(indices[i], sums[i] / static_cast<double>(theta.size()));
    with.require_norm();
}

}  // namespace

void StateCheck::add(const StateCheck& other) {
    amplitudes += other.amplitudes;
    error = std::max(error, other.error);
    bound = std::max(bound, other.bound);
}

StateCheck check_state(EncodeMethod method, std::span<const double> row, std::span<const weft::c32> state) {
    Comparison with(method, state);
    if (method == EncodeMethod::amplitude)
        compare_amplitude(with, row, state.size());
    else if (method == EncodeMethod::basis)
        for (std::uint64_t i = 0; i < state.size(); ++i)
            with.require(i, i == static_cast<std::uint64_t>(row[0]) ? 1.0 : 0.0);
    else if (method == EncodeMethod::iqp)
        compare_iqp(with, row, with.qubits());
    else
        compare_product(with, method, row);
    return with.result();
}

std::vector<std::uint64_t> rows_to_check(std::uint64_t samples) {
    std::vector<std::uint64_t> rows{0, samples / 2, samples - 1};
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
}

}  // namespace bench
