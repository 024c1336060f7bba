// SPDX-License-Identifier: Apache-2.0
// The lattice math that shaders share with C++, compared with the exact oracle, and the oracle with
// enumeration.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ops/lattice/lattice_plan.hpp"
#include "shaders/lattice/lattice_d4.h"
#include "shaders/lattice/lattice_e8.h"
#include "shaders/lattice/lattice_z2.h"
#include "support/lattice_oracle.hpp"
#include "support/lattice_vectors.hpp"

namespace {

using namespace weft_test;
namespace shared = weft::shared;

constexpr Lattice kLattices[] = {Lattice::z2, Lattice::d4, Lattice::e8};

// Codes x as the kernels do, with retries: encode(x) codes it once. The status counts the retries.
template <class Point, class Encode>
auto with_retries(const LatticeCode& code, const Point& x, const Encode& encode) {
    const std::vector<float> scales = weft::kernels::lattice_scales(code);
    std::uint32_t retries = 0;
    auto result = encode(x);
    while (result.status == shared::kLatticeOverload && retries < code.max_retries)
        result = encode(shrunk(x, scales[shared::lattice_shrink_at(++retries)]));
    result.status |= retries;
    return result;
}

float scale_of(const LatticeCode& code, std::uint32_t status) {
    const std::uint32_t retries = status == shared::kLatticeBad ? 0 : status & 0x7f;
    return code.beta * weft::kernels::lattice_scales(code)[shared::lattice_grow_at(retries)];
}

// The result of the shared math for one vector, with the oracle's types.
template <class Point>
OracleVector run(const LatticeCode& code, const float* x, std::uint64_t index, std::uint32_t depth) {
    constexpr std::size_t d = sizeof(Point) / sizeof(float);
    constexpr float units = d == 8 ? 2.0f : 1.0f;
    const shared::LatticeSettings settings = weft::kernels::lattice_settings(code);
    const auto q = static_cast<float>(code.q);
    Point in{}, dither{};
    for (std::size_t i = 0; i < d; ++i) in.v[i] = x[i];
    if (code.dither_seed)
        dither = dither_of(shared::lattice_dither_key(settings, static_cast<std::uint32_t>(index)), Point{});
    const auto r = with_retries(code, in, [&](const Point& tried) {
        return encode_vector(tried, dither, code.dither_seed.has_value(), settings.inverse_beta, q, 1.0f / q,
                             code.levels);
    });
    OracleVector out;
    const auto doubled = [&](const Point& p) {
        Ints n;
        for (const float v : p.v) n.push_back(std::llround(v * 2.0f / units));
        return n;
    };
    for (std::uint32_t m = 0; m < code.levels; ++m)
        for (const float digit : r.code.level[m].v) out.digits.push_back(std::llround(digit));
    const Point decoded = decode_digits(r.code, q, 1.0f / q, code.levels, depth);
    out.point = doubled(r.point);
    out.decoded = doubled(decoded);
    out.status = static_cast<std::uint8_t>(r.status);
    const Point value = values_of(decoded, dither, scale_of(code, r.status));
    out.value.assign(value.v, value.v + d);
    return out;
}

OracleVector shared_vector(const LatticeCode& code, const float* x, std::uint64_t index = 0) {
    if (code.lattice == Lattice::z2) return run<shared::Z2Point>(code, x, index, code.levels);
    if (code.lattice == Lattice::d4) return run<shared::D4Point>(code, x, index, code.levels);
    return run<shared::E8Point>(code, x, index, code.levels);
}

// The same by the math for base 4.
template <class Point, class Bytes>
OracleVector run_base4(const LatticeCode& code, const float* x, std::uint64_t index) {
    constexpr std::size_t d = sizeof(Point) / sizeof(float);
    constexpr float doubled = d == 8 ? 1.0f : 2.0f;
    const shared::LatticeSettings settings = weft::kernels::lattice_settings(code);
    Point in{}, dither{};
    std::copy_n(x, d, in.v);
    if (code.dither_seed)
        dither = dither_of(shared::lattice_dither_key(settings, static_cast<std::uint32_t>(index)), Point{});
    const auto r = with_retries(code, in, [&](const Point& tried) {
        return base4_vector(tried, dither, code.dither_seed.has_value(), settings.inverse_beta, code.levels);
    });
    OracleVector out;
    for (std::uint32_t k = 0; k < code.levels * d; ++k) out.digits.push_back(r.digits >> (2 * k) & 3);
    out.status = static_cast<std::uint8_t>(r.status);
    const Point decoded = shared::base4_decode(r.digits, code.levels, code.levels, Bytes{});
    for (const float v : decoded.v) out.decoded.push_back(std::llround(v * doubled));
    const Point value = values_of(decoded, dither, scale_of(code, r.status));
    out.value.assign(value.v, value.v + d);
    // Quantizing uses this instead of decoding the digits.
    const Point left = shared::sum_of_bytes(r.left, shared::base4_bias(r.left, code.levels));
    CHECK(bits_of(left.v) == bits_of(decoded.v));
    return out;
}

OracleVector base4_vector_of(const LatticeCode& code, const float* x, std::uint64_t index = 0) {
    if (code.lattice == Lattice::z2) return run_base4<shared::Z2Point, shared::Z2Bytes>(code, x, index);
    if (code.lattice == Lattice::d4) return run_base4<shared::D4Point, shared::D4Bytes>(code, x, index);
    return run_base4<shared::E8Point, shared::E8Bytes>(code, x, index);
}

bool same(const OracleVector& a, const OracleVector& b) {
    return a.digits == b.digits && a.point == b.point && a.decoded == b.decoded && a.status == b.status &&
           bits_of(a.value) == bits_of(b.value);
}

// The squared distance of doubled points to x, in doubled units.
double distance(const std::vector<float>& x, const Ints& n) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double r = 2.0 * static_cast<double>(x[i]) - static_cast<double>(n[i]);
        sum += r * r;
    }
    return sum;
}

// The least distance by enumeration: for every coordinate, both neighbours of x in the coset and one further.
double least_distance(Lattice lattice, const std::vector<float>& x) {
    double least = std::numeric_limits<double>::infinity();
    for (const int half : {0, 1}) {
        if (half == 1 && lattice != Lattice::e8) continue;
        Ints n(x.size());
        const auto visit = [&](auto&& self, std::size_t i, std::int64_t sum) -> void {
            if (i == x.size()) {
                if (lattice == Lattice::z2 || sum % 2 == 0) least = std::min(least, distance(x, n));
                return;
            }
            const auto below = std::llround(std::floor(static_cast<double>(x[i]) - 0.5 * half));
            for (std::int64_t f = below; f <= below + 1; ++f) {
                n[i] = 2 * f + half;
                self(self, i + 1, sum + f);
            }
        };
        visit(visit, 0, 0);
    }
    return least;
}

std::vector<Wide> widened(const std::vector<float>& x) {
    std::vector<Wide> w;
    for (const float v : x) w.push_back(static_cast<Wide>(std::ldexp(static_cast<double>(v), 40)));
    return w;
}

const Wide kOne = Wide{1} << 40;

}  // namespace

TEST_CASE("lattice math: the oracle's point is a nearest one, and it is equivariant") {
    for (const Lattice lattice : kLattices) {
        CAPTURE(weft::to_string(lattice));
        const std::size_t d = weft::dimension(lattice);
        const std::vector<float> values = dyadic_values(400 * d, 3.0f, 5);
        for (std::size_t i = 0; i < 400; ++i) {
            std::vector<float> x(values.begin() + static_cast<std::ptrdiff_t>(i * d),
                                 values.begin() + static_cast<std::ptrdiff_t>((i + 1) * d));
            const Ints n = oracle_nearest(lattice, widened(x), kOne);
            CHECK(distance(x, n) == least_distance(lattice, x));
            Ints b(d);
            for (std::size_t k = 0; k < d; ++k) b[k] = static_cast<std::int64_t>((i * 7 + k * 3) % 9) - 4;
            const Ints move = point(lattice, b);
            CHECK(coordinates(lattice, move) == b);
            for (std::size_t k = 0; k < d; ++k) x[k] += static_cast<float>(move[k]) / 2;
            Ints moved = oracle_nearest(lattice, widened(x), kOne);
            for (std::size_t k = 0; k < d; ++k) moved[k] -= move[k];
            CHECK(moved == n);
        }
    }
}

TEST_CASE("lattice math: known answers, by the oracle and by the shared math") {
    for (const LatticeVector& v : lattice_vectors()) {
        CAPTURE(v.id);
        const OracleVector want = oracle_vector(v.code, v.x.data());
        CHECK(Ints(v.digits.begin(), v.digits.end()) == want.digits);
        CHECK(int{v.status} == int{want.status});
        for (std::size_t i = 0; i < v.value.size(); ++i)
            CHECK(static_cast<float>(v.value[i]) * v.code.beta == want.value[i]);
        CHECK(same(shared_vector(v.code, v.x.data()), want));
        if (v.packed.empty()) continue;
        LatticeCode packed = v.code;
        packed.packed = true;
        CHECK(oracle_codes(packed, v.x).codes == v.packed);
    }
    for (const LatticeDecodeVector& v : lattice_decode_vectors()) {
        CAPTURE(v.id);
        const Ints n = oracle_decode(v.code, Ints(v.digits.begin(), v.digits.end()), v.depth);
        CHECK(bits_of(oracle_value(v.code, n, 0, std::vector<Wide>(n.size(), 0))) == bits_of(v.value));
    }
}

TEST_CASE("lattice math: every lattice, base and number of levels, on numbers with many ties") {
    for (const Lattice lattice : kLattices)
        for (std::uint32_t q = 3; q <= 16; ++q)
            for (std::uint32_t levels = 1; levels <= 4; ++levels) {
                CAPTURE(weft::to_string(lattice));
                CAPTURE(q);
                CAPTURE(levels);
                LatticeCode code{.lattice = lattice, .q = q, .levels = levels, .max_retries = levels};
                const std::size_t d = weft::dimension(lattice);
                const auto range = static_cast<float>(std::pow(q, levels)) * 0.75f;
                const std::vector<float> x = dyadic_values(40 * d, range, q * 10 + levels);
                std::size_t wrong = 0;
                for (std::size_t i = 0; i < 40; ++i) {
                    const OracleVector want = oracle_vector(code, &x[i * d]);
                    if (want.near_tie) continue;
                    wrong += same(shared_vector(code, &x[i * d]), want) ? 0 : 1;
                    // Without overload the quantized point is decoded.
                    if (want.status < 0x80) CHECK(want.decoded == want.point);
                }
                CHECK(wrong == 0);
            }
}

TEST_CASE("lattice math: powers of 2^alpha are rounded once, whatever the number of retries") {
    for (const float alpha :
         {0.25f, 0.1f, 0.7f, 1.0f / 3, 1e-3f, 1e-30f, 1.0f, 1.5f, 2.0f, 3.0f, 3.9f, 4.0f}) {
        CAPTURE(alpha);
        const std::uint32_t most = weft::kernels::most_retries(alpha);
        const std::vector<float> scales =
            weft::kernels::lattice_scales({.alpha = alpha, .max_retries = most});
        REQUIRE(scales.size() == 2 * (most + 1));
        const auto whole = static_cast<float>(static_cast<int>(alpha)) == alpha;
        volatile float shrink = 1, grow = 1;  // by a multiplication for each retry
        for (std::uint32_t t = 0; t <= most; ++t) {
            const float down = scales[shared::lattice_shrink_at(t)], up = scales[shared::lattice_grow_at(t)];
            const int retries = static_cast<int>(t);
            CHECK(down == oracle_power(alpha, -retries));
            CHECK(up == oracle_power(alpha, retries));
            if (!whole) continue;
            CHECK(down == shrink);
            CHECK(up == grow);
            shrink = shrink / static_cast<float>(1 << static_cast<int>(alpha));
            grow = grow * static_cast<float>(1 << static_cast<int>(alpha));
        }
    }
    CHECK(weft::kernels::most_retries(0.1f) == 100);
    CHECK(weft::kernels::most_retries(4.0f) == 16);
    const std::vector<float> quarter = weft::kernels::lattice_scales({.alpha = 0.25f, .max_retries = 12});
    CHECK(quarter[shared::lattice_grow_at(12)] == 8.0f);
    CHECK(quarter[shared::lattice_shrink_at(12)] == 0.125f);
    CHECK(weft::kernels::lattice_scales({}) == std::vector<float>{1, 1});
}

TEST_CASE("lattice math: many retries in steps of every kind, by floats and by bytes") {
    for (const Lattice lattice : kLattices)
        for (const auto& [alpha, most] : {std::pair{0.25f, 40u}, {0.1f, 100u}, {0.7f, 12u}, {3.0f, 21u}}) {
            CAPTURE(weft::to_string(lattice));
            CAPTURE(alpha);
            const LatticeCode code{.lattice = lattice, .beta = 0.7f, .alpha = alpha, .max_retries = most};
            const std::size_t d = weft::dimension(lattice);
            const std::vector<float> x = dyadic_values(200 * d, 900.0f, 3);
            std::size_t wrong = 0, many = 0;
            for (std::size_t i = 0; i < 200; ++i) {
                const OracleVector want = oracle_vector(code, &x[i * d]),
                                   got = shared_vector(code, &x[i * d]),
                                   bytes = base4_vector_of(code, &x[i * d]);
                many += static_cast<double>(alpha) * (want.status & 0x7f) > 4 ? 1 : 0;
                if (want.near_tie) continue;
                wrong += same(got, want) && bits_of(bytes.value) == bits_of(want.value) ? 0 : 1;
            }
            CHECK(wrong == 0);
            CHECK(many > 10);
        }
}

TEST_CASE("lattice math: base 4 in bytes is the same math") {
    std::vector<std::vector<float>> rows = {{3e38f, -3e38f, 3e38f, -3e38f, 3e38f, -3e38f, 3e38f, -3e38f},
                                            {131073, -131073, 1, 0, 0, 0, 0, 1e30f},
                                            {64, 0, 0, 0, 0, 0, 0, 0},
                                            {64.5f, 0, 0, 0, 0, 0, 0, 0},
                                            {-64, 0, 0, 0, 0, 0, 0, 0},
                                            {-32, -32, 0, 0, 0, 0, 0, 0},
                                            {8, 8, 8, 8, 8, 8, 8, 8},
                                            {-8, -8, -8, -8, -8, -8, -8, -8}};
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
        rows.push_back({1, bad, 1e30f, 1, bad, 1, 1, -bad});
    // Ties, few overloads, many overloads, and sums of coordinates on both sides of the limit of bytes.
    for (const float range : {2.0f, 5.0f, 10.0f, 20.0f, 40.0f, 70.0f}) {
        const std::vector<float> x = dyadic_values(8 * 4000, range, static_cast<std::uint32_t>(range));
        for (std::size_t i = 0; i < x.size(); i += 8) rows.emplace_back(&x[i], &x[i] + 8);
    }
    for (const Lattice lattice : kLattices)
        for (const std::uint32_t levels : {1u, 2u})
            for (const std::uint32_t retries : {0u, 3u}) {
                CAPTURE(weft::to_string(lattice));
                CAPTURE(levels);
                CAPTURE(retries);
                LatticeCode code{.lattice = lattice, .levels = levels, .max_retries = retries};
                if (retries != 0) code.dither_seed = 7;
                std::size_t wrong = 0;
                for (std::size_t i = 0; i < rows.size(); ++i) {
                    const OracleVector want = shared_vector(code, rows[i].data(), i),
                                       got = base4_vector_of(code, rows[i].data(), i);
                    wrong += want.digits == got.digits && want.decoded == got.decoded &&
                                     want.status == got.status && bits_of(want.value) == bits_of(got.value)
                                 ? 0
                                 : 1;
                }
                CHECK(wrong == 0);
            }
}

TEST_CASE("lattice math: every code of D4 with base 4 and two levels, by bytes and by floats") {
    std::size_t wrong = 0;
    for (std::uint32_t digits = 0; digits < 65536; ++digits)
        for (std::uint32_t depth = 1; depth <= 2; ++depth) {
            shared::D4Code code{};
            for (std::uint32_t k = 0; k < 8; ++k)
                code.level[k / 4].v[k % 4] = static_cast<float>(digits >> (2 * k) & 3);
            const shared::D4Point want = decode_digits(code, 4.0f, 0.25f, 2, depth),
                                  got = shared::base4_decode(digits, 2, depth, shared::D4Bytes{});
            if (bits_of(want.v) != bits_of(got.v)) ++wrong;
            if (depth != 2) continue;
            const auto again = shared::base4_point(got, 2);
            if (again.digits != digits || again.status != 0) ++wrong;
        }
    CHECK(wrong == 0);
}

TEST_CASE("lattice math: codes of E8 with base 4 and two levels, by bytes and by floats") {
    std::size_t wrong = 0;
    std::uint32_t digits = 1;
    for (int i = 0; i < 100000; ++i) {
        digits = digits * 1664525u + 1013904223u;
        shared::E8Code code{};
        for (std::uint32_t k = 0; k < 16; ++k)
            code.level[k / 8].v[k % 8] = static_cast<float>(digits >> (2 * k) & 3);
        const std::uint32_t depth = 1 + (digits >> 31);
        const shared::E8Point want = decode_digits(code, 4.0f, 0.25f, 2, depth),
                              got = shared::base4_decode(digits, 2, depth, shared::E8Bytes{});
        if (bits_of(want.v) != bits_of(got.v)) ++wrong;
        if (depth != 2) continue;
        shared::E8Point undoubled = got;
        for (float& v : undoubled.v) v *= 0.5f;
        const auto again = shared::base4_point(undoubled, 2);
        if (again.digits != digits || again.status != 0) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE("lattice math: huge, tiny and denormal numbers") {
    const float tiny = std::numeric_limits<float>::denorm_min(), huge = std::numeric_limits<float>::max();
    const std::vector<std::vector<float>> rows = {
        {huge, -huge, huge, -huge, huge, -huge, huge, -huge},
        {1e6f, 0, 0, 0, 0, 0, 0, 0},
        {131072, -131072, 131071.5f, -131071.5f, 131073, -131073, 1, -1},
        {65536, -65536, 65536.5f, -65536.5f, 8388608, -8388607, 16777216, 3},
        {tiny, 0, tiny, 1, tiny, 0, 1, 0},
        {1, tiny, 0, 0, 0, 0, 0, 0},
        {-tiny, 1, 0, -tiny, 0, 0, 0, -tiny},
        {0.49999997f, 0.49999997f, -0.49999997f, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f},
    };
    for (const Lattice lattice : kLattices)
        for (const std::uint32_t q : {3u, 4u, 7u, 15u, 16u})
            for (const auto& row : rows) {
                CAPTURE(weft::to_string(lattice));
                CAPTURE(q);
                CAPTURE(row[0]);
                LatticeCode code{.lattice = lattice, .q = q, .levels = 4};
                CHECK(same(shared_vector(code, row.data()), oracle_vector(code, row.data())));
                code.max_retries = 10;
                CHECK(same(shared_vector(code, row.data()), oracle_vector(code, row.data())));
            }
    // With the largest numbers no retry helps, and the status reports it.
    const OracleVector lost = shared_vector({.max_retries = 10}, rows[1].data());
    CHECK(int{lost.status} == 0x8a);
}

TEST_CASE("lattice math: values that are not numbers are coded as zero with a separate status") {
    for (const Lattice lattice : kLattices)
        for (const float bad :
             {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
              -std::numeric_limits<float>::infinity()})
            for (std::size_t at = 0; at < weft::dimension(lattice); ++at) {
                std::vector<float> x(8, 1e30f);
                x[at] = bad;
                const OracleVector got = shared_vector({.lattice = lattice, .max_retries = 5}, x.data());
                CHECK(int{got.status} == 0xff);
                CHECK(got.digits == Ints(got.digits.size(), 0));
            }
}

TEST_CASE("lattice math: dither is in the cell, fills it, and is subtracted again") {
    for (const Lattice lattice : kLattices) {
        CAPTURE(weft::to_string(lattice));
        const std::size_t d = weft::dimension(lattice);
        LatticeCode code{.lattice = lattice, .beta = 0.5f, .dither_seed = 0x123456789abcdef0u};
        const std::vector<float> x = dyadic_values(500 * d, 2.0f, 77);
        double sum = 0, squares = 0;
        for (std::size_t i = 0; i < 500; ++i) {
            const std::vector<Wide> z = dither_of_vector(code, i);
            CHECK(oracle_nearest(lattice, z, 4096) == Ints(d, 0));
            for (const Wide v : z) {
                const double real = static_cast<double>(static_cast<std::int64_t>(v)) / 4096;
                sum += real;
                squares += real * real;
            }
            const OracleVector want = oracle_vector(code, &x[i * d], i);
            if (!want.near_tie) CHECK(same(shared_vector(code, &x[i * d], i), want));
            for (std::size_t k = 0; k < d; ++k)
                CHECK(std::fabs(want.value[k] - x[i * d + k]) <= 0.5f * 1.001f);
        }
        // Second moment of the cell, per dimension: 1/12, 0.1083, 0.0717.
        const double moment = lattice == Lattice::z2 ? 1.0 / 12 : lattice == Lattice::d4 ? 0.1083 : 0.0717;
        const double n = 500.0 * static_cast<double>(d);
        CHECK(std::fabs(sum / n) < 0.03);
        CHECK(squares / n == doctest::Approx(moment).epsilon(0.1));
    }
}
