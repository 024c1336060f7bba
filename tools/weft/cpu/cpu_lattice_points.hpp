// SPDX-License-Identifier: Apache-2.0
// The lattices of docs/lattice.md in integers, for the processor: nearest points of floats and of a point
// divided by q, coordinates in the basis, and back. E8 is stored doubled, so that its halves are integers.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace weft::tool {

/// Division by q, rounded towards minus infinity.
class AnyQuotient {
  public:
    explicit AnyQuotient(std::int32_t q) : q_(q) {}
    std::int32_t q() const { return q_; }
    /// floor(n / (q * factor))
    std::int32_t floor(std::int32_t n, std::int32_t factor) const {
        const std::int32_t by = q_ * factor, quotient = n / by;
        return quotient - (n % by < 0 ? 1 : 0);
    }
    std::int32_t rest(std::int32_t n) const {
        const std::int32_t r = n % q_;
        return r + (r < 0 ? q_ : 0);
    }

  private:
    std::int32_t q_;
};

/// The same for powers of two; `factor` is 1, 2 or 4.
class ShiftQuotient {
  public:
    explicit ShiftQuotient(std::int32_t q) : q_(q), shift_(std::countr_zero(static_cast<std::uint32_t>(q))) {}
    std::int32_t q() const { return q_; }
    std::int32_t floor(std::int32_t n, std::int32_t factor) const { return n >> (shift_ + (factor >> 1)); }
    std::int32_t rest(std::int32_t n) const { return n & (q_ - 1); }

  private:
    std::int32_t q_, shift_;
};

/// floor(x), and x less the middle of that unit: values from 2^-30 below an integer on count as that integer.
struct Split {
    float below, centred;
    explicit Split(float x) : below(std::floor(x + 0x1p-30f)), centred(x - (below + 0.5f)) {}
    std::int32_t rounded() const { return static_cast<std::int32_t>(below) + (centred >= 0 ? 1 : 0); }
};

struct PointsOfZ2 {
    static constexpr std::size_t d = 2;
    static constexpr float kUnit = 1.0f;
    using Point = std::array<std::int32_t, d>;

    static Point nearest(const std::array<float, d>& x) {
        return {Split(x[0]).rounded(), Split(x[1]).rounded()};
    }
    template <class Quotient>
    static Point nearest(const Point& n, const Quotient& by) {
        return {by.floor(2 * n[0] + by.q(), 2), by.floor(2 * n[1] + by.q(), 2)};
    }
    static Point coordinates(const Point& n) { return n; }
    static Point point(const Point& b) { return b; }
};

struct PointsOfD4 {
    static constexpr std::size_t d = 4;
    static constexpr float kUnit = 1.0f;
    using Point = std::array<std::int32_t, d>;

    static Point nearest(const std::array<float, d>& x) {
        Point f;
        std::int32_t sum = 0;
        std::size_t worst = 0;
        float least = 2, turn = 0;  // the largest residual has the smallest distance from the middle
        for (std::size_t i = 0; i < d; ++i) {
            const Split s(x[i]);
            f[i] = s.rounded();
            sum += f[i];
            if (std::abs(s.centred) < least) {
                least = std::abs(s.centred);
                turn = s.centred;
                worst = i;
            }
        }
        if ((sum & 1) != 0) f[worst] += turn >= 0 ? -1 : 1;
        return f;
    }
    template <class Quotient>
    static Point nearest(const Point& n, const Quotient& by) {
        Point f;
        std::int32_t sum = 0, most = -1, residual = 0;
        std::size_t worst = 0;
        for (std::size_t i = 0; i < d; ++i) {
            f[i] = by.floor(2 * n[i] + by.q(), 2);
            sum += f[i];
            const std::int32_t r = n[i] - by.q() * f[i];
            if (std::abs(r) > most) {
                most = std::abs(r);
                residual = r;
                worst = i;
            }
        }
        if ((sum & 1) != 0) f[worst] += residual >= 0 ? 1 : -1;
        return f;
    }
    static Point coordinates(const Point& n) {
        const std::int32_t tail = n[2] + n[3];
        return {-(n[0] + n[1] + tail) / 2, (n[0] - n[1] - tail) / 2, -tail, -n[3]};
    }
    static Point point(const Point& b) { return {b[1] - b[0], b[2] - b[0] - b[1], b[3] - b[2], -b[3]}; }
};

struct PointsOfE8 {
    static constexpr std::size_t d = 8;
    static constexpr float kUnit = 0.5f;
    using Point = std::array<std::int32_t, d>;

    static Point nearest(const std::array<float, d>& x) {
        Point whole, half;
        float centred[d], spread = 0, least = 2, most = -1;
        std::size_t at_least = 0, at_most = 0;
        std::int32_t whole_sum = 0, half_sum = 0;
        for (std::size_t i = 0; i < d; ++i) {
            const Split s(x[i]);
            centred[i] = s.centred;
            whole[i] = 2 * s.rounded();
            half[i] = 2 * static_cast<std::int32_t>(s.below) + 1;
            whole_sum += whole[i] / 2;
            half_sum += static_cast<std::int32_t>(s.below);
            const float size = std::abs(s.centred);
            spread += size;
            if (size < least) least = size, at_least = i;
            if (size > most) most = size, at_most = i;
        }
        const bool odd_whole = (whole_sum & 1) != 0, odd_half = (half_sum & 1) != 0;
        if (odd_whole) whole[at_least] += centred[at_least] >= 0 ? -2 : 2;
        if (odd_half) half[at_most] += centred[at_most] >= 0 ? 2 : -2;
        // Squared distance of the halves less that of the integers: with residuals c and |c| - 1/2 the
        // squares cancel, and moving a coordinate costs 1 - 2 |c| or 2 |c|.
        const float difference =
            ((spread - 2.0f) + (odd_half ? 1.0f - 2.0f * most : 0.0f)) - (odd_whole ? 2.0f * least : 0.0f);
        // At equal distances the smaller first residual, which is the larger coordinate, is taken.
        return difference < 0 || (difference == 0 && half[0] > whole[0]) ? half : whole;
    }
    template <class Quotient>
    static Point nearest(const Point& n, const Quotient& by) {
        const std::int32_t unit = 2 * by.q();
        Point whole, half, whole_rest, half_rest;
        std::int32_t whole_sum = 0, half_sum = 0;
        for (std::size_t i = 0; i < d; ++i) {
            const std::int32_t f = by.floor(n[i] + by.q(), 2), h = by.floor(n[i], 2);
            whole[i] = 2 * f;
            half[i] = 2 * h + 1;
            whole_sum += f;
            half_sum += h;
            whole_rest[i] = n[i] - unit * f;
            half_rest[i] = n[i] - unit * h - by.q();
        }
        if ((whole_sum & 1) != 0) move_worst(whole, whole_rest, unit);
        if ((half_sum & 1) != 0) move_worst(half, half_rest, unit);
        std::int64_t difference = 0;
        for (std::size_t i = 0; i < d; ++i)
            difference +=
                std::int64_t{half_rest[i]} * half_rest[i] - std::int64_t{whole_rest[i]} * whole_rest[i];
        return difference < 0 || (difference == 0 && half_rest < whole_rest) ? half : whole;
    }
    static Point coordinates(const Point& n) {
        Point b;
        b[7] = n[7];
        std::int32_t tail = 0;
        for (std::size_t k = 6; k >= 1; --k) {
            tail += n[k] - n[7];
            b[k] = tail / 2;
        }
        b[0] = (tail + n[0] - n[7]) / 4;
        return b;
    }
    static Point point(const Point& b) {
        Point n;
        n[0] = 4 * b[0] - 2 * b[1] + b[7];
        for (std::size_t k = 1; k < 6; ++k) n[k] = 2 * (b[k] - b[k + 1]) + b[7];
        n[6] = 2 * b[6] + b[7];
        n[7] = b[7];
        return n;
    }

  private:
    /// Moves the coordinate with the largest residual to its other neighbour.
    static void move_worst(Point& point, Point& rest, std::int32_t unit) {
        std::size_t worst = 0;
        for (std::size_t i = 1; i < d; ++i)
            if (std::abs(rest[i]) > std::abs(rest[worst])) worst = i;
        const std::int32_t step = rest[worst] >= 0 ? 1 : -1;
        point[worst] += 2 * step;
        rest[worst] -= unit * step;
    }
};

}  // namespace weft::tool
