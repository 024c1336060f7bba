// SPDX-License-Identifier: Apache-2.0
#include <weft/ops/lattice_inner.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <weft/error.hpp>

#include "ops/lattice/lattice_check.hpp"
#include "shaders/lattice/lattice_d4.h"
#include "shaders/lattice/lattice_z2.h"

namespace weft {
namespace {

// The points that the digits of one level stand for: G b - q Q(G b / q), which are small integers.
template <class Point>
std::vector<std::int8_t> remainders(std::uint32_t q, std::uint32_t points) {
    constexpr std::size_t d = sizeof(Point) / sizeof(float);
    const auto base = static_cast<float>(q);
    std::vector<std::int8_t> all(points * d);
    for (std::uint32_t index = 0; index < points; ++index) {
        Point b{};
        std::uint32_t rest = index;
        for (float& digit : b.v) {
            digit = static_cast<float>(rest % q);
            rest /= q;
        }
        const Point n = point_of(b), whole = quotient(n, base, 1.0f / base);
        for (std::size_t i = 0; i < d; ++i)
            all[index * d + i] = static_cast<std::int8_t>(std::lround(n.v[i] - base * whole.v[i]));
    }
    return all;
}

}  // namespace

LatticeTable::LatticeTable(Lattice lattice, std::uint32_t q) : lattice_(lattice), q_(q) {
    kernels::check_lattice_code("LatticeTable", {.lattice = lattice, .q = q});
    const std::uint32_t d = dimension(lattice);
    double entries = 1;
    for (std::uint32_t i = 0; i < 2 * d; ++i) entries *= q;
    if (entries > static_cast<double>(kMaxEntries) || lattice == Lattice::e8)
        throw Error(Errc::invalid_argument, std::string("LatticeTable: too many entries for ") +
                                                to_string(lattice) + " (got q^" + std::to_string(2 * d) +
                                                " with q = " + std::to_string(q) + ", need at most 2^24)");
    for (std::uint32_t i = 0; i < d; ++i) points_ *= q;
    const std::vector<std::int8_t> values = lattice == Lattice::z2 ? remainders<shared::Z2Point>(q, points_)
                                                                   : remainders<shared::D4Point>(q, points_);
    words_.assign((std::size_t{points_} * points_ + 1) / 2, 0);
    for (std::size_t a = 0, at = 0; a < points_; ++a)
        for (std::size_t b = 0; b < points_; ++b, ++at) {
            int sum = 0;
            for (std::size_t i = 0; i < d; ++i) sum += values[a * d + i] * values[b * d + i];
            largest_ = std::max(largest_, std::abs(sum));
            words_[at / 2] |= std::uint32_t{static_cast<std::uint16_t>(sum)} << (at % 2 * 16);
        }
}

}  // namespace weft
