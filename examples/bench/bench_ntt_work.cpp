// SPDX-License-Identifier: Apache-2.0
#include "bench_ntt_work.hpp"

#include <random>

#include "bench.hpp"
#include "cpu/cpu_field.hpp"

namespace bench {
namespace {

constexpr std::uint32_t kProducts1[] = {
#include "shaders/ntt_products_1.spv.inc"
};
constexpr std::uint32_t kProducts2[] = {
#include "shaders/ntt_products_2.spv.inc"
};
constexpr std::uint32_t kProducts8[] = {
#include "shaders/ntt_products_8.spv.inc"
};
constexpr std::uint32_t kProducts12[] = {
#include "shaders/ntt_products_12.spv.inc"
};

std::span<const std::uint32_t> products_of(std::uint32_t words) {
    if (words == 1) return kProducts1;
    if (words == 2) return kProducts2;
    if (words == 8) return kProducts8;
    return kProducts12;
}

std::size_t reversed(std::size_t index, std::uint32_t bits) {
    std::size_t r = 0;
    for (std::uint32_t i = 0; i < bits; ++i) r = r << 1 | (index >> i & 1);
    return r;
}

}  // namespace

template <class Limb>
NttWork<Limb>::NttWork(weft::Backend& backend, weft::Field field, std::uint64_t elements, double warm_s)
    : backend_(backend),
      info_(weft::field_info(field)),
      elements_(elements),
      warm_s_(warm_s),
      stream_(backend),
      in_(backend, elements * info_.limbs, "in"),
      out_(backend, elements * info_.limbs, "out") {
    std::vector<Limb> values(elements * info_.limbs);
    weft::tool::fill_field<Limb>(info_, kNttSeed, values);
    stream_.upload(values, in_);
    stream_.wait();
    measure_floors(5);
}

template <class Limb>
typename NttWork<Limb>::Runs NttWork<Limb>::runs_of(const weft::Sequence& steps) {
    return [this, &steps](int times) {
        for (int i = 0; i < times; ++i) stream_.replay(steps);
        stream_.wait();
    };
}

/// Median seconds of one run of each, in turns.
template <class Limb>
std::vector<double> NttWork<Limb>::medians_of(const std::vector<Runs>& all, int repeats) const {
    const auto seconds_of_one = [](const Runs& runs, int times) {
        const auto start = Clock::now();
        runs(times);
        return seconds_since(start) / times;
    };
    std::vector<int> times;
    for (const Runs& runs : all) {
        double once = seconds_of_one(runs, 1);
        for (const auto start = Clock::now(); seconds_since(start) < warm_s_;)
            once = std::min(once, seconds_of_one(runs, 1));
        times.push_back(static_cast<int>(std::clamp(0.02 / once, 1.0, 50.0)));
    }
    std::vector<std::vector<double>> seconds(all.size());
    for (int i = 0; i < repeats; ++i)
        for (std::size_t k = 0; k < all.size(); ++k) seconds[k].push_back(seconds_of_one(all[k], times[k]));
    std::vector<double> medians;
    for (const std::vector<double>& one : seconds) medians.push_back(median(one));
    return medians;
}
template <class Limb>
double NttWork<Limb>::median_of(const weft::Sequence& steps, int repeats) {
    return medians_of({runs_of(steps)}, repeats)[0];
}

template <class Limb>
void NttWork<Limb>::measure_floors(int repeats) {
    weft::tune::MemoryCeiling memory(backend_, std::min<std::uint64_t>(3 * in_.bytes(), 3u << 29));
    std::vector<double> rates{memory.gb_per_s()};
    for (const auto start = Clock::now(); seconds_since(start) < 2 * warm_s_;)
        rates.push_back(memory.gb_per_s());
    bytes_per_s_ = 1e9 * median(rates);
    std::vector<weft::SpecConstant> constants;
    const std::uint32_t words = info_.element_bytes / 4;
    std::uint32_t inverse = static_cast<std::uint32_t>(info_.modulus[0]);
    for (int i = 0; i < 4; ++i) inverse *= 2u - static_cast<std::uint32_t>(info_.modulus[0]) * inverse;
    if (words != 2) {
        for (std::uint32_t i = 0; i < words; ++i)
            constants.emplace_back(1u + i, static_cast<std::uint32_t>(info_.modulus[i / 2] >> (i % 2 * 32)));
        constants.emplace_back(13u, 0u - inverse);
    }
    const weft::Program products(backend_, products_of(words), {.name = "products", .constants = constants});
    const std::uint64_t count = std::min<std::uint64_t>(elements_, words > 2 ? 1u << 20 : 1u << 22);
    const weft::Sequence chains =
        stream_.record([&](weft::Stream& s) { s.dispatch(products, {array(out_, 0, count)}, count); });
    products_per_s_ = 256 * static_cast<double>(count) / median_of(chains, repeats);
}

template <class Limb>
weft::BufferView<Limb> NttWork<Limb>::array(const Limbs& limbs, std::uint64_t first,
                                            std::uint64_t count) const {
    return limbs.view(first * info_.limbs, count * info_.limbs);
}

template <class Limb>
weft::Sequence NttWork<Limb>::recorded(const weft::NttShape& shape, const weft::NttOptions& options) {
    const std::uint64_t n = shape.elements();
    return stream_.record([&](weft::Stream& s) {
        weft::ntt(s, info_.field, weft::NttDirection::forward, array(in_, 0, n), array(out_, 0, n), shape,
                  options);
    });
}

template <class Limb>
double NttWork<Limb>::seconds_of(const weft::NttShape& shape, const weft::NttOptions& options, int repeats) {
    return median_of(recorded(shape, options), repeats);
}

template <class Limb>
std::pair<double, double> NttWork<Limb>::seconds_in_turns(const weft::NttShape& shape,
                                                          const weft::NttOptions& options, int repeats,
                                                          const std::function<void(int)>& other) {
    const weft::Sequence steps = recorded(shape, options);
    const std::vector<double> medians = medians_of({runs_of(steps), other}, repeats);
    return {medians[0], medians[1]};
}

template <class Limb>
double NttWork<Limb>::seconds_of_extension(const weft::NttShape& shape, std::uint32_t blowup, int repeats) {
    const std::uint64_t n = shape.elements();
    const weft::Sequence steps = stream_.record([&](weft::Stream& s) {
        weft::ntt_extend(s, info_.field, array(in_, 0, n), array(out_, 0, n * blowup), shape, blowup,
                         {.order = weft::NttOrder::nr});
    });
    return median_of(steps, repeats);
}

template <class Limb>
unsigned NttWork<Limb>::passes(const weft::NttShape& shape, const weft::NttOptions& options) {
    return static_cast<unsigned>(recorded(shape, options).dispatches());
}

template <class Limb>
std::vector<Limb> NttWork<Limb>::made(std::uint64_t elements) {
    std::vector<Limb> values(elements * info_.limbs);
    stream_.download<Limb>(array(out_, 0, elements), values);
    return values;
}

template <class Limb>
std::vector<Limb> NttWork<Limb>::product(const Scalar& a, const Scalar& b) {
    Scalar made(info_.limbs);
    weft::field_mul(backend_, info_.field, a, b, made);
    return made;
}

/// x^exponent by the field operations on host memory; x != 0 and exponent != 0.
template <class Limb>
std::vector<Limb> NttWork<Limb>::power(Scalar x, std::uint64_t exponent) {
    Scalar r(info_.limbs);
    r[0] = 1;
    for (; exponent != 0; exponent >>= 1, x = product(x, x))
        if ((exponent & 1) != 0) r = product(r, x);
    return r;
}

template <class Limb>
bool NttWork<Limb>::verify(const weft::NttShape& shape, const weft::NttOptions& options) {
    const std::uint64_t n = shape.size(), limbs = info_.limbs;
    const auto root = weft::ntt_root(info_.field, shape.log_size);
    Scalar w(limbs), one(limbs);
    for (std::uint64_t k = 0; k < limbs; ++k) w[k] = static_cast<Limb>(root[k]);
    one[0] = 1;
    const Limbs powers(backend_, n * limbs, "powers"), zeros(backend_, n * limbs, "zeros"),
        value(backend_, limbs, "value");
    std::mt19937_64 random(7);
    bool right = true;
    for (const std::uint64_t b : {std::uint64_t{0}, shape.batch - 1}) {
        const std::uint64_t j = random() % n;
        // The powers of the point: those that are there, times the next one.
        Scalar step = power(w, j);
        stream_.fill(zeros.view(), 0u);
        stream_.upload(std::span<const Limb>(one), array(powers, 0, 1));
        for (std::uint64_t done = 1; done < n; done *= 2, step = product(step, step)) {
            // Offsets of bindings must be aligned, so short vectors are copied to a place of their own.
            const Limbs held(backend_, done * limbs, "held");
            weft::field_axpy(stream_, info_.field, step, array(powers, 0, done), array(zeros, 0, done), held);
            stream_.copy(held.view(), array(powers, done, done));
        }
        weft::field_inner_product(stream_, info_.field, array(in_, b * n, n), powers, value);
        const std::uint64_t at = options.order == weft::NttOrder::nr ? reversed(j, shape.log_size) : j;
        Scalar got(limbs);
        const Scalar want = stream_.download(value);
        stream_.download<Limb>(array(out_, b * n + at, 1), got);
        // The values of rn belong to coefficients in another order, which the tests compare.
        right &= options.order == weft::NttOrder::rn || got == want;
    }
    return right;
}

template class NttWork<std::uint32_t>;
template class NttWork<std::uint64_t>;

}  // namespace bench
