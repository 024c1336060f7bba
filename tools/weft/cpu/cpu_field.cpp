// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu_field.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <stdexcept>

#include "cpu/cpu_threads.hpp"

namespace weft::tool {
namespace {

__extension__ using Wide128 = unsigned __int128;
template <class Limb>
struct Double;
template <>
struct Double<std::uint32_t> {
    using type = std::uint64_t;
};
template <>
struct Double<std::uint64_t> {
    using type = Wide128;
};

/// Arithmetic modulo an odd p of N limbs.
template <class Limb, std::size_t N>
class Modulus {
  public:
    using Element = std::array<Limb, N>;
    using Wide = typename Double<Limb>::type;
    static constexpr unsigned kBits = 8 * sizeof(Limb);

    explicit Modulus(const FieldInfo& field) {
        for (std::size_t i = 0; i < N; ++i) p_[i] = static_cast<Limb>(field.modulus[i]);
        Limb inverse = 1;  // Newton's iteration doubles the bits that are right
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

  private:
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
    /// Less p where it is p or more, without a branch that data could mispredict.
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

/// Made once: it takes as long as hundreds of operations.
template <class Limb, std::size_t N>
const Modulus<Limb, N>& modulus_of(const FieldInfo& field) {
    static std::mutex mutex;
    static std::map<Field, Modulus<Limb, N>> made;
    const std::lock_guard lock(mutex);
    return made.try_emplace(field.field, field).first->second;
}

constexpr std::size_t kGrain = 4096;  // elements a thread: about as long as starting it

template <class Limb, std::size_t N>
void apply(const FieldInfo& field, FieldOp op, std::span<const Limb> a, std::span<const Limb> b,
           std::span<Limb> out, unsigned threads) {
    using Element = typename Modulus<Limb, N>::Element;
    const Modulus<Limb, N>& modulus = modulus_of<Limb, N>(field);
    const auto each = [&](auto&& operation) {
        parallel_for(out.size() / N, kGrain, threads, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first * N; i < last * N; i += N) {
                Element x, y{};
                std::copy_n(a.begin() + static_cast<std::ptrdiff_t>(i), N, x.begin());
                if (!b.empty()) std::copy_n(b.begin() + static_cast<std::ptrdiff_t>(i), N, y.begin());
                const Element z = operation(x, y);
                std::copy_n(z.begin(), N, out.begin() + static_cast<std::ptrdiff_t>(i));
            }
        });
    };
    switch (op) {
        case FieldOp::add:
            return each([&](const Element& x, const Element& y) { return modulus.add(x, y); });
        case FieldOp::sub:
            return each([&](const Element& x, const Element& y) { return modulus.sub(x, y); });
        case FieldOp::neg:
            return each([&](const Element& x, const Element&) { return modulus.sub(Element{}, x); });
        case FieldOp::mul:
            return each([&](const Element& x, const Element& y) { return modulus.mul(x, y); });
        default:
            throw std::invalid_argument("cpu_field: no such operation on the processor");
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t random(std::uint64_t& state) {
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

template <class Limb>
void fill(const FieldInfo& field, std::uint64_t seed, std::span<Limb> out) {
    const std::size_t n = field.limbs;
    for (std::size_t i = 0; i < out.size() / n; ++i) {
        const std::span<Limb> element = out.subspan(i * n, n);
        for (Limb& limb : element) limb = static_cast<Limb>(random(seed));
        element.back() = static_cast<Limb>(element.back() % static_cast<Limb>(field.modulus[n - 1]));
        if (i % 1000 == 1)
            for (std::size_t k = 0; k < n; ++k)  // p is odd, so p - 1 differs from it in one bit
                element[k] = static_cast<Limb>(field.modulus[k] - (k == 0 ? 1 : 0));
        if (i % 1000 == 2) std::fill(element.begin(), element.end(), Limb{0});
    }
}

}  // namespace

void cpu_field(const FieldInfo& field, FieldOp op, std::span<const std::uint64_t> a,
               std::span<const std::uint64_t> b, std::span<std::uint64_t> out, unsigned threads) {
    if (field.limbs == 1) return apply<std::uint64_t, 1>(field, op, a, b, out, threads);
    if (field.limbs == 4) return apply<std::uint64_t, 4>(field, op, a, b, out, threads);
    if (field.limbs == 6) return apply<std::uint64_t, 6>(field, op, a, b, out, threads);
    throw std::invalid_argument("cpu_field: no field of so many limbs");
}

void cpu_field(const FieldInfo& field, FieldOp op, std::span<const std::uint32_t> a,
               std::span<const std::uint32_t> b, std::span<std::uint32_t> out, unsigned threads) {
    apply<std::uint32_t, 1>(field, op, a, b, out, threads);
}

void fill_field(const FieldInfo& field, std::uint64_t seed, std::span<std::uint64_t> out) {
    fill(field, seed, out);
}

void fill_field(const FieldInfo& field, std::uint64_t seed, std::span<std::uint32_t> out) {
    fill(field, seed, out);
}

}  // namespace weft::tool
