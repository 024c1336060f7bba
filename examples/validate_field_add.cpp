// SPDX-License-Identifier: Apache-2.0
// Validates field_add on this machine: values that break wrong carry chains, then random ones, against an
// implementation of its own that works digit by digit. Exit code 1 on any mismatch.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace {

// 96 hexadecimal digits, least significant first.
using Digits = std::vector<int>;
using Limbs = std::vector<std::uint64_t>;

Digits digits(const std::string& hex) {
    Digits d(96, 0);
    for (std::size_t i = 0; i < hex.size(); ++i)
        d[i] = static_cast<int>(std::string("0123456789abcdef").find(hex[hex.size() - 1 - i]));
    return d;
}

// x + sign * y on digits; `left` is the carry (1) or borrow (-1) past the top.
Digits combine(const Digits& x, const Digits& y, int sign, int& left) {
    Digits r(96);
    left = 0;
    for (std::size_t i = 0; i < 96; ++i) {
        const int v = x[i] + sign * y[i] + left;
        r[i] = v & 15;
        left = v >> 4;
    }
    return r;
}

const std::string kP =
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab";

Digits minus(const Digits& x, const Digits& y) {
    int left = 0;
    return combine(x, y, -1, left);
}

bool below_p(const Digits& x) {
    int left = 0;
    combine(x, digits(kP), -1, left);
    return left < 0;
}

Digits add_mod(const Digits& x, const Digits& y) {
    int left = 0;
    const Digits sum = combine(x, y, 1, left);
    return below_p(sum) ? sum : minus(sum, digits(kP));
}

void append(Limbs& limbs, const Digits& d) {
    for (std::size_t limb = 0; limb < 6; ++limb) {
        std::uint64_t v = 0;
        for (std::size_t i = 16; i-- > 0;) v = v << 4 | static_cast<std::uint64_t>(d[limb * 16 + i]);
        limbs.push_back(v);
    }
}

// 0, p - 1, and around every 32-bit limb: powers, runs of ones, sums that hit p or miss it by one limb.
std::vector<Digits> directed() {
    const Digits zero = digits("0"), one = digits("1"), p = digits(kP);
    std::vector<Digits> values = {zero, minus(p, one), minus(p, digits("2"))};
    for (std::size_t at = 0; at < 96; at += 8) {
        const Digits power = digits("1" + std::string(at, '0'));
        const Digits ones = digits("ffffffff" + std::string(at == 88 ? 0 : at, '0'));
        for (const Digits& v : {power, minus(power, one), ones, minus(p, power), minus(p, ones)})
            if (below_p(v)) values.push_back(v);
    }
    return values;
}

std::size_t validate(weft::Backend& backend, const char* name, const std::vector<Digits>& x,
                     const std::vector<Digits>& y) {
    Limbs a, b, want;
    for (std::size_t i = 0; i < x.size(); ++i) {
        append(a, x[i]);
        append(b, y[i]);
        append(want, add_mod(x[i], y[i]));
    }
    Limbs out(a.size());
    weft::field_add(backend, a, b, out, {.checked = true});
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < out.size(); i += 6) wrong += !std::equal(&out[i], &out[i] + 6, &want[i]);
    std::printf("%-9s %7zu pairs, %zu wrong\n", name, x.size(), wrong);
    return wrong;
}

}  // namespace

int main() try {
    weft::Backend backend;
    std::printf("%s, driver %s\n", backend.name().c_str(), backend.device().driver.c_str());
    std::vector<Digits> x, y;
    for (const Digits& v : directed())
        for (const Digits& w : directed()) {
            x.push_back(v);
            y.push_back(w);
        }
    std::size_t wrong = validate(backend, "directed", x, y);
    std::mt19937_64 random(1);
    for (const std::size_t count : {4u, 64u, 1024u, 4096u}) {
        for (auto* side : {&x, &y}) {
            side->assign(count, Digits(96));
            for (Digits& d : *side) do
                    for (std::size_t i = 0; i < 96; ++i)
                        d[i] = static_cast<int>(random() >> 60) & (i == 95 ? 1 : 15);
                while (!below_p(d));
        }
        wrong += validate(backend, "random", x, y);
    }
    return wrong == 0 ? 0 : 1;
} catch (const weft::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
