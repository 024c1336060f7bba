// SPDX-License-Identifier: Apache-2.0
// One thread's loop over what the field shaders do, made from the functions that they share: what a device is
// compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <weft/weft.hpp>

#include "shaders/field/field_table.h"

namespace cpu {

using namespace weft::shared;
using weft::FieldForm;
using weft::FieldOp;

// Sums in 64-bit limbs and products in 64-bit columns where a size of element has them.
struct Words1 {
    using Element = Limbs1x32;
    using Columns = PairColumns1x32;
    static constexpr uint kOften = kProducts1x32, kMost = kProductsTotal1x32;
    static Element wide(Element x) { return x; }
    static Element narrow(Element x) { return x; }
    static Element mul(Element x, Element y, Element p, uint n0) { return montgomery_in_pairs(x, y, p, n0); }
    static Element total(Columns sum, Element p, uint n0) { return column_total_in_pairs(sum, p, n0); }
};
#define WEFT_CPU_WORDS(words, wide_limbs, columns, to_wide, to_narrow)                                   \
    struct Words##words {                                                                                \
        using Element = Limbs##words##x32;                                                               \
        using Columns = columns;                                                                         \
        static constexpr uint kOften = kProducts##words##x32, kMost = kProductsTotal##words##x32;        \
        static wide_limbs wide(Element x) { return to_wide(x); }                                         \
        static Element narrow(wide_limbs x) { return to_narrow(x); }                                     \
        static Element mul(Element x, Element y, Element p, uint n0) {                                   \
            return montgomery_in_64(x, y, p, n0);                                                        \
        }                                                                                                \
        static Element total(Columns sum, Element p, uint n0) { return column_total_in_64(sum, p, n0); } \
    };
WEFT_CPU_WORDS(2, Limbs1x64, Columns3x28, limbs1x64, limbs2x32)
WEFT_CPU_WORDS(8, Limbs4x64, Columns9x29, limbs4x64, limbs8x32)
WEFT_CPU_WORDS(12, Limbs6x64, Columns14x28, limbs6x64, limbs12x32)
#undef WEFT_CPU_WORDS

template <class Words>
class Loop {
  public:
    using Element = typename Words::Element;

    Loop(const FieldConstants& field, FieldForm form, const std::vector<std::uint32_t>& scalar)
        : f_(field), plain_(form == FieldForm::plain), p_(constant(f_.p)) {
        std::memcpy(&scalar_, scalar.data(), sizeof scalar_);
        if (plain_) scalar_ = mul(scalar_, constant(f_.r_squared));
    }

    /// `n` elements of a and b to n of out, for reductions to one.
    void run(FieldOp op, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* out,
             std::size_t n) const {
        if (op == FieldOp::inverse) return invert(a, out, n);
        if (op == FieldOp::sum) return put(out, 0, sum(a, n));
        if (op == FieldOp::inner_product) return put(out, 0, inner_product(a, b, n));
        for (std::size_t i = 0; i < n; ++i) put(out, i, apply(op, at(a, i), at(b, i)));
    }

  private:
    static Element constant(const FieldWords& words) { return limbs_from<Element>(words); }
    static Element at(const std::uint32_t* array, std::size_t i) {
        Element x;
        std::memcpy(&x, array + i * (sizeof x / 4), sizeof x);
        return x;
    }
    static void put(std::uint32_t* array, std::size_t i, const Element& x) {
        std::memcpy(array + i * (sizeof x / 4), &x, sizeof x);
    }

    Element mul(const Element& x, const Element& y) const { return Words::mul(x, y, p_, f_.n0); }
    Element product(const Element& x, const Element& y) const {
        return plain_ ? mul(mul(x, y), constant(f_.r_squared)) : mul(x, y);
    }
    Element add(const Element& x, const Element& y) const {
        return Words::narrow(add_mod(Words::wide(x), Words::wide(y), Words::wide(p_)));
    }
    Element apply(FieldOp op, const Element& x, const Element& y) const {
        switch (op) {
            case FieldOp::add:
                return add(x, y);
            case FieldOp::sub:
                return Words::narrow(sub_mod(Words::wide(x), Words::wide(y), Words::wide(p_)));
            case FieldOp::neg:
                return Words::narrow(neg_mod(Words::wide(x), Words::wide(p_)));
            case FieldOp::square:
                return product(x, x);
            case FieldOp::to_montgomery:
                return mul(x, constant(f_.r_squared));
            case FieldOp::from_montgomery:
                return mul(x, constant({{1}}));
            case FieldOp::axpy:
                return add(mul(scalar_, x), y);
            default:
                return product(x, y);
        }
    }

    Element sum(const std::uint32_t* a, std::size_t n) const {
        Element total{};
        for (std::size_t i = 0; i < n; ++i) total = add(total, at(a, i));
        return total;
    }
    Element inner_product(const std::uint32_t* a, const std::uint32_t* b, std::size_t n) const {
        Element total{};
        for (std::size_t first = 0; first < n; first += Words::kMost) {
            typename Words::Columns sum;
            clear_columns(sum);
            const std::size_t end = n - first > Words::kMost ? first + Words::kMost : n;
            for (std::size_t i = first; i < end; ++i) {
                add_product(sum, at(a, i), at(b, i), p_, f_.n0);
                if ((i - first) % Words::kOften == Words::kOften - 1) settle_columns(sum);
            }
            settle_columns(sum);
            total = add(total, Words::total(sum, p_, f_.n0));
        }
        return mul(total, constant(plain_ ? f_.plain_total : f_.montgomery_total));
    }

    Element power_p_minus_2(const Element& x) const {
        Element two{};
        two.limb[0] = 2;
        const Element exponent = Words::narrow(sub_mod(Words::wide(p_), Words::wide(two), Words::wide(p_)));
        Element power = x;
        for (uint bit = f_.bits - 1; bit-- > 0;) {
            power = mul(power, power);
            if ((exponent.limb[bit / 32] >> (bit % 32) & 1u) != 0) power = mul(power, x);
        }
        return power;
    }
    // As field_inverse.comp: the inverse of a product of many, of which each takes its own.
    void invert(const std::uint32_t* a, std::uint32_t* out, std::size_t n) const {
        constexpr std::size_t kBatch = 32;
        const Element factor = constant(plain_ ? f_.r_inverse : f_.r), zero{};
        const auto is_zero = [&](const Element& x) { return std::memcmp(&x, &zero, sizeof x) == 0; };
        for (std::size_t first = 0; first < n; first += kBatch) {
            const std::size_t taken = n - first < kBatch ? n - first : kBatch;
            Element before[kBatch], all = factor;
            for (std::size_t k = 0; k < taken; ++k) {
                before[k] = all;
                const Element x = at(a, first + k);
                if (!is_zero(x)) all = mul(all, x);
            }
            Element inverse = mul(power_p_minus_2(all), factor);
            for (std::size_t k = taken; k-- > 0;) {
                const Element x = at(a, first + k);
                put(out, first + k, is_zero(x) ? zero : mul(inverse, before[k]));
                if (!is_zero(x)) inverse = mul(inverse, x);
            }
        }
    }

    const FieldConstants& f_;
    bool plain_;
    Element p_, scalar_;
};

/// Runs `op` on the first `n` elements of a and b, in 32-bit words, on the calling thread.
inline void run(weft::Field field, FieldForm form, FieldOp op, const std::vector<std::uint32_t>& a,
                const std::vector<std::uint32_t>& b, const std::vector<std::uint32_t>& scalar, std::size_t n,
                std::vector<std::uint32_t>& out) {
    const FieldConstants& f = kFieldTable[static_cast<std::size_t>(field)];
    const auto loop = [&]<class Words>(Words) {
        Loop<Words>(f, form, scalar).run(op, a.data(), b.data(), out.data(), n);
    };
    switch (f.words) {
        case 1:
            loop(Words1());
            break;
        case 2:
            loop(Words2());
            break;
        case 8:
            loop(Words8());
            break;
        default:
            loop(Words12());
    }
}

}  // namespace cpu
