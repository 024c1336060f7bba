// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu_ntt.hpp"

#include <algorithm>

#include <weft/ops/ntt.hpp>

#include "cpu/cpu_modulus.hpp"
#include "cpu/cpu_threads.hpp"

namespace weft::tool {
namespace {

constexpr std::size_t kGrain = 4096;  // butterflies per thread: about as long as waking it
constexpr std::size_t kBlockBytes = 64
                                    << 10;  // a block of elements and its powers stay in the cache of a core

/// Butterflies of decimation in frequency (Gentleman, Sande 1966) over elements of N limbs.
template <class Limb, std::size_t N>
class Butterflies {
  public:
    Butterflies(const Modulus<Limb, N>& numbers, std::span<const Limb> powers, std::span<Limb> batch)
        : numbers_(numbers), powers_(powers), batch_(batch) {}

    void run(std::uint32_t log_size, unsigned threads) const {
        const std::size_t elements = batch_.size() / N;
        // All threads share each step, until what is left of a transform falls into small blocks.
        std::size_t half = std::size_t{1} << log_size >> 1;
        for (; half * 2 * N * sizeof(Limb) > kBlockBytes; half /= 2)
            parallel_for(elements / 2, kGrain, threads, [&](std::size_t first, std::size_t last) {
                for (std::size_t i = first; i < last; ++i) {
                    const std::size_t j = i & (half - 1);
                    butterfly(2 * i - j, half, j);
                }
            });
        parallel_for(elements / (2 * half), std::max<std::size_t>(kGrain / half, 1), threads,
                     [&](std::size_t first, std::size_t last) {
                         for (std::size_t b = first; b < last; ++b) block(b * 2 * half, half);
                     });
    }

  private:
    /// The steps that are left in 2 * half elements.
    void block(std::size_t first, std::size_t half) const {
        const std::size_t end = first + 2 * half;
        for (; half != 0; half /= 2)
            for (std::size_t begin = first; begin < end; begin += 2 * half)
                for (std::size_t j = 0; j < half; ++j) butterfly(begin + j, half, j);
    }
    /// The powers are in Montgomery form, so their products with plain values are plain.
    void butterfly(std::size_t i, std::size_t half, std::size_t j) const {
        const auto x = element_at<Limb, N>(batch_, i), y = element_at<Limb, N>(batch_, i + half);
        put_element<Limb, N>(batch_, i, numbers_.add(x, y));
        put_element<Limb, N>(batch_, i + half,
                             numbers_.montgomery(numbers_.sub(x, y), element_at<Limb, N>(powers_, half + j)));
    }

    const Modulus<Limb, N>& numbers_;
    std::span<const Limb> powers_;
    std::span<Limb> batch_;
};

}  // namespace

/// Entries [h, 2h) are the powers of the root of order 2h, for every h below the size.
template <class Limb>
std::vector<Limb> cpu_ntt_powers(const FieldInfo& field, std::uint32_t log_size) {
    std::vector<Limb> powers(field.limbs << log_size);
    const auto root = ntt_root(field.field, log_size);
    with_modulus<Limb>(field, [&]<std::size_t N>(const Modulus<Limb, N>& numbers) {
        const std::span<Limb> all(powers);
        std::array<Limb, N> w, power = numbers.montgomery(numbers.r_squared(), {1});
        for (std::size_t k = 0; k < N; ++k) w[k] = static_cast<Limb>(root[k]);
        w = numbers.montgomery(w, numbers.r_squared());
        const std::size_t half = std::size_t{1} << log_size >> 1;
        for (std::size_t j = 0; j < half; ++j, power = numbers.montgomery(power, w))
            put_element<Limb, N>(all, half + j, power);
        for (std::size_t i = half; i-- > 1;) put_element<Limb, N>(all, i, element_at<Limb, N>(all, 2 * i));
    });
    return powers;
}
template std::vector<std::uint32_t> cpu_ntt_powers(const FieldInfo&, std::uint32_t);
template std::vector<std::uint64_t> cpu_ntt_powers(const FieldInfo&, std::uint32_t);

template <class Limb>
void cpu_ntt(const FieldInfo& field, std::uint32_t log_size, std::span<const Limb> powers,
             std::span<Limb> batch, unsigned threads) {
    with_modulus<Limb>(field, [&]<std::size_t N>(const Modulus<Limb, N>& numbers) {
        Butterflies<Limb, N>(numbers, powers, batch).run(log_size, threads);
    });
}
template void cpu_ntt(const FieldInfo&, std::uint32_t, std::span<const std::uint32_t>,
                      std::span<std::uint32_t>, unsigned);
template void cpu_ntt(const FieldInfo&, std::uint32_t, std::span<const std::uint64_t>,
                      std::span<std::uint64_t>, unsigned);

}  // namespace weft::tool
