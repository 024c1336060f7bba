// SPDX-License-Identifier: Apache-2.0
// Lattice codes on the device, compared with the exact oracle: known answers, every lattice, odd and even
// bases, ties, retries, dither, padded rows; from host memory and resident.
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

constexpr Lattice kLattices[] = {Lattice::z2, Lattice::d4, Lattice::e8};

}  // namespace

TEST_CASE(
    "lattice: all code words of D4, base 4, two levels, decode to different points with the same codes") {
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
                if (i % 8 != 0) continue;  // the oracle is slow
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

TEST_CASE("lattice: adding a point to the input adds it to the output, ties included") {
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
            const Floats x = dyadic_values(64 * dimension(lattice), 512.0f, 3);
            const Coded got = streamed(backend, code, x);
            CHECK(*std::max_element(got.status.begin(), got.status.end()) >= 6);
        }
        // Too large for any number of retries: it is reported, and the decoded value is still in range.
        Bytes codes(8), status(1);
        const Floats x{1e6f, 0, 0, 0};
        const auto report = weft::lattice_encode(backend, {.max_retries = 10}, x, codes, status);
        CHECK(report.unresolved == 1);
        CHECK(report.retried == 1);
        CHECK(int{status[0]} == 0x8a);
    });
}

TEST_CASE("lattice: the powers of retries are uploaded once, and recorded steps keep them") {
    on_device([](weft::Backend& backend) {
        const LatticeCode code{.lattice = Lattice::z2, .alpha = 0.25f, .max_retries = 12};
        const weft::Buffer<float> x(backend, 4), y(backend, 4), z(backend, 4);
        const weft::Buffer<std::uint32_t> codes(backend, 2), status(backend, 1), again(backend, 1);
        const auto tables = [&] {
            for (const auto& named : backend.memory().names)
                if (named.name == "lattice scales") return named;
            return weft::MemoryReport::Named{};
        };
        weft::Stream stream(backend);
        const weft::Sequence steps = stream.record([&](weft::Stream& s) {
            weft::lattice_encode(s, code, x, codes, status);
            weft::lattice_decode(s, code, codes, status.view(), y);
            weft::lattice_quantize(s, code, x, z, again);
        });
        CHECK(tables().live_count == 1);
        backend.trim();  // the sequence keeps its table
        stream.upload(Floats{40, 0, 1, -2}, x);
        stream.replay(steps);
        const Floats want{40, 0, 1, -2};
        CHECK(stream.download(y) == want);
        CHECK(stream.download(z) == want);
        CHECK((stream.download(status)[0] & 0xffff) == 12);
        CHECK(stream.download(again) == stream.download(status));
        // Without retries there is no table.
        weft::lattice_quantize(stream, {.lattice = Lattice::z2}, x, z, again);
        stream.wait();
        CHECK(tables().live_count == 1);
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
            const Coded whole = streamed(backend, code, x);
            const Coded cut = streamed(backend, code, x, 0, {.chunk_elements = 2});
            CHECK(cut.codes == whole.codes);
            // The second half of the vectors in a separate call.
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

TEST_CASE("lattice: vectors of several jobs are counted on, in codes and dither") {
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
