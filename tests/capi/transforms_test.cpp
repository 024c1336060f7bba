// SPDX-License-Identifier: Apache-2.0
// What the table of transforms does not call: roots, what a field has for them, a root of the caller, several
// devices, and calls that are refused.
#include <cstdlib>

#include "capi/fixture.hpp"

using namespace weft_test;

namespace {

constexpr std::uint64_t kGoldilocks = 0xffffffff00000001;

std::uint64_t mul(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(a) * b % kGoldilocks);
}
std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
    std::uint64_t result = 1;
    for (; exponent != 0; exponent >>= 1, base = mul(base, base))
        if (exponent & 1) result = mul(result, base);
    return result;
}
/// The value of a polynomial by Horner's rule.
std::uint64_t value_at(const std::vector<std::uint64_t>& coefficients, std::uint64_t point) {
    std::uint64_t sum = 0;
    for (std::size_t i = coefficients.size(); i-- > 0;)
        sum = static_cast<std::uint64_t>((static_cast<unsigned __int128>(mul(sum, point)) + coefficients[i]) %
                                         kGoldilocks);
    return sum;
}

weft_ntt_options ntt_options() {
    weft_ntt_options options{};
    options.size = sizeof(options);
    return options;
}

}  // namespace

TEST_CASE("c: fields say what they have for transforms") {
    weft_field_info info{};
    info.size = sizeof(info);
    CHECK_OK(weft_field_describe(WEFT_GOLDILOCKS, &info));
    CHECK(info.two_adicity == 32);
    CHECK(info.ntt_max_log_size == 30);
    CHECK(info.generator[0] == 7);
    std::uint64_t root[6] = {9, 9, 9, 9, 9, 9};
    CHECK_OK(weft_ntt_root(WEFT_GOLDILOCKS, 4, root));
    CHECK(power(root[0], 8) == kGoldilocks - 1);
    CHECK(root[1] == 0);
    CHECK_REFUSED("weft_ntt_root: ", weft_ntt_root(WEFT_GOLDILOCKS, 40, root));
    CHECK_STATUS(WEFT_UNSUPPORTED, "weft_ntt_root: ", weft_ntt_root(WEFT_MERSENNE31, 1, root));
    CHECK_OK(weft_field_describe(WEFT_MERSENNE31, &info));
    CHECK(info.two_adicity == 0);
    CHECK(info.ntt_max_log_size == 0);
}

TEST_CASE("c: a transform has the values of a polynomial, with roots of the caller too") {
    on_device([](weft_backend* backend) {
        const std::vector<std::uint64_t> x{5, 0, 7, kGoldilocks - 1};
        std::uint64_t w[6];
        CHECK_OK(weft_ntt_root(WEFT_GOLDILOCKS, 2, w));
        const std::vector<std::uint64_t> coset{3}, other{power(w[0], 3)};
        weft_ntt_options options = ntt_options();
        options.check_values = 1;
        options.coset = in(coset);
        for (const bool given_root : {false, true}) {
            if (given_root) options.root = in(other);
            std::vector<std::uint64_t> values(4), back(4);
            weft_report report{};
            report.size = sizeof(report);
            CHECK_OK(weft_ntt(backend, WEFT_GOLDILOCKS, WEFT_NTT_FORWARD, in(x), out(values),
                              {2, WEFT_NTT_ROWS, 1, 0}, &options, &report));
            for (std::uint64_t j = 0; j < 4; ++j)
                CHECK(values[j] == value_at(x, mul(3, power(given_root ? other[0] : w[0], j))));
            CHECK(report.items == 1);
            CHECK(std::string(report.op) == "ntt");
            CHECK_OK(weft_ntt(backend, WEFT_GOLDILOCKS, WEFT_NTT_INVERSE, in(values), out(back),
                              {2, WEFT_NTT_ROWS, 1, 0}, &options, nullptr));
            CHECK(back == x);
        }
    });
}

TEST_CASE("c: several devices share the transforms of a batch, and one makes a product") {
    const char* const device = std::getenv("WEFT_DEVICE");
    const std::string twice = device != nullptr ? std::string(device) + "," + device : "0,0";
    weft_backend_options settings{};
    settings.size = sizeof(settings);
    settings.device = twice.c_str();
    settings.chunk_elements = 4;
    Backend several;
    CHECK_OK(weft_backend_create(&settings, &several));
    std::vector<std::uint64_t> x(64 * 16), values(x.size()), a{1, 1}, b{1, 2, 3}, product(4);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = i * 0x9e3779b97f4a7c15u >> 1;
    weft_report report{};
    report.size = sizeof(report);
    CHECK_OK(weft_ntt(several, WEFT_GOLDILOCKS, WEFT_NTT_FORWARD, in(x), out(values),
                      {4, WEFT_NTT_ROWS, 64, 0}, nullptr, &report));
    CHECK(report.items == 64);
    CHECK(report.devices == weft_backend_count(several));
    std::uint64_t w[6];
    CHECK_OK(weft_ntt_root(WEFT_GOLDILOCKS, 4, w));
    for (const std::size_t row : {std::size_t{0}, std::size_t{63}}) {
        const std::vector<std::uint64_t> one(x.begin() + static_cast<std::ptrdiff_t>(16 * row),
                                             x.begin() + static_cast<std::ptrdiff_t>(16 * row + 16));
        CHECK(values[16 * row + 5] == value_at(one, power(w[0], 5)));
    }
    CHECK_OK(weft_ntt_product(several, WEFT_GOLDILOCKS, in(a), in(b), out(product), nullptr, nullptr));
    CHECK(product == std::vector<std::uint64_t>{1, 3, 5, 3});
}

TEST_CASE("c: transforms that cannot be are refused in the words of C, and outputs stay") {
    on_device([](weft_backend* backend) {
        std::vector<std::uint64_t> x(8, 1), y(8, 77);
        const std::vector<std::uint64_t> no_root{5};
        const weft_ntt_shape shape{3, WEFT_NTT_ROWS, 1, 0};
        weft_ntt_options options = ntt_options();
        const auto refused = [&](const char* part, weft_ntt_direction direction = WEFT_NTT_FORWARD) {
            CHECK_REFUSED(
                part, weft_ntt(backend, WEFT_GOLDILOCKS, direction, in(x), out(y), shape, &options, nullptr));
            options = ntt_options();
        };
        refused("weft_ntt: ", 2);
        options.order = 3, refused("weft_ntt: ");
        options.form = 2, refused("weft_ntt: ");
        options.shader = 3, refused("weft_ntt: ");
        options.check_values = 2, refused("weft_ntt_options.check_values");
        options.tile_bits = 4, refused("weft_ntt_options.tile_bits applies to streams alone");
        options.pass_bits = 4, refused("weft_ntt_options.pass_bits applies to streams alone");
        options.reserved = 1, refused("weft_ntt_options.reserved is 1 (need 0)");
        options.coset = {x.data(), 7}, refused("weft_ntt_options.coset is not a whole number of uint64");
        options.root = in(no_root), refused("weft_ntt: ");
        for (const std::uint32_t size : {40u, 56u, 68u})  // inside coset and root, and the batch
            options.size = size, refused("weft_ntt_options.size is wrong");
        x[5] = kGoldilocks;
        options.check_values = 1, refused("weft_ntt: element 5 of transform 0 of in is not canonical");
        CHECK_REFUSED("weft_ntt: ",
                      weft_ntt(backend, WEFT_GOLDILOCKS, 0, in(x), out(y), {3, 2, 1, 0}, nullptr, nullptr));
        CHECK_REFUSED("weft_ntt: in does not fit the shape",
                      weft_ntt(backend, WEFT_GOLDILOCKS, 0, in(x), out(y), {3, 0, 2, 0}, nullptr, nullptr));
        CHECK_REFUSED("weft_ntt_extend: no such blowup",
                      weft_ntt_extend(backend, WEFT_GOLDILOCKS, in(x), out(y), shape, 3, nullptr, nullptr));
        CHECK_STATUS(WEFT_UNSUPPORTED, "weft_ntt: ",
                     weft_ntt(backend, WEFT_BN254_FP, 0, in(x), out(y), {1, 0, 1, 0}, nullptr, nullptr));
        weft_field_options field{};
        field.size = sizeof(field);
        field.block_elements = 4;
        CHECK_REFUSED("weft_field_options.block_elements",
                      weft_ntt_product(backend, WEFT_GOLDILOCKS, in(x), in(x), out(y), &field, nullptr));
        Stream stream;
        CHECK_OK(weft_stream_create(backend, nullptr, &stream));
        options.check_values = 1;
        CHECK_REFUSED("weft_ntt_options.check_values applies to host memory alone",
                      weft_stream_ntt(stream, WEFT_GOLDILOCKS, 0, {}, {}, shape, &options));
        CHECK(y == std::vector<std::uint64_t>(8, 77));
    });
}
