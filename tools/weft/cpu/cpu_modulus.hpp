// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo the primes of fields, on the processor. It shares no code with the shaders.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <stdexcept>
#include <type_traits>

#include <weft/ops/field_info.hpp>

namespace weft::tool {

/// Arithmetic modulo an odd p of N limbs.
template <class Limb, std::size_t N>
class Modulus {
  public:
    using Element = std::array<Limb, N>;
    __extension__ using Wide128 = unsigned __int128;
    using Wide = std::conditional_t<sizeof(Limb) == 8, Wide128, std::uint64_t>;
    static constexpr unsigned kBits = 8 * sizeof(Limb);

    explicit Modulus(const FieldInfo& field) {
        for (std::size_t i = 0; i < N; ++i) p_[i] = static_cast<Limb>(field.modulus[i]);
        Limb inverse = 1;  // each step of Newton's iteration doubles the number of correct bits
        for (int i = 0; i < 6; ++i) inverse = static_cast<Limb>(inverse * (2 - p_[0] * inverse));
        minus_inverse_ = static_cast<Limb>(0 - inverse);
        r_squared_[0] = 1;
        for (std::size_t i = 0; i < 2 * N * kBits; ++i) r_squared_ = add(r_squared_, r_squared_);
    }

    Element add(const Element& a, const Element& b) const {
        Element sum;
        Limb carry = 0;
        for (std::size_t i = 0; i < N; ++i) {
            const Wide w = Wide{a[i]} + b[i] + carry;
            sum[i] = static_cast<Limb>(w);
            carry = static_cast<Limb>(w >> kBits);
        }
        return reduced(sum, carry);
    }
    Element sub(const Element& a, const Element& b) const {
        Element difference;
        const Limb borrow = minus(a, b, difference);
        const Limb mask = static_cast<Limb>(0 - borrow);
        Limb carry = 0;
        for (std::size_t i = 0; i < N; ++i) {
            const Wide w = Wide{difference[i]} + (p_[i] & mask) + carry;
            difference[i] = static_cast<Limb>(w);
            carry = static_cast<Limb>(w >> kBits);
        }
        return difference;
    }
    /// a b = (a b / R) R^2 / R.
    Element mul(const Element& a, const Element& b) const { return montgomery(montgomery(a, b), r_squared_); }

    const Element& r_squared() const { return r_squared_; }
    /// The inverse of x; both are in Montgomery form.
    Element power_of_p_less_2(const Element& x) const {
        Element two{2}, exponent;
        minus(p_, two, exponent);
        Element power = montgomery(r_squared_, {1});  // 1
        for (std::size_t bit = N * kBits; bit-- > 0;) {
            power = montgomery(power, power);
            if ((exponent[bit / kBits] >> (bit % kBits) & 1) != 0) power = montgomery(power, x);
        }
        return power;
    }
    /// The product over R, limb by limb of b (Koc, Acar, Kaliski 1996: coarsely integrated operand scanning).
    Element montgomery(const Element& a, const Element& b) const {
        std::array<Limb, N + 2> t{};
        for (std::size_t i = 0; i < N; ++i) {
            Limb carry = 0;
            for (std::size_t j = 0; j < N; ++j) t[j] = step(t[j], a[j], b[i], carry);
            Wide top = Wide{t[N]} + carry;
            t[N] = static_cast<Limb>(top);
            t[N + 1] = static_cast<Limb>(top >> kBits);
            const Limb m = static_cast<Limb>(t[0] * minus_inverse_);
            carry = 0;
            step(t[0], m, p_[0], carry);
            for (std::size_t j = 1; j < N; ++j) t[j - 1] = step(t[j], m, p_[j], carry);
            top = Wide{t[N]} + carry;
            t[N - 1] = static_cast<Limb>(top);
            t[N] = static_cast<Limb>(t[N + 1] + static_cast<Limb>(top >> kBits));
        }
        Element low;
        std::copy_n(t.begin(), N, low.begin());
        return reduced(low, t[N]);
    }

  private:
    /// Low half of sum + x y + carry; the high half becomes the carry.
    static Limb step(Limb sum, Limb x, Limb y, Limb& carry) {
        const Wide w = Wide{x} * y + sum + carry;
        carry = static_cast<Limb>(w >> kBits);
        return static_cast<Limb>(w);
    }
    static Limb minus(const Element& a, const Element& b, Element& out) {
        Limb borrow = 0;
        for (std::size_t i = 0; i < N; ++i) {
            const Wide w = Wide{a[i]} - b[i] - borrow;
            out[i] = static_cast<Limb>(w);
            borrow = static_cast<Limb>(w >> kBits) & 1;
        }
        return borrow;
    }
    /// Subtracts p if the value is p or more, without a branch that data could mispredict.
    Element reduced(const Element& a, Limb carry) const {
        Element less;
        const Limb keep = static_cast<Limb>(minus(a, p_, less) & static_cast<Limb>(carry ^ 1));
        const Limb mask = static_cast<Limb>(0 - keep);
        for (std::size_t i = 0; i < N; ++i) less[i] = static_cast<Limb>((a[i] & mask) | (less[i] & ~mask));
        return less;
    }

    Element p_{}, r_squared_{};
    Limb minus_inverse_ = 0;
};

/// Made only once, because it takes as long as hundreds of operations.
template <class Limb, std::size_t N>
const Modulus<Limb, N>& modulus_of(const FieldInfo& field) {
    static std::mutex mutex;
    static std::map<Field, Modulus<Limb, N>> made;
    const std::lock_guard lock(mutex);
    return made.try_emplace(field.field, field).first->second;
}

/// use(modulus) with the Modulus of a field. Errors: std::invalid_argument - Limb is not its limb type.
template <class Limb, class Use>
void with_modulus(const FieldInfo& field, Use&& use) {
    if (field.limb_bytes != sizeof(Limb))
        throw std::invalid_argument("with_modulus: limbs of another size than those of the field");
    if constexpr (sizeof(Limb) == 8) {
        if (field.limbs == 4) return use(modulus_of<Limb, 4>(field));
        if (field.limbs == 6) return use(modulus_of<Limb, 6>(field));
    }
    if (field.limbs != 1) throw std::invalid_argument("with_modulus: no field has that many limbs");
    use(modulus_of<Limb, 1>(field));
}

/// Element i of an array of limbs.
template <class Limb, std::size_t N>
std::array<Limb, N> element_at(std::span<const Limb> from, std::size_t i) {
    std::array<Limb, N> x;
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(i * N), N, x.begin());
    return x;
}
template <class Limb, std::size_t N>
void put_element(std::span<Limb> to, std::size_t i, const std::array<Limb, N>& x) {
    std::copy_n(x.begin(), N, to.begin() + static_cast<std::ptrdiff_t>(i * N));
}

}  // namespace weft::tool
