// SPDX-License-Identifier: Apache-2.0
#include "support/lattice_oracle.hpp"

namespace weft_test {

std::int64_t floor_div(Wide a, Wide b) {
    const Wide q = a / b;
    return static_cast<std::int64_t>(a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q);
}

Ints nearest_coset(bool even_sum, const std::vector<Wide>& x, Wide scale, bool half) {
    std::vector<Wide> f(x.size()), r(x.size());
    Wide sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const Wide moved = 2 * x[i] - (half ? scale : 0);  // 2 (x - 1/2)
        f[i] = floor_div(moved + scale, 2 * scale);
        r[i] = moved - 2 * scale * f[i];
        sum += f[i];
    }
    if (even_sum && sum % 2 != 0) {
        std::size_t k = 0;
        const auto size = [](Wide v) { return v < 0 ? -v : v; };
        for (std::size_t i = 1; i < x.size(); ++i)
            if (size(r[i]) > size(r[k])) k = i;
        f[k] += r[k] >= 0 ? 1 : -1;
    }
    Ints n;
    for (const Wide v : f) n.push_back(static_cast<std::int64_t>(2 * v + (half ? 1 : 0)));
    return n;
}

std::vector<Wide> residual(const std::vector<Wide>& x, Wide scale, const Ints& n) {
    std::vector<Wide> r;
    for (std::size_t i = 0; i < x.size(); ++i) r.push_back(2 * x[i] - scale * n[i]);
    return r;
}

long double squared(const std::vector<Wide>& r, Wide scale) {
    long double sum = 0;
    for (const Wide v : r) {
        const long double part = static_cast<long double>(v) / (2 * static_cast<long double>(scale));
        sum += part * part;
    }
    return sum;
}

Ints oracle_nearest(Lattice lattice, const std::vector<Wide>& x, Wide scale, bool* near_tie) {
    if (lattice != Lattice::e8) return nearest_coset(lattice == Lattice::d4, x, scale, false);
    const Ints whole = nearest_coset(true, x, scale, false), half = nearest_coset(true, x, scale, true);
    const auto rw = residual(x, scale, whole), rh = residual(x, scale, half);
    Wide difference = 0;  // exact while residuals have at most 60 bits
    for (std::size_t i = 0; i < x.size(); ++i) difference += rw[i] * rw[i] - rh[i] * rh[i];
    if (near_tie != nullptr)
        *near_tie = difference != 0 && std::fabs(squared(rw, scale) - squared(rh, scale)) < 4e-6L;
    if (difference != 0) return difference < 0 ? whole : half;
    return rw < rh ? whole : half;
}

std::vector<Ints> basis(Lattice lattice) {
    if (lattice == Lattice::z2) return {{2, 0}, {0, 2}};
    if (lattice == Lattice::d4) return {{-2, 2, 0, 0}, {-2, -2, 2, 0}, {0, 0, -2, 2}, {0, 0, 0, -2}};
    std::vector<Ints> g(8, Ints(8, 0));
    g[0][0] = 4;
    for (std::size_t k = 1; k < 7; ++k) {
        g[k - 1][k] = -2;
        g[k][k] = 2;
    }
    for (std::size_t i = 0; i < 8; ++i) g[i][7] = 1;
    return g;
}

Ints point(Lattice lattice, const Ints& b) {
    const std::vector<Ints> g = basis(lattice);
    Ints n(b.size(), 0);
    for (std::size_t i = 0; i < b.size(); ++i)
        for (std::size_t j = 0; j < b.size(); ++j) n[i] += g[i][j] * b[j];
    return n;
}

Ints coordinates(Lattice lattice, const Ints& n) {
    const std::vector<Ints> g = basis(lattice);
    const std::size_t d = n.size();
    std::vector<std::vector<double>> a(d, std::vector<double>(d + 1));
    for (std::size_t i = 0; i < d; ++i) {
        for (std::size_t j = 0; j < d; ++j) a[i][j] = static_cast<double>(g[i][j]);
        a[i][d] = static_cast<double>(n[i]);
    }
    for (std::size_t c = 0; c < d; ++c) {
        std::size_t pivot = c;
        for (std::size_t i = c; i < d; ++i)
            if (std::fabs(a[i][c]) > std::fabs(a[pivot][c])) pivot = i;
        std::swap(a[c], a[pivot]);
        for (std::size_t i = 0; i < d; ++i) {
            if (i == c || a[i][c] == 0) continue;
            const double factor = a[i][c] / a[c][c];
            for (std::size_t j = c; j <= d; ++j) a[i][j] -= factor * a[c][j];
        }
    }
    Ints b;
    for (std::size_t i = 0; i < d; ++i) b.push_back(std::llround(a[i][d] / a[i][i]));
    return b;
}

std::vector<Wide> oracle_dither(Lattice lattice, std::uint64_t seed, std::uint64_t index) {
    const auto mix = [](std::uint32_t v) {
        v = (v ^ v >> 16) * 0x7feb352du;
        v = (v ^ v >> 15) * 0x846ca68bu;
        return v ^ v >> 16;
    };
    std::uint32_t key = mix(static_cast<std::uint32_t>(seed)) ^ static_cast<std::uint32_t>(seed >> 32);
    key = mix(key) ^ static_cast<std::uint32_t>(index >> 32);
    key = mix(key) ^ static_cast<std::uint32_t>(index);
    std::vector<Wide> u;
    for (std::uint32_t pair = 0; pair < dimension(lattice) / 2; ++pair) {
        const std::uint32_t bits = mix(key + (2 * pair + 1) * 0x9e3779b9u);
        u.push_back(Wide{bits & 8191} - 4096);
        u.push_back(Wide{bits >> 13 & 8191} - 4096);
    }
    const Ints n = oracle_nearest(lattice, u, 4096);
    for (std::size_t i = 0; i < u.size(); ++i) u[i] -= 2048 * Wide{n[i]};
    return u;
}

Ints oracle_decode(const LatticeCode& code, const Ints& digits, std::uint32_t depth) {
    const std::size_t d = dimension(code.lattice);
    Ints sum(d, 0);
    std::int64_t power = 1;
    for (std::uint32_t m = 0; m < code.levels; ++m, power *= code.q) {
        if (m + depth < code.levels) continue;
        const auto at = digits.begin() + static_cast<std::ptrdiff_t>(m * d);
        const Ints n = point(code.lattice, Ints(at, at + static_cast<std::ptrdiff_t>(d)));
        // n is doubled: n / 2 / q.
        const Ints whole = oracle_nearest(code.lattice, std::vector<Wide>(n.begin(), n.end()), 2 * code.q);
        for (std::size_t i = 0; i < d; ++i) sum[i] += power * (n[i] - std::int64_t{code.q} * whole[i]);
    }
    return sum;
}

float oracle_power(float alpha, int retries) {
    return static_cast<float>(std::exp2(static_cast<long double>(alpha) * retries));
}

std::vector<float> oracle_value(const LatticeCode& code, const Ints& n, std::uint32_t retries,
                                const std::vector<Wide>& dither) {
    volatile float scale = code.beta;
    scale = scale * oracle_power(code.alpha, static_cast<int>(retries));
    std::vector<float> value;
    for (std::size_t i = 0; i < n.size(); ++i) {
        volatile float moved = static_cast<float>(n[i]) * 0.5f;
        moved = moved - static_cast<float>(static_cast<std::int64_t>(dither[i])) / 4096.0f;
        value.push_back(moved * scale);
    }
    return value;
}

std::vector<std::uint32_t> bits_of(std::span<const float> values) {
    std::vector<std::uint32_t> bits(values.size());
    if (!bits.empty()) std::memcpy(bits.data(), values.data(), values.size_bytes());
    return bits;
}

std::vector<Wide> dither_of_vector(const LatticeCode& code, std::uint64_t index) {
    if (!code.dither_seed) return std::vector<Wide>(dimension(code.lattice), 0);
    return oracle_dither(code.lattice, *code.dither_seed, code.dither_first + index);
}

OracleVector oracle_vector(const LatticeCode& code, const float* values, std::uint64_t index) {
    const std::size_t d = dimension(code.lattice);
    const std::vector<Wide> dither = dither_of_vector(code, index);
    const auto inverse = static_cast<float>(1.0 / static_cast<double>(code.beta));
    OracleVector out;
    for (std::uint32_t retries = 0;; ++retries) {
        constexpr Wide kOne = Wide{1} << 40;
        const float shrink = oracle_power(code.alpha, -static_cast<int>(retries));
        std::vector<Wide> g;
        for (std::size_t i = 0; i < d; ++i) {
            volatile float v = values[i] * shrink;
            v = v * inverse;
            v = v + static_cast<float>(static_cast<std::int64_t>(dither[i])) / 4096.0f;
            const double held = std::fmin(std::fmax(static_cast<double>(v), -131072.0), 131072.0);
            g.push_back(static_cast<Wide>(std::ldexp(held, 40)));
        }
        out = OracleVector{};
        Ints n = out.point = oracle_nearest(code.lattice, g, kOne, &out.near_tie);
        for (std::uint32_t m = 0; m < code.levels; ++m) {
            for (const std::int64_t b : coordinates(code.lattice, n))
                out.digits.push_back(b - std::int64_t{code.q} * floor_div(b, code.q));
            n = oracle_nearest(code.lattice, std::vector<Wide>(n.begin(), n.end()), 2 * code.q);
        }
        const bool overload = n != Ints(d, 0);
        out.status = static_cast<std::uint8_t>(retries | (overload ? 0x80u : 0u));
        if (overload && retries < code.max_retries) continue;
        out.decoded = oracle_decode(code, out.digits, code.levels);
        out.value = oracle_value(code, out.decoded, retries, dither);
        return out;
    }
}

void append_digits(std::vector<std::uint8_t>& codes, std::size_t& bit, const Ints& digits,
                   std::uint32_t bits) {
    for (const std::int64_t digit : digits)
        for (std::uint32_t k = 0; k < bits; ++k, ++bit) {
            if (bit % 8 == 0) codes.push_back(0);
            codes.back() = static_cast<std::uint8_t>(codes.back() | (digit >> k & 1) << (bit % 8));
        }
}

OracleCodes oracle_codes(const LatticeCode& code, const std::vector<float>& x, std::size_t width) {
    const std::size_t d = dimension(code.lattice);
    if (width == 0) width = d;
    OracleCodes out;
    std::size_t bit = 0, index = 0;
    for (std::size_t row = 0; row < x.size() / width; ++row)
        for (std::size_t column = 0; column < width; column += d, ++index) {
            std::array<float, 8> tile{};
            for (std::size_t i = 0; i < d && column + i < width; ++i) tile[i] = x[row * width + column + i];
            const OracleVector v = oracle_vector(code, tile.data(), index);
            append_digits(out.codes, bit, v.digits, weft::digit_bits(code));
            out.status.push_back(v.status);
            out.near_tie.push_back(v.near_tie);
            for (std::size_t i = 0; i < d && column + i < width; ++i) out.values.push_back(v.value[i]);
        }
    return out;
}

std::vector<float> dyadic_values(std::size_t count, float range, std::uint64_t seed) {
    std::vector<float> x(count);
    std::uint64_t state = seed * 2 + 1;
    for (float& v : x) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const auto step = static_cast<std::int64_t>(state >> 43) % 2048 - 1024;
        // Coarse numbers are more frequent than fine ones, for ties.
        const std::int64_t grain = state >> 33 & 3 ? 256 : 1;
        v = static_cast<float>(step / grain * grain) / 1024.0f * range;
    }
    return x;
}

std::vector<float> normal_values(std::size_t count, std::uint64_t seed) {
    std::vector<float> x(count);
    std::uint64_t state = seed * 2 + 1;
    for (float& v : x) {
        std::int64_t sum = 0;
        for (int i = 0; i < 4; ++i) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            sum += static_cast<std::int64_t>(state >> 42) - (1 << 21);
        }
        v = static_cast<float>(sum) * 4.1295e-7f;  // sqrt(3) / 2^22 for four
    }
    return x;
}

}  // namespace weft_test
