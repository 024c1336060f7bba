// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the shaders that keep tiles in registers, judged by division of 128-bit integers.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <random>

#include "shaders/ntt/ntt_arithmetic.h"

namespace {

using namespace weft::shared;
using Long = unsigned __int128;

constexpr std::uint64_t kP = 0xffffffff00000001;

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>(Long{a} * b % kP);
}
std::uint64_t power_of_2(unsigned exponent) {
    std::uint64_t r = 1;
    for (unsigned i = 0; i < exponent; ++i) r = times(r, 2);
    return r;
}
std::uint64_t number(const Limbs2x32& a) {
    return std::uint64_t{a.limb[1]} << 32 | a.limb[0];
}
Limbs2x32 limbs(std::uint64_t a) {
    return {{static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32)}};
}
std::uint64_t residue(const SpreadGoldilocks& a) {
    std::uint64_t r = 0;
    for (int i = 3; i >= 0; --i) {
        const std::int64_t limb = a.limb[i];
        r = static_cast<std::uint64_t>((Long{times(r, 1 << 24)} + kP + static_cast<Long>(limb)) % kP);
    }
    return r;
}

// Words whose carries and borrows are the longest, and others.
class Words {
  public:
    std::uint32_t word() {
        constexpr std::array<std::uint32_t, 9> kEdges{
            0, 1, 2, 3, 0x7fffffff, 0x80000000, 0xfffffffd, 0xfffffffe, 0xffffffff};
        return random_() % 2 == 0 ? kEdges[random_() % kEdges.size()] : static_cast<std::uint32_t>(random_());
    }
    std::uint64_t number() { return std::uint64_t{word()} << 32 | word(); }
    int limb() {
        constexpr int kMost = (1 << 28) - 1;
        const auto any = static_cast<int>(random_() % (2 * kMost + 1)) - kMost;
        return random_() % 4 == 0 ? kMost : random_() % 3 == 0 ? -kMost : any;
    }
    unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }

  private:
    std::mt19937_64 random_{22};
};

}  // namespace

TEST_CASE("ntt arithmetic: goldilocks in spread limbs") {
    Words words;
    std::array<std::uint64_t, 16> turns{};
    for (unsigned i = 0; i < 16; ++i) turns[i] = power_of_2(12 * i);
    const std::uint64_t per_product = power_of_2(192 - 64);  // 2^192 = 1
    std::uint64_t wrong = 0;
    const auto check = [&](bool right) { wrong += right ? 0 : 1; };
    for (int i = 0; i < 200000; ++i) {
        const std::uint64_t any = words.number(), y = words.number() % kP;
        check(residue(spread_of(limbs(any))) == any % kP);
        check(number(goldilocks_canonical(limbs(any))) == any % kP);
        check(number(goldilocks_lazy_mul(limbs(any), limbs(y))) % kP ==
              times(times(any % kP, y), per_product));
        const SpreadGoldilocks a{{words.limb(), words.limb(), words.limb(), words.limb()}};
        const unsigned by = words.below(16);
        check(residue(spread_turn(a, by)) == times(residue(a), turns[by]));
        check(number(settled(wide_of(a))) % kP == residue(a));
        check(number(wide_mul(wide_of(a), limbs(y))) % kP == times(times(residue(a), y), per_product));
        // Every number that a WideGoldilocks may hold.
        const WideGoldilocks wide{words.word(), words.word(), words.below(1 << 14)};
        const std::uint64_t value =
            static_cast<std::uint64_t>((Long{wide.top} << 64 | Long{wide.middle} << 32 | wide.low) % kP);
        check(number(settled(wide)) % kP == value);
        check(number(wide_mul(wide, limbs(y))) % kP == times(times(value, y), per_product));
    }
    CHECK(wrong == 0);
}

TEST_CASE("ntt arithmetic: products with a quotient") {
    Words words;
    std::uint64_t wrong = 0;
    for (const std::uint32_t p : {0x78000001u, 0x7f000001u})
        for (int i = 0; i < 200000; ++i) {
            const std::uint32_t a = words.word() % p, b = words.word() % p;
            const auto quotient = static_cast<std::uint32_t>((std::uint64_t{b} << 32) / p);
            wrong += lean_scale({{a}}, b, quotient, {{p}}).limb[0] == std::uint64_t{a} * b % p ? 0 : 1;
            // A factor in Montgomery form, 2^32 times itself.
            const Limbs1x32 form{{static_cast<std::uint32_t>((std::uint64_t{b} << 32) % p)}};
            const uvec2 quick = quick_of_montgomery(form, {{p}}, p - 2);  // -1 / p is p - 2
            wrong += quick.x == b && quick.y == quotient ? 0 : 1;
        }
    CHECK(wrong == 0);
}
