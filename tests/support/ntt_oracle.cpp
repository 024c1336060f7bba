// SPDX-License-Identifier: Apache-2.0
#include "support/ntt_oracle.hpp"

namespace weft_test {

Modulus::Modulus(weft::Field field) : info_(weft::field_info(field)) {
    for (std::size_t i = 0; i < 12; ++i)
        p_[i] = static_cast<std::uint32_t>(info_.modulus[i / 2] >> (i % 2 * 32));
    words_ = info_.element_bytes / 4;
    shift_ = info_.bits > 62 ? info_.bits - 62 : 0;
    top_ = static_cast<std::uint64_t>(from_bit(p_));
}

Big Modulus::add(const Big& a, const Big& b) const {
    Big sum{};
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
        carry += std::uint64_t{a[i]} + b[i];
        sum[i] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
    }
    return less(sum, p_) ? sum : without(sum, 1);
}

Big Modulus::mul(const Big& a, const Big& b) const {
    Big r{};
    for (std::size_t i = words_; i-- > 0;) {
        std::uint64_t carry = 0;
        Big next{};
        for (std::size_t k = 0; k < words_ + 2 && k < next.size(); ++k) {
            carry += (k == 0 ? 0 : std::uint64_t{r[k - 1]}) + std::uint64_t{a[i]} * b[k];
            next[k] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        r = without(next, static_cast<std::uint64_t>(from_bit(next) / (static_cast<Wide>(top_) + 1)));
        while (!less(r, p_)) r = without(r, 1);
    }
    return r;
}

Big Modulus::power(Big x, std::uint64_t exponent) const {
    Big r = one();
    for (; exponent != 0; exponent >>= 1, x = mul(x, x))
        if ((exponent & 1) != 0) r = mul(r, x);
    return r;
}

Big Modulus::inverse(const Big& x) const {
    Big exponent = plain_minus(p_, number(2)), r = one();
    for (std::size_t bit = 32 * words_; bit-- > 0;) {
        r = mul(r, r);
        if ((exponent[bit / 32] >> (bit % 32) & 1) != 0) r = mul(r, x);
    }
    return r;
}

Big Modulus::number(std::uint64_t value) {
    Big n{};
    n[0] = static_cast<std::uint32_t>(value);
    n[1] = static_cast<std::uint32_t>(value >> 32);
    return n;
}

Big Modulus::random(std::mt19937_64& source) const {
    Big n{};
    for (std::size_t i = 0; i < words_; ++i) n[i] = static_cast<std::uint32_t>(source() >> 32);
    return mul(n, one());
}

bool Modulus::less(const Big& a, const Big& b) {
    for (std::size_t i = a.size(); i-- > 0;)
        if (a[i] != b[i]) return a[i] < b[i];
    return false;
}

Big Modulus::plain_minus(const Big& a, const Big& b) {
    Big d{};
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i < d.size(); ++i) {
        borrow += std::int64_t{a[i]} - b[i];
        d[i] = static_cast<std::uint32_t>(borrow);
        borrow >>= 32;
    }
    return d;
}

Big Modulus::without(const Big& a, std::uint64_t times) const {
    Big product{};
    Wide carry = 0;
    for (std::size_t i = 0; i < product.size(); ++i) {
        carry += static_cast<Wide>(times) * p_[i];
        product[i] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
    }
    return plain_minus(a, product);
}

Modulus::Wide Modulus::from_bit(const Big& a) const {
    Wide value = 0;
    for (std::size_t bit = 32 * a.size(); bit-- > shift_;)
        value = value << 1 | (a[bit / 32] >> (bit % 32) & 1);
    return value;
}

Big big_of(const std::array<std::uint64_t, 6>& limbs) {
    Big n{};
    for (std::size_t i = 0; i < 12; ++i) n[i] = static_cast<std::uint32_t>(limbs[i / 2] >> (i % 2 * 32));
    return n;
}

Big value_at(const Modulus& m, std::span<const Big> x, const Big& w, const Big& g, std::uint64_t j) {
    const Big point = m.mul(g, m.power(w, j));
    Big value{};
    for (std::size_t i = x.size(); i-- > 0;) value = m.add(m.mul(value, point), x[i]);
    return value;
}

std::vector<Big> slow_transform(const Modulus& m, std::span<const Big> x, const Big& w, const Big& g,
                                std::size_t points) {
    std::vector<Big> values;
    for (std::size_t j = 0; j < points; ++j) values.push_back(value_at(m, x, w, g, j));
    return values;
}

std::vector<Big> fast_transform(const Modulus& m, const std::vector<Big>& x, const Big& w) {
    if (x.size() == 1) return x;
    std::vector<Big> even, odd;
    for (std::size_t i = 0; i < x.size(); i += 2) even.push_back(x[i]), odd.push_back(x[i + 1]);
    const Big square = m.mul(w, w);
    even = fast_transform(m, even, square);
    odd = fast_transform(m, odd, square);
    std::vector<Big> values(x.size());
    Big power = Modulus::one();
    for (std::size_t j = 0; j < even.size(); ++j, power = m.mul(power, w)) {
        const Big other = m.mul(power, odd[j]);
        values[j] = m.add(even[j], other);
        values[j + even.size()] = m.sub(even[j], other);
    }
    return values;
}

std::vector<Big> forward_transform(const Modulus& m, std::vector<Big> x, const Big& w, const Big& g,
                                   std::size_t points) {
    Big power = Modulus::one();
    if (g != Modulus::one())
        for (Big& value : x) value = m.mul(value, power), power = m.mul(power, g);
    x.resize(points);
    return fast_transform(m, x, w);
}

std::size_t reversed(std::size_t index, std::uint32_t bits) {
    std::size_t r = 0;
    for (std::uint32_t i = 0; i < bits; ++i) r = r << 1 | (index >> i & 1);
    return r;
}

std::vector<Big> reversed(const std::vector<Big>& x, std::uint32_t bits) {
    std::vector<Big> r(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) r[reversed(i, bits)] = x[i];
    return r;
}

TransformBatch transform_batch(const Modulus& m, std::uint32_t log_size, std::size_t count) {
    std::mt19937_64 source(log_size * 131 + count);
    const Big w = big_of(weft::ntt_root(m.info().field, log_size));
    TransformBatch batch;
    for (std::size_t b = 0; b < count; ++b) {
        std::vector<Big> x(std::size_t{1} << log_size);
        for (Big& value : x) value = m.random(source);
        batch.values.push_back(forward_transform(m, x, w, Modulus::one(), x.size()));
        batch.x.push_back(std::move(x));
    }
    return batch;
}

std::vector<std::vector<Big>> in_order(std::vector<std::vector<Big>> batch, bool reverse,
                                       std::uint32_t bits) {
    if (reverse)
        for (std::vector<Big>& x : batch) x = reversed(x, bits);
    return batch;
}

}  // namespace weft_test
