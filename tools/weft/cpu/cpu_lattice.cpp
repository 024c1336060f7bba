// SPDX-License-Identifier: Apache-2.0
// Compiled without contraction, because the first rounding must use exactly the operations that
// docs/lattice.md names.
#include "cpu/cpu_lattice.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "cpu/cpu_lattice_points.hpp"
#include "cpu/cpu_threads.hpp"

namespace weft::tool {
namespace {

constexpr std::size_t kBlock = 8;    // vectors: whole bytes for any number of bits per digit
constexpr std::size_t kGrain = 128;  // blocks per thread: about as long as starting it
constexpr std::size_t kMostDigits = 4 * 8;

/// Writes the digits of a vector as bits into a stream of bytes, least significant first.
class BitWriter {
  public:
    BitWriter(std::uint8_t* out, unsigned bits) : out_(out), bits_(bits) {}
    void put(std::uint32_t digit) {
        held_ |= std::uint64_t{digit} << count_;
        for (count_ += bits_; count_ >= 8; count_ -= 8, held_ >>= 8)
            *out_++ = static_cast<std::uint8_t>(held_);
    }
    void finish() {
        if (count_ != 0) *out_ = static_cast<std::uint8_t>(held_);
    }

  private:
    std::uint8_t* out_;
    unsigned bits_, count_ = 0;
    std::uint64_t held_ = 0;
};

class BitReader {
  public:
    BitReader(const std::uint8_t* in, unsigned bits) : in_(in), bits_(bits) {}
    std::int32_t get() {
        for (; count_ < bits_; count_ += 8) held_ |= std::uint64_t{*in_++} << count_;
        const auto digit = static_cast<std::int32_t>(held_ & ((1u << bits_) - 1));
        held_ >>= bits_;
        count_ -= bits_;
        return digit;
    }

  private:
    const std::uint8_t* in_;
    unsigned bits_, count_ = 0;
    std::uint64_t held_ = 0;
};

using Digits = std::array<std::int32_t, kMostDigits>;

template <class Points, class Quotient>
class Codec {
  public:
    static constexpr std::size_t d = Points::d;
    using Point = typename Points::Point;

    Codec(const LatticeCode& code, Quotient quotient)
        : levels_(code.levels), beta_(code.beta), inverse_(1.0f / code.beta), quotient_(quotient) {}

    /// Returns the status.
    std::uint8_t encode(const float* x, Digits& digits) const {
        std::array<float, d> g;
        for (std::size_t i = 0; i < d; ++i) g[i] = std::clamp(x[i] * inverse_, -kReach, kReach);
        Point n = Points::nearest(g);
        for (std::uint32_t m = 0; m < levels_; ++m) {
            const Point b = Points::coordinates(n);
            for (std::size_t i = 0; i < d; ++i) digits[m * d + i] = quotient_.rest(b[i]);
            n = Points::nearest(n, quotient_);
        }
        const bool overload = std::any_of(n.begin(), n.end(), [](std::int32_t v) { return v != 0; });
        return overload ? kLatticeUnresolved : std::uint8_t{0};
    }
    void decode(const Digits& digits, float* x) const {
        Point sum{};
        std::int32_t weight = 1;
        for (std::uint32_t m = 0; m < levels_; ++m, weight *= quotient_.q()) {
            Point b;
            std::copy_n(digits.begin() + m * d, d, b.begin());
            const Point n = Points::point(b), coarse = Points::nearest(n, quotient_);
            for (std::size_t i = 0; i < d; ++i) sum[i] += weight * (n[i] - quotient_.q() * coarse[i]);
        }
        for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<float>(sum[i]) * Points::kUnit * beta_;
    }
    std::size_t digits() const { return levels_ * d; }

  private:
    static constexpr float kReach = 131072.0f;  // coordinates beyond it are clamped to it
    std::uint32_t levels_;
    float beta_, inverse_;
    Quotient quotient_;
};

/// Calls `body(codec)` with the codec that is compiled for the lattice and the kind of base.
template <class Body>
void with_codec(const LatticeCode& code, Body&& body) {
    const auto with = [&]<class Points>() {
        const auto q = static_cast<std::int32_t>(code.q);
        if (std::has_single_bit(code.q))
            body(Codec<Points, ShiftQuotient>(code, ShiftQuotient(q)));
        else
            body(Codec<Points, AnyQuotient>(code, AnyQuotient(q)));
    };
    if (code.lattice == Lattice::z2) with.template operator()<PointsOfZ2>();
    if (code.lattice == Lattice::d4) with.template operator()<PointsOfD4>();
    if (code.lattice == Lattice::e8) with.template operator()<PointsOfE8>();
}

/// Calls `body(first, last)` for ranges of vectors that begin at multiples of kBlock.
void over_blocks(std::size_t vectors, unsigned threads,
                 const std::function<void(std::size_t, std::size_t)>& body) {
    parallel_for((vectors + kBlock - 1) / kBlock, kGrain, threads, [&](std::size_t first, std::size_t last) {
        body(first * kBlock, std::min(last * kBlock, vectors));
    });
}

}  // namespace

void cpu_lattice_encode(const LatticeCode& code, std::span<const float> x, std::span<std::uint8_t> codes,
                        std::span<std::uint8_t> status, unsigned threads) {
    const unsigned bits = digit_bits(code);
    with_codec(code, [&]<class C>(const C& codec) {
        over_blocks(status.size(), threads, [&](std::size_t first, std::size_t last) {
            BitWriter out(codes.data() + first * codec.digits() * bits / 8, bits);
            Digits digits;
            for (std::size_t v = first; v < last; ++v) {
                status[v] = codec.encode(x.data() + v * C::d, digits);
                for (std::size_t i = 0; i < codec.digits(); ++i)
                    out.put(static_cast<std::uint32_t>(digits[i]));
            }
            out.finish();
        });
    });
}

void cpu_lattice_decode(const LatticeCode& code, std::span<const std::uint8_t> codes, std::span<float> x,
                        unsigned threads) {
    const unsigned bits = digit_bits(code);
    with_codec(code, [&]<class C>(const C& codec) {
        over_blocks(x.size() / C::d, threads, [&](std::size_t first, std::size_t last) {
            BitReader in(codes.data() + first * codec.digits() * bits / 8, bits);
            Digits digits;
            for (std::size_t v = first; v < last; ++v) {
                for (std::size_t i = 0; i < codec.digits(); ++i) digits[i] = in.get();
                codec.decode(digits, x.data() + v * C::d);
            }
        });
    });
}

void cpu_lattice_quantize(const LatticeCode& code, std::span<const float> x, std::span<float> y,
                          std::span<std::uint8_t> status, unsigned threads) {
    with_codec(code, [&]<class C>(const C& codec) {
        over_blocks(status.size(), threads, [&](std::size_t first, std::size_t last) {
            Digits digits;
            for (std::size_t v = first; v < last; ++v) {
                status[v] = codec.encode(x.data() + v * C::d, digits);
                codec.decode(digits, y.data() + v * C::d);
            }
        });
    });
}

void fill_lattice(const LatticeCode& code, std::span<float> x) {
    // Values reach up to a third of the range of the code in either direction.
    const double reach = static_cast<double>(code.beta) * std::pow(code.q, code.levels) / 2;
    const auto scale = static_cast<float>(reach / 3 / (1 << 23));
    std::uint32_t state = 1;
    for (float& v : x) {
        state = state * 1664525u + 1013904223u;
        v = static_cast<float>(static_cast<std::int32_t>(state) >> 8) * scale;
    }
}

}  // namespace weft::tool
