// SPDX-License-Identifier: Apache-2.0
// Lattice codes on the device against the exact oracle: known answers, every lattice, odd and even bases,
// ties, retries, dither, padded rows; from host memory and resident.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/lattice_oracle.hpp"
#include "support/lattice_vectors.hpp"

namespace {

using namespace weft_test;
using Bytes = std::vector<std::uint8_t>;
using Floats = std::vector<float>;

struct Coded {
    Bytes codes, status;
    Floats decoded, quantized;
};

std::size_t vectors_of(const LatticeCode& code, std::size_t values, std::size_t width) {
    const std::size_t w = width == 0 ? dimension(code.lattice) : width;
    return values / w * weft::lattice_tiles(code.lattice, w);
}

Coded streamed(weft::Backend& backend, const LatticeCode& code, const Floats& x, std::size_t width = 0,
               const weft::BatchOptions& batch = {}) {
    const std::size_t n = vectors_of(code, x.size(), width);
    Coded c{Bytes(weft::code_bytes(code, n), 0xee), Bytes(n, 0xee), Floats(x.size(), 77),
            Floats(x.size(), 77)};
    const auto report =
        weft::lattice_encode(backend, code, x, c.codes, c.status, {.width = width, .batch = batch});
    CHECK(report.items == n);
    weft::lattice_decode(backend, code, c.codes, c.status, c.decoded, {.width = width, .batch = batch});
    Bytes status(n, 0xee);
    weft::lattice_quantize(backend, code, x, c.quantized, status, {.width = width, .batch = batch});
    CHECK(status == c.status);
    return c;
}

template <class T>
Bytes first_bytes(const std::vector<T>& words, std::size_t bytes) {
    Bytes out(bytes);
    if (bytes != 0) std::memcpy(out.data(), words.data(), bytes);
    return out;
}

// Buffers are longer than needed by a guard, which must stay as it was.
Coded resident(weft::Backend& backend, const LatticeCode& code, const Floats& x, std::size_t width = 0) {
    constexpr std::size_t kGuard = 64;
    constexpr std::uint32_t kMark = 0xdeadbeef;
    const std::size_t n = vectors_of(code, x.size(), width), cw = weft::code_words(code, n),
                      sw = weft::status_words(n);
    weft::Buffer<float> in(backend, x.size()), decoded(backend, x.size() + kGuard),
        quantized(backend, x.size() + kGuard);
    weft::Buffer<std::uint32_t> codes(backend, cw + kGuard), status(backend, sw + kGuard),
        again(backend, sw + kGuard);
    weft::Stream stream(backend);
    stream.upload(x, in);
    for (const auto* b : {&codes, &status, &again}) stream.fill(b->view(), kMark);
    for (const auto* b : {&decoded, &quantized}) stream.fill(b->view(), kMark);
    weft::lattice_encode(stream, code, in, codes.view(0, cw), status.view(0, sw), {.width = width});
    weft::lattice_decode(stream, code, codes.view(0, cw), status.view(0, sw), decoded.view(0, x.size()),
                         {.width = width});
    weft::lattice_quantize(stream, code, in, quantized.view(0, x.size()), again.view(0, sw),
                           {.width = width});
    const auto codes_out = stream.download(codes), status_out = stream.download(status),
               again_out = stream.download(again);
    auto decoded_out = stream.download(decoded), quantized_out = stream.download(quantized);
    for (const auto* words : {&codes_out, &status_out, &again_out})
        CHECK(std::count(words->end() - kGuard, words->end(), kMark) == kGuard);
    for (auto* floats : {&decoded_out, &quantized_out}) {
        for (std::size_t i = x.size(); i < floats->size(); ++i)
            CHECK(std::bit_cast<std::uint32_t>((*floats)[i]) == kMark);
        floats->resize(x.size());
    }
    CHECK(first_bytes(status_out, n) == first_bytes(again_out, n));
    return {first_bytes(codes_out, weft::code_bytes(code, n)), first_bytes(status_out, n),
            std::move(decoded_out), std::move(quantized_out)};
}

void check_equal(const Coded& got, const OracleCodes& want) {
    CHECK(got.codes == want.codes);
    CHECK(got.status == want.status);
    CHECK(bits_of(got.decoded) == bits_of(want.values));
    CHECK(bits_of(got.quantized) == bits_of(want.values));
}

void check_both(weft::Backend& backend, const LatticeCode& code, const Floats& x, std::size_t width = 0) {
    CAPTURE(weft::to_string(code.lattice));
    CAPTURE(code.q);
    CAPTURE(code.levels);
    CAPTURE(code.packed);
    CAPTURE(width);
    const OracleCodes want = oracle_codes(code, x, width);
    REQUIRE(std::count(want.near_tie.begin(), want.near_tie.end(), true) == 0);
    check_equal(streamed(backend, code, x, width), want);
    check_equal(resident(backend, code, x, width), want);
}

constexpr Lattice kLattices[] = {Lattice::z2, Lattice::d4, Lattice::e8};

}  // namespace

TEST_CASE("lattice: known answers, one vector at a time") {
    on_device([](weft::Backend& backend) {
        for (const LatticeVector& v : lattice_vectors())
            for (const bool packed : {false, true}) {
                if (packed && v.packed.empty()) continue;  // each kind of code is compiled for itself
                CAPTURE(v.id);
                LatticeCode code = v.code;
                code.packed = packed;
                for (const Coded& got : {streamed(backend, code, v.x), resident(backend, code, v.x)}) {
                    if (!packed) CHECK(got.codes == Bytes(v.digits.begin(), v.digits.end()));
                    if (packed) CHECK(got.codes == v.packed);
                    CHECK(got.status == Bytes{v.status});
                    for (std::size_t i = 0; i < v.value.size(); ++i) {
                        CHECK(got.decoded[i] == static_cast<float>(v.value[i]) * code.beta);
                    }
                    CHECK(bits_of(got.quantized) == bits_of(got.decoded));
                }
            }
    });
}

TEST_CASE("lattice: what given digits decode to, all levels and the coarse ones alone") {
    on_device([](weft::Backend& backend) {
        for (const LatticeDecodeVector& v : lattice_decode_vectors()) {
            CAPTURE(v.id);
            Floats x(v.value.size(), 77);
            weft::lattice_decode(backend, v.code, v.digits, {}, x, {.depth = v.depth});
            CHECK(bits_of(x) == bits_of(v.value));
            const std::size_t n = (v.digits.size() + 3) / 4;
            weft::Buffer<std::uint32_t> codes(backend, n);
            weft::Buffer<float> out(backend, x.size());
            weft::Stream stream(backend);
            std::vector<std::uint32_t> words(n);
            std::memcpy(words.data(), v.digits.data(), v.digits.size());
            stream.upload(words, codes);
            weft::lattice_decode(stream, v.code, codes, {}, out, {.depth = v.depth});
            CHECK(bits_of(stream.download(out)) == bits_of(v.value));
        }
    });
}

TEST_CASE("lattice: every lattice with bases and levels of every kind, on numbers full of ties") {
    const struct {
        std::uint32_t q, levels;
        bool packed;
    } forms[] = {{4, 2, true}, {3, 3, true}, {5, 1, true}, {7, 2, false}, {16, 4, true}};
    on_device([&](weft::Backend& backend) {
        for (const Lattice lattice : kLattices)
            for (const auto& f : forms) {
                const LatticeCode code{
                    .lattice = lattice, .q = f.q, .levels = f.levels, .max_retries = 3, .packed = f.packed};
                const auto range =
                    static_cast<float>(std::bit_floor(static_cast<unsigned>(std::pow(f.q, f.levels))));
                check_both(backend, code, dyadic_values(257 * dimension(lattice), range, f.q));
            }
    });
}

TEST_CASE("lattice: all code words of D4, base 4, two levels, decode to different points and come back") {
    on_device([](weft::Backend& backend) {
        const LatticeCode code{.packed = true};
        Bytes codes(2 * 65536), again(codes.size()), status(65536);
        for (std::size_t i = 0; i < 65536; ++i) {
            codes[2 * i] = static_cast<std::uint8_t>(i);
            codes[2 * i + 1] = static_cast<std::uint8_t>(i >> 8);
        }
        Floats x(4 * 65536);
        weft::lattice_decode(backend, code, codes, {}, x);
        const auto report = weft::lattice_encode(backend, code, x, again, status);
        CHECK(again == codes);
        CHECK(report.retried == 0);
        CHECK(report.unresolved == 0);
        std::vector<std::array<float, 4>> points(65536);
        std::memcpy(points.data(), x.data(), x.size() * sizeof(float));
        std::sort(points.begin(), points.end());
        CHECK(std::adjacent_find(points.begin(), points.end()) == points.end());
    });
}

TEST_CASE("lattice: without overload the value is the nearest point, within the covering radius") {
    on_device([](weft::Backend& backend) {
        const double radius[] = {std::sqrt(0.5), 1.0, 1.0};
        // How often normal numbers overload with these, in per cent, and the error of those that do not.
        const double overload[] = {1.33, 0.73, 11.5}, error[] = {.0169, .0132, .0064};
        const float beta[] = {.45f, .35f, .3f};
        for (const std::size_t l : {0u, 1u, 2u}) {
            const Lattice lattice = kLattices[l];
            const std::size_t d = dimension(lattice), n = 40000;
            CAPTURE(weft::to_string(lattice));
            const LatticeCode code{.lattice = lattice, .beta = beta[l]};
            const Floats x = normal_values(n * d, 9);
            const Coded got = streamed(backend, code, x);
            CHECK(bits_of(got.decoded) == bits_of(got.quantized));
            std::size_t over = 0, far = 0, differ = 0;
            double sum = 0;
            for (std::size_t i = 0; i < n; ++i) {
                double squares = 0;
                for (std::size_t k = 0; k < d; ++k) {
                    const double r =
                        static_cast<double>(x[i * d + k]) - static_cast<double>(got.decoded[i * d + k]);
                    squares += r * r;
                }
                over += got.status[i] != 0 ? 1 : 0;
                if (got.status[i] != 0) continue;
                sum += squares;
                far += std::sqrt(squares) > static_cast<double>(beta[l]) * radius[l] * 1.000001 ? 1 : 0;
                if (i % 8 != 0) continue;  // the oracle takes its time
                const OracleVector want = oracle_vector(code, &x[i * d]);
                const bool same = bits_of(want.value) == bits_of(std::span(&got.decoded[i * d], d));
                differ += same || want.near_tie ? 0 : 1;
            }
            CHECK(far == 0);
            CHECK(differ == 0);
            const double kept = static_cast<double>((n - over) * d);
            CHECK(100.0 * static_cast<double>(over) / static_cast<double>(n) ==
                  doctest::Approx(overload[l]).epsilon(0.2));
            CHECK(sum / kept == doctest::Approx(error[l]).epsilon(0.05));
        }
    });
}

TEST_CASE("lattice: a point more in is that point more out, ties included") {
    on_device([](weft::Backend& backend) {
        for (const Lattice lattice : kLattices)
            for (const std::uint32_t q : {4u, 7u, 16u}) {
                const LatticeCode code{.lattice = lattice, .q = q, .levels = 4};
                const std::size_t d = dimension(lattice), n = 500;
                const Floats x = dyadic_values(n * d, 3.0f, q);
                Floats moved = x;
                std::vector<float> by;
                for (std::size_t v = 0; v < n; ++v) {
                    Ints b(d);
                    for (std::size_t k = 0; k < d; ++k)
                        b[k] = static_cast<std::int64_t>((v * 5 + k * 7) % 9) - 4;
                    for (const std::int64_t twice : point(lattice, b))
                        by.push_back(static_cast<float>(twice) / 2);
                }
                for (std::size_t i = 0; i < x.size(); ++i) moved[i] += by[i];
                Floats y(x.size()), z(x.size());
                Bytes status(n), again(n);
                weft::lattice_quantize(backend, code, x, y, status);
                weft::lattice_quantize(backend, code, moved, z, again);
                CHECK(status == Bytes(n, 0));
                CHECK(again == Bytes(n, 0));
                for (std::size_t i = 0; i < x.size(); ++i) y[i] += by[i];
                CHECK(y == z);
            }
    });
}

TEST_CASE("lattice: any number of vectors gives the same bits on every device") {
    // 64-bit FNV-1a of codes and statuses; the same on lavapipe and on GPUs.
    const auto digest = [](const Coded& c) {
        std::uint64_t hash = 14695981039346656037u;
        for (const Bytes* bytes : {&c.codes, &c.status})
            for (const std::uint8_t b : *bytes) hash = (hash ^ b) * 1099511628211u;
        return hash;
    };
    const std::uint64_t known[] = {2201505760046905366u, 11295729245225130058u, 4437028997066186398u};
    on_device([&](weft::Backend& backend) {
        for (const std::size_t l : {0u, 1u, 2u}) {
            const Lattice lattice = kLattices[l];
            CAPTURE(weft::to_string(lattice));
            const std::size_t d = dimension(lattice);
            const LatticeCode code{
                .lattice = lattice, .beta = .3f, .alpha = .7f, .max_retries = 8, .packed = true};
            const Floats all = normal_values(1000001 * d, 1);
            const Coded whole = streamed(backend, code, all);
            CHECK(digest(whole) == known[l]);
            for (const std::size_t n : {1u, 31u, 32u, 33u, 255u, 256u, 257u}) {
                CAPTURE(n);
                const Coded part = streamed(
                    backend, code, Floats(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n * d)));
                CHECK(std::equal(part.status.begin(), part.status.end(), whole.status.begin()));
                CHECK(std::equal(part.decoded.begin(), part.decoded.end(), whole.decoded.begin()));
                const std::size_t full = n * d * 4 / 8;  // whole bytes
                CHECK(std::equal(part.codes.begin(), part.codes.begin() + static_cast<std::ptrdiff_t>(full),
                                 whole.codes.begin()));
            }
        }
    });
}

TEST_CASE("lattice: retries are exact for whole alpha, and their scale is undone") {
    on_device([](weft::Backend& backend) {
        for (const Lattice lattice : kLattices) {
            const LatticeCode code{.lattice = lattice, .max_retries = 10};
            Floats x = dyadic_values(64 * dimension(lattice), 512.0f, 3);
            check_both(backend, code, x);
            const Coded got = streamed(backend, code, x);
            CHECK(*std::max_element(got.status.begin(), got.status.end()) >= 6);
        }
        // Too large for any number of retries: said, and still a value of the right range.
        Bytes codes(8), status(1);
        const Floats x{1e6f, 0, 0, 0};
        const auto report = weft::lattice_encode(backend, {.max_retries = 10}, x, codes, status);
        CHECK(report.unresolved == 1);
        CHECK(report.retried == 1);
        CHECK(int{status[0]} == 0x8a);
        check_both(backend, {.max_retries = 10}, x);
        // Where a denormal number is flushed it has no sign, so it must not have one elsewhere.
        for (const float tiny : {1e-45f, -1e-45f, 1e-39f, -1e-39f}) {
            check_both(backend, {}, {tiny, 1, 0, 0, 1, tiny, 0, 0});
            check_both(backend, {.lattice = Lattice::e8}, {tiny, 1, 0, tiny, 0, 0, 0, 0});
        }
        check_both(backend, {.max_retries = 10}, {std::numeric_limits<float>::max(), -1e38f, 0, 1e-45f});
    });
}

TEST_CASE("lattice: vectors far outside the code, by every coordinate") {
    on_device([](weft::Backend& backend) {
        for (const Lattice lattice : kLattices)
            for (const std::uint32_t q : {3u, 4u, 5u, 16u})
                for (const std::uint32_t levels : {1u, 2u, 3u})
                    for (const float range : {64.0f, 1024.0f, 32768.0f}) {
                        CAPTURE(range);
                        const LatticeCode code{
                            .lattice = lattice, .q = q, .levels = levels, .beta = 0.5f, .packed = q == 4};
                        check_both(backend, code, dyadic_values(64 * dimension(lattice), range, q + levels));
                    }
    });
}

TEST_CASE("lattice: dither is reproduced by seed and number of the vector, across chunks and calls") {
    on_device([](weft::Backend& backend) {
        for (const Lattice lattice : kLattices) {
            const std::size_t d = dimension(lattice);
            LatticeCode code{.lattice = lattice,
                             .q = 8,
                             .beta = 0.25f,
                             .max_retries = 4,
                             .packed = true,
                             .dither_seed = 0xfedcba9876543210u,
                             .dither_first = 0xfffffff0u};
            const Floats x = dyadic_values(100 * d, 4.0f, 21);
            check_both(backend, code, x);
            const Coded whole = streamed(backend, code, x);
            const Coded cut = streamed(backend, code, x, 0, {.chunk_elements = 2});
            CHECK(cut.codes == whole.codes);
            // The second half of the vectors in a call of its own.
            code.dither_first += 50;
            const Coded half =
                streamed(backend, code, Floats(x.begin() + static_cast<std::ptrdiff_t>(50 * d), x.end()));
            CHECK(std::equal(half.decoded.begin(), half.decoded.end(),
                             whole.decoded.begin() + static_cast<std::ptrdiff_t>(50 * d)));
            code.dither_first -= 50;
            code.dither_seed = 1;
            CHECK(streamed(backend, code, x).codes != whole.codes);
        }
    });
}

TEST_CASE("lattice: more vectors than one job holds go on counting, in codes and dither") {
    on_device([](weft::Backend& backend) {
        LatticeCode code{.lattice = Lattice::z2, .packed = true, .dither_seed = 3};
        const std::size_t n = (std::size_t{1} << 22) + 37, last = 100;
        Floats x(2 * n, 1.25f);
        const Floats end = dyadic_values(2 * last, 8.0f, 6);
        std::copy(end.begin(), end.end(), x.end() - 2 * last);
        Bytes codes(weft::code_bytes(code, n));
        weft::lattice_encode(backend, code, x, codes);
        code.dither_first = n - last;
        const OracleCodes want = oracle_codes(code, end);
        CHECK(std::equal(want.codes.begin(), want.codes.end(), codes.end() - last));
    });
}

TEST_CASE("lattice: rows of any width, their last vector padded") {
    on_device([](weft::Backend& backend) {
        const struct {
            Lattice lattice;
            std::size_t width, rows;
        } shapes[] = {{Lattice::z2, 1, 35},  {Lattice::z2, 7, 21}, {Lattice::d4, 3, 19},
                      {Lattice::d4, 10, 33}, {Lattice::d4, 12, 5}, {Lattice::e8, 5, 9},
                      {Lattice::e8, 100, 7}, {Lattice::e8, 16, 3}};
        for (const auto& s : shapes) {
            const LatticeCode code{.lattice = s.lattice, .max_retries = 2, .packed = true};
            check_both(backend, code, dyadic_values(s.width * s.rows, 16.0f, s.width), s.width);
        }
    });
}
