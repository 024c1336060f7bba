// SPDX-License-Identifier: Apache-2.0
// The fields. This is the only place with the moduli; all other constants are computed from them when C++ or
// CUDA is compiled. GLSL does not read this file: its modules get the same numbers as specialization
// constants.
#ifndef WEFT_SHARED_FIELD_TABLE_H
#define WEFT_SHARED_FIELD_TABLE_H

#include <array>
#include <cstddef>
#include <string_view>

#include "field_12x32.h"
#include "field_1x32.h"
#include "field_2x32.h"
#include "field_8x32.h"

namespace weft::shared {

/// 32-bit words, least significant first. A field uses as many words as its elements have.
struct FieldWords {
    uint word[12];
};

struct FieldConstants {
    std::string_view name;
    uint bits = 0;   // of p
    uint words = 0;  // of an element: 1, 2, 8 or 12
    FieldWords p{};
    uint n0 = 0;             // -1 / p mod 2^32
    FieldWords r{};          // R = 2^(32 * words) mod p: 1 in Montgomery form
    FieldWords r_squared{};  // mod p
    FieldWords r_inverse{};  // mod p
    // The factors that complete the total of columns, for a sum of products of plain values and for one of
    // values in Montgomery form: the reduction of the columns divides by R * 2^spare.
    FieldWords plain_total{}, montgomery_total{};
};

/// -1 / odd mod 2^32. Each step doubles the number of right bits; an odd number is its own inverse mod 8.
constexpr uint negated_inverse(uint odd) {
    uint inverse = odd;
    for (int i = 0; i < 4; ++i) inverse *= 2u - odd * inverse;
    return 0u - inverse;
}

/// The number of bits that the parts of an element have more than its words.
constexpr uint spare_part_bits(uint words) {
    return words == 12 ? 14 * 28 - 384 : words == 8 ? 9 * 29 - 256 : words == 2 ? 3 * 28 - 64 : 0;
}

/// x * 2^times mod p.
constexpr FieldWords doubled(FieldWords x, const FieldWords& p, uint words, uint times) {
    for (; times > 0; --times) {
        uint carry = 0, borrow = 0;
        FieldWords less{};
        for (uint i = 0; i < words; ++i) {
            const uint v = x.word[i] << 1 | carry;
            carry = x.word[i] >> 31;
            x.word[i] = v;
            less.word[i] = v - p.word[i] - borrow;
            borrow = v < p.word[i] || (v == p.word[i] && borrow != 0) ? 1u : 0u;
        }
        if (borrow <= carry) x = less;
    }
    return x;
}

/// x / 2^times mod p: an odd number becomes even by adding p.
constexpr FieldWords halved(FieldWords x, const FieldWords& p, uint words, uint times) {
    for (; times > 0; --times) {
        const uint odd = 0u - (x.word[0] & 1u);
        uint64_t sum = 0;
        for (uint i = 0; i < words; ++i) {
            sum += uint64_t{x.word[i]} + (p.word[i] & odd);
            x.word[i] = uint(sum);
            sum >>= 32;
        }
        for (uint i = 0; i < words; ++i)
            x.word[i] = x.word[i] >> 1 | (i + 1 < words ? x.word[i + 1] : uint(sum)) << 31;
    }
    return x;
}

constexpr FieldConstants make_field(std::string_view name, std::string_view modulus) {
    FieldConstants f;
    f.name = name;
    for (std::size_t i = 0; i < modulus.size(); ++i) {
        const char c = modulus[modulus.size() - 1 - i];
        f.p.word[i / 8] |= static_cast<uint>(c <= '9' ? c - '0' : c - 'a' + 10) << (i % 8 * 4);
    }
    for (uint bit = 0; bit < 384; ++bit)
        if ((f.p.word[bit / 32] >> (bit % 32) & 1u) != 0) f.bits = bit + 1;
    f.words = f.bits <= 31 ? 1 : f.bits <= 64 ? 2 : f.bits <= 255 ? 8 : 12;
    const uint spare = spare_part_bits(f.words);
    const FieldWords one{{1}};
    f.n0 = negated_inverse(f.p.word[0]);
    f.r = doubled(one, f.p, f.words, 32 * f.words);
    f.r_squared = doubled(f.r, f.p, f.words, 32 * f.words);
    f.r_inverse = halved(one, f.p, f.words, 32 * f.words);
    f.montgomery_total = doubled(f.r, f.p, f.words, spare);
    f.plain_total = doubled(f.r_squared, f.p, f.words, spare);
    return f;
}

/// In the order of weft::Field.
inline constexpr std::array kFieldTable{
    make_field(
        "bls12-381-fp",
        "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab"),
    make_field("bls12-381-fr", "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001"),
    make_field("bn254-fp", "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47"),
    make_field("bn254-fr", "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001"),
    make_field(
        "bls12-377-fp",
        "01ae3a4617c510eac63b05c06ca1493b1a22d9f300f5138f1ef3622fba094800170b5d44300000008508c00000000001"),
    make_field("bls12-377-fr", "12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001"),
    make_field("stark252", "0800000000000011000000000000000000000000000000000000000000000001"),
    make_field("goldilocks", "ffffffff00000001"),
    make_field("babybear", "78000001"),
    make_field("koalabear", "7f000001"),
    make_field("mersenne31", "7fffffff"),
};

/// Words as limbs, for the functions of the field's size.
template <class Limbs>
constexpr Limbs limbs_from(const FieldWords& words) {
    Limbs limbs{};
    for (std::size_t i = 0; i < sizeof(Limbs) / sizeof(uint); ++i) limbs.limb[i] = words.word[i];
    return limbs;
}

}  // namespace weft::shared

#endif
