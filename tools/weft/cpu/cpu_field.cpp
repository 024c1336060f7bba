// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu_field.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>

#include "cpu/cpu_modulus.hpp"
#include "cpu/cpu_threads.hpp"

namespace weft::tool {
namespace {

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
    static Element at(std::span<const Limb> from, std::size_t i) { return element_at<Limb, N>(from, i); }
    void put(std::size_t i, const Element& x) const { put_element<Limb, N>(job_.out, i, x); }
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
    with_modulus<Limb>(field, [&]<std::size_t N>(const Modulus<Limb, N>& numbers) {
        FieldLoop<Limb, N>(numbers, job, threads).run(op);
    });
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
