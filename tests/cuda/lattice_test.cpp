// SPDX-License-Identifier: Apache-2.0
// Lattice codes on both back ends: the same bits, which are those of the exact oracle, and the same errors.
#include <weft/cuda/lattice.hpp>

#include <cstring>
#include <limits>
#include <vector>

#include <weft/weft.hpp>

#include "support/cuda_array.hpp"
#include "support/gpu_fixture.hpp"
#include "support/lattice_oracle.hpp"
#include "support/lattice_vectors.hpp"
#include "support/same_error.hpp"

namespace {

using namespace weft_test;
using Floats = std::vector<float>;
using Words = std::vector<std::uint32_t>;

struct Coded {
    Words codes, status;
    Floats decoded, quantized;
    bool operator==(const Coded&) const = default;
};

std::size_t vectors_of(const LatticeCode& code, std::size_t values, std::size_t width) {
    const std::size_t w = width == 0 ? dimension(code.lattice) : width;
    return values / w * weft::lattice_tiles(code.lattice, w);
}

Coded by_vulkan(weft::Backend& backend, const LatticeCode& code, const Floats& x, std::size_t width) {
    const std::size_t n = vectors_of(code, x.size(), width);
    weft::Buffer<float> in(backend, x.size()), decoded(backend, x.size()), quantized(backend, x.size());
    weft::Buffer<std::uint32_t> codes(backend, weft::code_words(code, n)),
        status(backend, weft::status_words(n)), again(backend, weft::status_words(n));
    weft::Stream stream(backend);
    stream.upload(x, in);
    weft::lattice_encode(stream, code, in, codes, status, {.width = width});
    weft::lattice_decode(stream, code, codes.view(), status.view(), decoded, {.width = width});
    weft::lattice_quantize(stream, code, in, quantized, again, {.width = width});
    return {stream.download(codes), stream.download(status), stream.download(decoded),
            stream.download(quantized)};
}

Coded by_cuda(const LatticeCode& code, const Floats& x, std::size_t width) {
    const std::size_t n = vectors_of(code, x.size(), width);
    const CudaStream stream;
    const CudaArray<float> in(x), decoded(x.size());
    const CudaArray<std::uint32_t> codes(weft::code_words(code, n)), status(weft::status_words(n)),
        again(weft::status_words(n));
    weft::cuda::lattice_encode(stream, code, in.span(), codes.span(), status.span(), {.width = width});
    weft::cuda::lattice_decode(stream, code, codes.span(), status.span(), decoded.span(), {.width = width});
    weft::cuda::lattice_quantize(stream, code, in.span(), in.span(), again.span(),
                                 {.width = width});  // in place
    stream.wait();
    CHECK(again.download() == status.download());
    return {codes.download(), status.download(), decoded.download(), in.download()};
}

// Bits, so that NaN equals itself.
Words bits_of(const Floats& x) {
    Words bits(x.size());
    std::memcpy(bits.data(), x.data(), x.size() * sizeof(float));
    return bits;
}

void check_both(weft::Backend& backend, const LatticeCode& code, const Floats& x, std::size_t width = 0,
                bool judged = true) {
    CAPTURE(weft::to_string(code.lattice));
    CAPTURE(code.q);
    CAPTURE(code.levels);
    CAPTURE(code.packed);
    CAPTURE(width);
    const Coded cuda = by_cuda(code, x, width), vulkan = by_vulkan(backend, code, x, width);
    CHECK(cuda.codes == vulkan.codes);
    CHECK(cuda.status == vulkan.status);
    CHECK(bits_of(cuda.decoded) == bits_of(vulkan.decoded));
    CHECK(bits_of(cuda.quantized) == bits_of(vulkan.quantized));
    if (!judged) return;
    const OracleCodes want = oracle_codes(code, x, width);
    const std::size_t n = vectors_of(code, x.size(), width);
    CHECK(std::memcmp(cuda.codes.data(), want.codes.data(), weft::code_bytes(code, n)) == 0);
    CHECK(std::memcmp(cuda.status.data(), want.status.data(), n) == 0);
    CHECK(cuda.decoded == want.values);
    CHECK(cuda.quantized == want.values);
}

constexpr Lattice kLattices[] = {Lattice::z2, Lattice::d4, Lattice::e8};

}  // namespace

TEST_CASE("conformance: known codes, ties among them") {
    on_device([](weft::Backend& backend) {
        for (const LatticeVector& v : lattice_vectors())
            for (const bool packed : {false, true}) {
                CAPTURE(v.id);
                LatticeCode code = v.code;
                code.packed = packed;
                check_both(backend, code, v.x);
            }
    });
}

TEST_CASE("conformance: every lattice, base and number of levels, packed and not, on values full of ties") {
    on_device([](weft::Backend& backend) {
        for (const Lattice lattice : kLattices)
            for (const std::uint32_t q : {3u, 4u, 7u, 16u})
                for (const std::uint32_t levels : {1u, 2u, 3u, 4u})
                    for (const bool packed : {false, true}) {
                        const LatticeCode code{
                            .lattice = lattice, .q = q, .levels = levels, .packed = packed};
                        check_both(backend, code, dyadic_values(8 * 331, 6, q + levels));
                    }
    });
}

TEST_CASE("conformance: retries, dither and rows that end within a vector") {
    on_device([](weft::Backend& backend) {
        for (const Lattice lattice : kLattices)
            for (const bool packed : {false, true}) {
                LatticeCode code{.lattice = lattice, .max_retries = 10, .packed = packed};
                check_both(backend, code, dyadic_values(8 * 203, 60, 3));
                check_both(backend, code, dyadic_values(13 * 77, 60, 4), 13);
                code.beta = 0.35f;
                code.dither_seed = 7;
                code.dither_first = 0xfffffff0;
                check_both(backend, code, normal_values(8 * 5003, 5), 0, false);
                check_both(backend, code, normal_values(19 * 701, 6), 19, false);
            }
    });
}

TEST_CASE("conformance: values that are not finite, and digits that are none") {
    on_device([](weft::Backend& backend) {
        Floats x = dyadic_values(8 * 64, 6, 9);
        x[3] = std::numeric_limits<float>::quiet_NaN();
        x[70] = std::numeric_limits<float>::infinity();
        x[200] = -std::numeric_limits<float>::infinity();
        x[300] = 3e38f;
        for (const Lattice lattice : kLattices)
            for (const std::uint32_t q : {4u, 5u}) {
                const LatticeCode code{.lattice = lattice, .q = q, .max_retries = 3};
                check_both(backend, code, x, 0, false);
            }
    });
}

TEST_CASE("conformance: inner products of codes") {
    on_device([](weft::Backend& backend) {
        for (const bool single : {false, true})
            for (const bool packed : {false, true}) {
                const LatticeCode code{.lattice = Lattice::d4, .q = 4, .beta = 0.5f, .packed = packed};
                const weft::LatticeTable table(code.lattice, code.q);
                constexpr std::size_t kWidth = 12, kRows = 501;
                const OracleCodes x = oracle_codes(code, dyadic_values(kWidth * kRows, 3, 1), kWidth);
                const OracleCodes y =
                    oracle_codes(code, dyadic_values(kWidth * (single ? 1 : kRows), 3, 2), kWidth);
                const auto words = [](const std::vector<std::uint8_t>& bytes) {
                    Words w((bytes.size() + 3) / 4);
                    std::memcpy(w.data(), bytes.data(), bytes.size());
                    return w;
                };
                const Words xw = words(x.codes), yw = words(y.codes);
                const CudaStream stream;
                const CudaArray<std::uint32_t> cx(xw), cy(yw);
                const CudaArray<float> out(kRows);
                weft::cuda::lattice_inner(stream, table, code, cx.span(), cy.span(), out.span(),
                                          {.width = kWidth});
                stream.wait();
                Floats want;
                for (std::size_t row = 0; row < kRows; ++row) {
                    double sum = 0;
                    for (std::size_t i = 0; i < kWidth; ++i)
                        sum += static_cast<double>(x.values[row * kWidth + i]) *
                               static_cast<double>(y.values[(single ? 0 : row * kWidth) + i]);
                    want.push_back(static_cast<float>(sum));
                }
                CHECK(out.download() == want);
                weft::Buffer<std::uint32_t> vx(backend, xw.size()), vy(backend, yw.size());
                weft::Buffer<float> vout(backend, kRows);
                weft::Stream vulkan(backend);
                vulkan.upload(xw, vx);
                vulkan.upload(yw, vy);
                weft::lattice_inner(vulkan, table, code, vx, vy, vout, {.width = kWidth});
                CHECK(out.download() == vulkan.download(vout));
            }
    });
}

TEST_CASE("conformance: the same errors for the same bad input") {
    on_device([](weft::Backend& backend) {
        const CudaStream cuda;
        weft::Stream vulkan(backend);
        const weft::Buffer<float> vx(backend, 256);
        const weft::Buffer<std::uint32_t> vw(backend, 256);
        const CudaArray<float> cx(256);
        const CudaArray<std::uint32_t> cw(256);
        const auto both = [&](const auto& call) {
            check_same_error(
                [&] {
                    call(
                        vulkan, [&](std::size_t i, std::size_t n) { return vx.view(i, n); },
                        [&](std::size_t i, std::size_t n) { return vw.view(i, n); });
                },
                [&] {
                    call(
                        cuda, [&](std::size_t i, std::size_t n) { return cx.span(i, n); },
                        [&](std::size_t i, std::size_t n) { return cw.span(i, n); });
                });
        };
        using weft::lattice_encode, weft::lattice_quantize, weft::lattice_decode;
        both([](auto& s, auto x, auto w) { lattice_encode(s, {}, x(0, 64), w(0, 31), w(64, 4)); });
        both([](auto& s, auto x, auto w) { lattice_encode(s, {}, x(0, 64), w(0, 32), w(64, 5)); });
        both([](auto& s, auto x, auto w) { lattice_encode(s, {}, x(0, 63), w(0, 32), w(64, 4)); });
        both([](auto& s, auto x, auto w) { lattice_encode(s, {.q = 2}, x(0, 64), w(0, 32), w(64, 4)); });
        both([](auto& s, auto x, auto w) { lattice_encode(s, {.levels = 5}, x(0, 64), w(0, 32), w(64, 4)); });
        both([](auto& s, auto x, auto w) { lattice_quantize(s, {}, x(0, 64), x(4, 64), w(64, 4)); });
        both([](auto& s, auto x, auto w) {
            lattice_decode(s, {}, w(0, 32), w(64, 4), x(0, 64), {.depth = 3});
        });
    });
}
