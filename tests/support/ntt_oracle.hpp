// SPDX-License-Identifier: Apache-2.0
// Transforms by the textbook: sums over all pairs of indices, and the recursive fast transform, which larger
// sizes are compared with. Products are long multiplication with a division by the modulus; nothing is in
// Montgomery form.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <weft/ops/ntt.hpp>

namespace weft_test {

/// Least significant word first; one word more than the largest element.
using Big = std::array<std::uint32_t, 14>;

/// Arithmetic modulo p.
class Modulus {
  public:
    explicit Modulus(weft::Field field);

    const weft::FieldInfo& info() const { return info_; }
    const Big& p() const { return p_; }

    Big add(const Big& a, const Big& b) const;
    Big negated(const Big& a) const { return a == Big{} ? a : plain_minus(p_, a); }
    Big sub(const Big& a, const Big& b) const { return add(a, negated(b)); }

    /// Horner's rule over the words of a. Each step divides a number below 2^33 * p by p: the quotient of the
    /// leading bits is never too large, and at most a few too small.
    Big mul(const Big& a, const Big& b) const;
    Big power(Big x, std::uint64_t exponent) const;
    Big inverse(const Big& x) const;

    static Big number(std::uint64_t value);
    static Big one() { return number(1); }
    Big random(std::mt19937_64& source) const;

    static bool less(const Big& a, const Big& b);

  private:
    __extension__ using Wide = unsigned __int128;

    static Big plain_minus(const Big& a, const Big& b);
    /// a - times * p, for times below 2^35.
    Big without(const Big& a, std::uint64_t times) const;
    /// a / 2^shift_.
    Wide from_bit(const Big& a) const;

    const weft::FieldInfo& info_;
    Big p_{};
    std::size_t words_ = 0, shift_ = 0;
    std::uint64_t top_ = 0;
};

Big big_of(const std::array<std::uint64_t, 6>& limbs);

/// sum over i of x[i] * (g * w^j)^i for one j.
Big value_at(const Modulus& m, std::span<const Big> x, const Big& w, const Big& g, std::uint64_t j);

/// For every j: the definition.
std::vector<Big> slow_transform(const Modulus& m, std::span<const Big> x, const Big& w, const Big& g,
                                std::size_t points);

/// Even and odd coefficients apart.
std::vector<Big> fast_transform(const Modulus& m, const std::vector<Big>& x, const Big& w);

/// The values on the coset of x, with zeros up to `points`.
std::vector<Big> forward_transform(const Modulus& m, std::vector<Big> x, const Big& w, const Big& g,
                                   std::size_t points);

std::size_t reversed(std::size_t index, std::uint32_t bits);
std::vector<Big> reversed(const std::vector<Big>& x, std::uint32_t bits);

struct TransformBatch {
    std::vector<std::vector<Big>> x, values;  ///< coefficients, and values on the powers of w
};

/// Random coefficients and their transforms, with the root of ntt_root.
TransformBatch transform_batch(const Modulus& m, std::uint32_t log_size, std::size_t count);

/// Each vector, bit-reversed if `reverse`.
std::vector<std::vector<Big>> in_order(std::vector<std::vector<Big>> batch, bool reverse, std::uint32_t bits);

/// Elements of a batch of vectors in the layout of a call, and back.
template <class Limb>
std::vector<Limb> laid_out(const Modulus& m, const std::vector<std::vector<Big>>& batch,
                           weft::NttLayout layout) {
    const std::size_t limbs = m.info().limbs, n = batch.front().size();
    std::vector<Limb> all(batch.size() * n * limbs);
    for (std::size_t b = 0; b < batch.size(); ++b)
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t at = layout == weft::NttLayout::rows ? b * n + i : i * batch.size() + b;
            std::memcpy(all.data() + at * limbs, batch[b][i].data(), m.info().element_bytes);
        }
    return all;
}

template <class Limb>
std::vector<Limb> limbs_of(const Modulus& m, const Big& value) {
    return laid_out<Limb>(m, {{value}}, weft::NttLayout::rows);
}

}  // namespace weft_test
