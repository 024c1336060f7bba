// SPDX-License-Identifier: Apache-2.0
#include "bench_ntt_work.hpp"

#include <cstring>
#include <random>

#include "bench.hpp"

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

NttWork::NttWork(weft::Backend& backend, weft::Field field, std::uint64_t elements)
    : backend_(backend),
      info_(weft::field_info(field)),
      elements_(elements),
      stream_(backend),
      in_(backend, elements * info_.element_bytes / 4, "in"),
      out_(backend, elements * info_.element_bytes / 4, "out") {
    // The highest word stays below that of p.
    std::mt19937 random(1);
    const std::size_t words = info_.element_bytes / 4;
    std::vector<std::uint32_t> values(elements * words);
    for (std::uint32_t& word : values) word = static_cast<std::uint32_t>(random());
    const auto top = static_cast<std::uint32_t>(info_.modulus[(words - 1) / 2] >> ((words - 1) % 2 * 32));
    for (std::size_t i = words - 1; i < values.size(); i += words) values[i] %= top;
    stream_.upload(values, in_);
    stream_.wait();
    measure_floors(5);
}

/// Drivers may clear memory after allocations for a while, which slows other work, so the first quarter of a second does
/// not count.
double NttWork::median_of(const weft::Sequence& steps, int repeats) {
    const auto run = [&](int times) {
        const auto start = Clock::now();
        for (int i = 0; i < times; ++i) stream_.replay(steps);
        stream_.wait();
        return seconds_since(start) / times;
    };
    double once = run(1);
    for (const auto start = Clock::now(); seconds_since(start) < 0.25;) once = std::min(once, run(1));
    const int times = static_cast<int>(std::clamp(0.02 / once, 1.0, 50.0));
    std::vector<double> seconds;
    for (int i = 0; i < repeats; ++i) seconds.push_back(run(times));
    return median(seconds);
}

void NttWork::measure_floors(int repeats) {
    weft::tune::MemoryCeiling memory(backend_, std::min<std::uint64_t>(3 * in_.bytes(), 3u << 29));
    std::vector<double> rates;
    for (const auto start = Clock::now(); seconds_since(start) < 0.5;) rates.push_back(memory.gb_per_s());
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
        stream_.record([&](weft::Stream& s) { s.dispatch(products, {out_.view(0, count * words)}, count); });
    products_per_s_ = 256 * static_cast<double>(count) / median_of(chains, repeats);
}

weft::DeviceArray NttWork::array(const Words& words, std::uint64_t first, std::uint64_t count) const {
    const std::uint64_t w = info_.element_bytes / 4;
    const weft::BufferView<std::uint32_t> view = words.view(first * w, count * w);
    if (info_.limb_bytes == 4) return view;
    return weft::detail::Access::make<weft::BufferView<std::uint64_t>>(
        weft::detail::Access::object(view), static_cast<std::size_t>(first * w / 2),
        static_cast<std::size_t>(count * w / 2));
}

double NttWork::seconds_of(const weft::NttShape& shape, const weft::NttOptions& options, int repeats) {
    const std::uint64_t n = shape.elements();
    const weft::Sequence steps = stream_.record([&](weft::Stream& s) {
        weft::ntt(s, info_.field, weft::NttDirection::forward, array(in_, 0, n), array(out_, 0, n), shape,
                  options);
    });
    return median_of(steps, repeats);
}

double NttWork::seconds_of_extension(const weft::NttShape& shape, std::uint32_t blowup, int repeats) {
    const std::uint64_t n = shape.elements();
    const weft::Sequence steps = stream_.record([&](weft::Stream& s) {
        weft::ntt_extend(s, info_.field, array(in_, 0, n), array(out_, 0, n * blowup), shape, blowup,
                         {.order = weft::NttOrder::nr});
    });
    return median_of(steps, repeats);
}

unsigned NttWork::passes(const weft::NttShape& shape, const weft::NttOptions& options) {
    const std::uint64_t n = shape.elements();
    const weft::Sequence steps = stream_.record([&](weft::Stream& s) {
        weft::ntt(s, info_.field, weft::NttDirection::forward, array(in_, 0, n), array(out_, 0, n), shape,
                  options);
    });
    return static_cast<unsigned>(steps.dispatches());
}

/// x^exponent by the field operations on host memory; x != 0 and exponent != 0.
std::vector<std::uint64_t> NttWork::power(std::vector<std::uint64_t> x, std::uint64_t exponent) {
    const auto times = [&](const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
        std::vector<std::uint64_t> product(6);
        const weft::ElementType type = info_.limb_bytes == 8 ? weft::kUint64 : weft::kUint32;
        weft::field_mul(backend_, info_.field, weft::ConstHostArray(a.data(), info_.limbs, type),
                        weft::ConstHostArray(b.data(), info_.limbs, type),
                        weft::HostArray(product.data(), info_.limbs, type));
        return product;
    };
    std::vector<std::uint64_t> r{1, 0, 0, 0, 0, 0};
    for (; exponent != 0; exponent >>= 1, x = times(x, x))
        if ((exponent & 1) != 0) r = times(r, x);
    return r;
}

bool NttWork::verify(const weft::NttShape& shape, const weft::NttOptions& options) {
    const std::uint64_t n = shape.size(), words = info_.element_bytes / 4;
    const weft::ElementType type = info_.limb_bytes == 8 ? weft::kUint64 : weft::kUint32;
    const auto root = weft::ntt_root(info_.field, shape.log_size);
    const Words powers(backend_, n * words, "powers"), zeros(backend_, n * words, "zeros"),
        value(backend_, words, "value");
    std::mt19937_64 random(7);
    bool right = true;
    for (const std::uint64_t b : {std::uint64_t{0}, shape.batch - 1}) {
        const std::uint64_t j = random() % n;
        // The powers of the point: those that are there, times the next one.
        const std::vector<std::uint64_t> point = power({root.begin(), root.end()}, j);
        stream_.fill(zeros.view(), 0);
        stream_.fill(powers.view(0, 1), 1u);
        if (words > 1) stream_.fill(powers.view(1, words - 1), 0);
        for (std::uint64_t done = 1; done < n; done *= 2) {
            const std::vector<std::uint64_t> step = power(point, done);
            // Offsets of bindings must be aligned, so short vectors are copied to a place of their own.
            const Words held(backend_, done * words, "held");
            weft::field_axpy(stream_, info_.field, weft::ConstHostArray(step.data(), info_.limbs, type),
                             array(powers, 0, done), array(zeros, 0, done), array(held, 0, done));
            stream_.copy(held.view(), powers.view(done * words, done * words));
        }
        weft::field_inner_product(stream_, info_.field, array(in_, b * n, n), array(powers, 0, n),
                                  array(value, 0, 1));
        const std::uint64_t at = options.order == weft::NttOrder::nr ? reversed(j, shape.log_size) : j;
        std::vector<std::uint32_t> got(words);
        const auto want = stream_.download(value);
        stream_.download<std::uint32_t>(out_.view((b * n + at) * words, words), got);
        // The values of rn belong to coefficients in another order, which the tests compare.
        right &= options.order == weft::NttOrder::rn || got == want;
    }
    return right;
}

}  // namespace bench
