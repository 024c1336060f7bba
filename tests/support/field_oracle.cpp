// SPDX-License-Identifier: Apache-2.0
#include "support/field_oracle.hpp"

#include <random>
#include <stdexcept>

namespace weft_test {

Number number(std::string_view hex) {
    Number n;
    if (hex.size() > 96) throw std::invalid_argument("number: more than 96 digits");
    for (std::size_t i = 0; i < hex.size(); ++i) {
        const std::size_t digit = std::string_view("0123456789abcdef").find(hex[hex.size() - 1 - i]);
        if (digit == std::string_view::npos) throw std::invalid_argument("number: not a hexadecimal digit");
        n.byte[i / 2] = static_cast<std::uint8_t>(n.byte[i / 2] | digit << (i % 2 * 4));
    }
    return n;
}

std::string hex(const Number& n) {
    std::string text;
    for (std::size_t i = 96; i-- > 0;) text += "0123456789abcdef"[n.byte[i / 2] >> (i % 2 * 4) & 15];
    const std::size_t first = text.find_first_not_of('0');
    return first == std::string::npos ? "0" : text.substr(first);
}

const Number& fp() {
    static const Number p = number(
        "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab");
    return p;
}

bool less(const Number& a, const Number& b) {
    for (std::size_t i = 48; i-- > 0;)
        if (a.byte[i] != b.byte[i]) return a.byte[i] < b.byte[i];
    return false;
}

Number minus(const Number& a, const Number& b) {
    Number d;
    int borrow = 0;
    for (std::size_t i = 0; i < 48; ++i) {
        const int v = a.byte[i] - b.byte[i] - borrow;
        borrow = v < 0;
        d.byte[i] = static_cast<std::uint8_t>(v & 255);
    }
    return d;
}

std::pair<Number, bool> plus(const Number& a, const Number& b) {
    Number s;
    int carry = 0;
    for (std::size_t i = 0; i < 48; ++i) {
        const int v = a.byte[i] + b.byte[i] + carry;
        carry = v >> 8;
        s.byte[i] = static_cast<std::uint8_t>(v & 255);
    }
    return {s, carry != 0};
}

Number apply(weft::FieldOp op, const Number& a, const Number& b, const Number& p) {
    switch (op) {
        case weft::FieldOp::add: {
            const auto [sum, over] = plus(a, b);
            return over || !less(sum, p) ? minus(sum, p) : sum;
        }
        case weft::FieldOp::sub:
            return less(a, b) ? minus(p, minus(b, a)) : minus(a, b);
        case weft::FieldOp::neg:
            return a == Number{} ? a : minus(p, a);
        default:
            break;
    }
    throw std::invalid_argument("apply: no such operation");
}

Number read(std::span<const std::uint64_t> limbs, std::size_t element) {
    Number n;
    for (std::size_t i = 0; i < 48; ++i)
        n.byte[i] = static_cast<std::uint8_t>(limbs[element * 6 + i / 8] >> (i % 8 * 8));
    return n;
}

void append(std::vector<std::uint64_t>& limbs, const Number& n) {
    for (std::size_t limb = 0; limb < 6; ++limb) {
        std::uint64_t v = 0;
        for (std::size_t i = 8; i-- > 0;) v = v << 8 | n.byte[limb * 8 + i];
        limbs.push_back(v);
    }
}

std::vector<std::uint64_t> expected(weft::FieldOp op, std::span<const std::uint64_t> a,
                                    std::span<const std::uint64_t> b) {
    std::vector<std::uint64_t> out;
    out.reserve(a.size());
    for (std::size_t i = 0; i < a.size() / 6; ++i)
        append(out, apply(op, read(a, i), b.empty() ? Number{} : read(b, i)));
    return out;
}

std::vector<std::uint64_t> random_elements(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> limbs;
    limbs.reserve(count * 6);
    while (limbs.size() < count * 6) {
        Number n;
        for (std::uint8_t& byte : n.byte) byte = static_cast<std::uint8_t>(random() >> 56);
        n.byte[47] &= 31;
        if (less(n, fp())) append(limbs, n);
    }
    return limbs;
}

}  // namespace weft_test
