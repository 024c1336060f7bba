// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo any prime by adding, doubling and halving 32-bit words: slow, and nothing in common with
// the kernels it judges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <weft/weft.hpp>

namespace reference {

using Words = std::vector<std::uint32_t>;  // least significant first

class AnyField {
  public:
    explicit AnyField(const weft::FieldInfo& field) : words_(field.element_bytes / 4), p_(words_) {
        for (std::size_t i = 0; i < words_; ++i)
            p_[i] = static_cast<std::uint32_t>(field.modulus[i / 2] >> (i % 2 * 32));
        r_ = number(1);
        inverse_r_ = number(1);
        for (std::size_t i = 0; i < 32 * words_; ++i) {
            r_ = add(r_, r_);
            inverse_r_ = half(inverse_r_);
        }
    }

    Words number(std::uint32_t v) const {
        Words n(words_);
        n[0] = v;
        return n;
    }
    const Words& r() const { return r_; }

    Words add(const Words& x, const Words& y) const {
        const auto [sum, carry] = plus(x, y);
        const auto [less, borrow] = minus(sum, p_);
        return carry >= borrow ? less : sum;
    }
    Words sub(const Words& x, const Words& y) const {
        const auto [difference, borrow] = minus(x, y);
        return borrow != 0 ? plus(difference, p_).first : difference;
    }
    Words times(const Words& x, const Words& y) const {
        Words product = number(0);
        for (std::size_t bit = 32 * words_; bit-- > 0;) {
            product = add(product, product);
            if ((y[bit / 32] >> (bit % 32) & 1) != 0) product = add(product, x);
        }
        return product;
    }
    /// The product of two values of this form, in this form.
    Words mul(const Words& x, const Words& y, weft::FieldForm form) const {
        const Words product = times(x, y);
        return form == weft::FieldForm::plain ? product : times(product, inverse_r_);
    }

  private:
    using Carry = std::pair<Words, std::uint32_t>;
    Carry plus(const Words& x, const Words& y) const {
        Words sum(words_);
        std::uint64_t carry = 0;
        for (std::size_t i = 0; i < words_; ++i) {
            carry += std::uint64_t{x[i]} + y[i];
            sum[i] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        return {sum, static_cast<std::uint32_t>(carry)};
    }
    Carry minus(const Words& x, const Words& y) const {
        Words difference(words_);
        std::int64_t borrow = 0;
        for (std::size_t i = 0; i < words_; ++i) {
            borrow += std::int64_t{x[i]} - y[i];
            difference[i] = static_cast<std::uint32_t>(borrow);
            borrow >>= 32;
        }
        return {difference, borrow < 0 ? 1u : 0u};
    }
    Words half(const Words& x) const {
        auto [even, carry] = (x[0] & 1) != 0 ? plus(x, p_) : Carry(x, 0);
        for (std::size_t i = 0; i < words_; ++i) {
            const std::uint32_t above = i + 1 < words_ ? even[i + 1] : carry;
            even[i] = even[i] >> 1 | above << 31;
        }
        return even;
    }

    std::size_t words_;
    Words p_, r_, inverse_r_;
};

/// Whether out is what `op` makes of a and b, on `samples` elements from the first to the last. Reductions
/// are judged elsewhere.
inline bool right(const AnyField& field, weft::FieldOp op, weft::FieldForm form, const Words& a,
                  const Words& b, const Words& out, const Words& scalar, std::size_t samples) {
    const std::size_t words = scalar.size(), elements = a.size() / words;
    for (std::size_t s = 0; s < samples; ++s) {
        const std::size_t i = s * (elements - 1) / (samples > 1 ? samples - 1 : 1);
        const auto of = [&](const Words& v) {
            const auto begin = v.begin() + static_cast<std::ptrdiff_t>(i * words);
            return Words(begin, begin + static_cast<std::ptrdiff_t>(words));
        };
        const Words x = of(a), y = of(b), z = of(out),
                    one = form == weft::FieldForm::plain ? field.number(1) : field.r();
        bool same = false;
        switch (op) {
            case weft::FieldOp::add:
                same = z == field.add(x, y);
                break;
            case weft::FieldOp::sub:
                same = z == field.sub(x, y);
                break;
            case weft::FieldOp::neg:
                same = z == field.sub(field.number(0), x);
                break;
            case weft::FieldOp::mul:
                same = z == field.mul(x, y, form);
                break;
            case weft::FieldOp::square:
                same = z == field.mul(x, x, form);
                break;
            case weft::FieldOp::to_montgomery:
                same = z == field.times(x, field.r());
                break;
            case weft::FieldOp::from_montgomery:
                same = x == field.times(z, field.r());
                break;
            case weft::FieldOp::axpy:
                same = z == field.add(field.mul(scalar, x, form), y);
                break;
            case weft::FieldOp::inverse:
                same = field.mul(x, z, form) == (x == field.number(0) ? field.number(0) : one);
                break;
            default:
                break;
        }
        if (!same) return false;
    }
    return true;
}

/// The sum of all elements, below 2^32 of them: word by word in 64 bits, reduced at the end.
inline Words sum(const AnyField& field, const Words& values, std::size_t words) {
    std::vector<std::uint64_t> columns(words);
    for (std::size_t i = 0; i < values.size(); i += words)
        for (std::size_t w = 0; w < words; ++w) columns[w] += values[i + w];
    const Words one = field.number(1);
    const auto shifted = [&](Words x) {
        for (int bit = 0; bit < 32; ++bit) x = field.add(x, x);
        return x;
    };
    const auto reduced = [&](std::uint64_t x) {
        return field.times(one, field.number(static_cast<std::uint32_t>(x)));
    };
    Words total = field.number(0);
    for (std::size_t w = words; w-- > 0;)
        total = field.add(shifted(total), field.add(shifted(reduced(columns[w] >> 32)), reduced(columns[w])));
    return total;
}

}  // namespace reference
