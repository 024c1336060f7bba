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

constexpr std::size_t kGrain = 4096;  // elements per thread: about as long as starting it

/// One operation over elements of N limbs.
template <class Limb, std::size_t N>
class FieldLoop {
  public:
    using Numbers = Modulus<Limb, N>;
    using Element = typename Numbers::Element;

    FieldLoop(const Numbers& numbers, const CpuFieldJob<Limb>& job, unsigned threads)
        : numbers_(numbers), job_(job), plain_(job.form == FieldForm::plain), threads_(threads) {}

    void run(FieldOp op) const {
        const Element scalar = job_.scalar.empty() ? Element{} : at(job_.scalar, 0);
        switch (op) {
            case FieldOp::add:
                return each([&](const Element& x, const Element& y) { return numbers_.add(x, y); });
            case FieldOp::sub:
                return each([&](const Element& x, const Element& y) { return numbers_.sub(x, y); });
            case FieldOp::neg:
                return each([&](const Element& x, const Element&) { return numbers_.sub(Element{}, x); });
            case FieldOp::mul:
                return each([&](const Element& x, const Element& y) { return product(x, y); });
            case FieldOp::square:
                return each([&](const Element& x, const Element&) { return product(x, x); });
            case FieldOp::to_montgomery:
                return each([&](const Element& x, const Element&) {
                    return numbers_.montgomery(x, numbers_.r_squared());
                });
            case FieldOp::from_montgomery:
                return each([&](const Element& x, const Element&) { return numbers_.montgomery(x, {1}); });
            case FieldOp::axpy:
                return each(
                    [&](const Element& x, const Element& y) { return numbers_.add(product(scalar, x), y); });
            case FieldOp::sum:
                return put(0, total([](const Element& x, const Element&) { return x; }));
            case FieldOp::inner_product: {
                const Element over_r =
                    total([&](const Element& x, const Element& y) { return numbers_.montgomery(x, y); });
                return put(0, plain_ ? numbers_.montgomery(over_r, numbers_.r_squared()) : over_r);
            }
            case FieldOp::inverse:
                return parallel_for(elements(), kGrain / 16, threads_,
                                    [&](std::size_t first, std::size_t last) { invert(first, last); });
        }
    }

  private:
    std::size_t elements() const { return job_.a.size() / N; }
    static Element at(std::span<const Limb> from, std::size_t i) {
        Element x;
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(i * N), N, x.begin());
        return x;
    }
    void put(std::size_t i, const Element& x) const {
        std::copy_n(x.begin(), N, job_.out.begin() + static_cast<std::ptrdiff_t>(i * N));
    }
    Element product(const Element& x, const Element& y) const {
        return plain_ ? numbers_.mul(x, y) : numbers_.montgomery(x, y);
    }
    template <class Operation>
    void each(Operation&& operation) const {
        parallel_for(elements(), kGrain, threads_, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i)
                put(i, operation(at(job_.a, i), job_.b.empty() ? Element{} : at(job_.b, i)));
        });
    }
    template <class Term>
    Element total(Term&& term) const {
        std::mutex mutex;
        Element all{};
        parallel_for(elements(), kGrain, threads_, [&](std::size_t first, std::size_t last) {
            Element part{};
            for (std::size_t i = first; i < last; ++i)
                part = numbers_.add(part, term(at(job_.a, i), job_.b.empty() ? Element{} : at(job_.b, i)));
            const std::lock_guard lock(mutex);
            all = numbers_.add(all, part);
        });
        return all;
    }
    /// Up to 32 elements share one power p - 2, which is that of their product (Montgomery 1987); 0 gives 0.
    void invert(std::size_t first, std::size_t last) const {
        constexpr std::size_t kBatch = 32;
        for (; first < last; first += kBatch) {
            const std::size_t count = std::min(kBatch, last - first);
            Element before[kBatch], all = numbers_.montgomery(numbers_.r_squared(), {1});
            for (std::size_t k = 0; k < count; ++k) {
                before[k] = all;
                if (const Element x = at(job_.a, first + k); x != Element{})
                    all = numbers_.montgomery(all, x);
            }
            // R^2 over the product is the inverse in Montgomery form. Each result takes its own factor from
            // it.
            Element inverse = numbers_.power_of_p_less_2(all);
            for (int i = 0; plain_ && i < 2; ++i) inverse = numbers_.montgomery(inverse, {1});
            for (std::size_t k = count; k-- > 0;) {
                const Element x = at(job_.a, first + k);
                put(first + k, x == Element{} ? x : numbers_.montgomery(inverse, before[k]));
                if (x != Element{}) inverse = numbers_.montgomery(inverse, x);
            }
        }
    }

    const Numbers& numbers_;
    const CpuFieldJob<Limb>& job_;
    bool plain_;
    unsigned threads_;
};

template <class Limb, std::size_t N>
void run_loop(const FieldInfo& field, FieldOp op, const CpuFieldJob<Limb>& job, unsigned threads) {
    FieldLoop<Limb, N>(modulus_of<Limb, N>(field), job, threads).run(op);
}

/// SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t random(std::uint64_t& state) {
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

}  // namespace

template <class Limb>
void cpu_field(const FieldInfo& field, FieldOp op, const CpuFieldJob<Limb>& job, unsigned threads) {
    if (field.limb_bytes != sizeof(Limb)) throw std::invalid_argument("cpu_field: limbs of another size");
    if constexpr (sizeof(Limb) == 8) {
        if (field.limbs == 4) return run_loop<Limb, 4>(field, op, job, threads);
        if (field.limbs == 6) return run_loop<Limb, 6>(field, op, job, threads);
    }
    if (field.limbs != 1) throw std::invalid_argument("cpu_field: no field has that many limbs");
    run_loop<Limb, 1>(field, op, job, threads);
}
template void cpu_field(const FieldInfo&, FieldOp, const CpuFieldJob<std::uint32_t>&, unsigned);
template void cpu_field(const FieldInfo&, FieldOp, const CpuFieldJob<std::uint64_t>&, unsigned);

template <class Limb>
void fill_field(const FieldInfo& field, std::uint64_t seed, std::span<Limb> out) {
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
template void fill_field(const FieldInfo&, std::uint64_t, std::span<std::uint32_t>);
template void fill_field(const FieldInfo&, std::uint64_t, std::span<std::uint64_t>);

}  // namespace weft::tool
