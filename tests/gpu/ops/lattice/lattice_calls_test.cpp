// SPDX-License-Identifier: Apache-2.0
// Lattice calls: chunks, paths, guards, kinds of memory, values and digits that are refused.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/lattice_oracle.hpp"

namespace {

using namespace weft_test;
using weft::BatchMode;
using weft::Errc;
using weft::Path;
using weft::QueueMode;
using Bytes = std::vector<std::uint8_t>;
using Floats = std::vector<float>;

constexpr std::uint8_t kGuard = 0xa5;

// Spans in the middle of guarded memory.
struct Guarded {
    explicit Guarded(std::size_t n) : memory(n + 128, kGuard), bytes(n) {}
    std::span<std::uint8_t> span() { return std::span(memory).subspan(64, bytes); }
    bool holds() const {
        return std::count(memory.begin(), memory.begin() + 64, kGuard) == 64 &&
               std::count(memory.end() - 64, memory.end(), kGuard) == 64;
    }
    bool untouched() const {
        return std::count(memory.begin(), memory.end(), kGuard) == static_cast<std::ptrdiff_t>(memory.size());
    }
    Bytes memory;
    std::size_t bytes;
};

}  // namespace

TEST_CASE("lattice calls: chunks, paths, queues and modes give the same bits, and write nothing else") {
    on_device([](weft::Backend& backend) {
        const LatticeCode code{.lattice = Lattice::z2, .q = 3, .levels = 1, .max_retries = 1, .packed = true};
        for (const std::size_t n : {1u, 3u, 16u, 17u, 100u, 1000u}) {
            const Floats x = dyadic_values(2 * n, 4.0f, n);
            const OracleCodes want = oracle_codes(code, x);
            for (const Path path : {Path::automatic, Path::staged, Path::direct, Path::imported, Path::host})
                for (const QueueMode queues : {QueueMode::single, QueueMode::split})
                    for (const BatchMode mode : {BatchMode::pipelined, BatchMode::sequential}) {
                        CAPTURE(n);
                        CAPTURE(weft::to_string(path));
                        weft::BatchOptions batch{
                            .mode = mode, .path = path, .queues = queues, .chunk_elements = 3};
                        Guarded codes(weft::code_bytes(code, n)), status(n);
                        Floats y(x.size() + 2, 77);
                        weft::lattice_encode(backend, code, x, codes.span(), status.span(), {.batch = batch});
                        CHECK(std::ranges::equal(codes.span(), want.codes));
                        CHECK(std::ranges::equal(status.span(), want.status));
                        CHECK(codes.holds());
                        CHECK(status.holds());
                        weft::lattice_decode(backend, code, codes.span(), status.span(),
                                             std::span(y).subspan(1, x.size()), {.batch = batch});
                        CHECK(y.front() == 77);
                        CHECK(y.back() == 77);
                        CHECK(bits_of(std::span(y).subspan(1, x.size())) == bits_of(want.values));
                    }
        }
    });
}

TEST_CASE("lattice calls: page-locked memory, in place, and without the caller's statuses") {
    on_device([](weft::Backend& backend) {
        const LatticeCode code{.max_retries = 2};
        const std::size_t n = 1003;
        const Floats x = dyadic_values(4 * n, 64.0f, 8);
        const OracleCodes want = oracle_codes(code, x);
        weft::HostBuffer<float> in(backend, x.size());
        weft::HostBuffer<std::uint8_t> codes(backend, want.codes.size()), status(backend, n);
        std::copy(x.begin(), x.end(), in.begin());
        const auto report = weft::lattice_encode(backend, code, in.span(), codes.span(), status.span());
        CHECK(std::ranges::equal(codes.span(), want.codes));
        CHECK(std::ranges::equal(status.span(), want.status));
        const auto retried = [](std::uint8_t s) { return (s & 0x7f) != 0; };
        const auto lost = [](std::uint8_t s) { return s >= 0x80; };
        CHECK(report.items == n);
        CHECK(report.retried == static_cast<std::uint64_t>(std::ranges::count_if(want.status, retried)));
        CHECK(report.unresolved == static_cast<std::uint64_t>(std::ranges::count_if(want.status, lost)));
        CHECK(report.op == "lattice_encode");
        CHECK(report.retried > 0);
        CHECK(report.unresolved > 0);

        Bytes own(want.codes.size());
        const auto silent = weft::lattice_encode(backend, code, x, own);
        CHECK(own == want.codes);
        CHECK(silent.unresolved == report.unresolved);

        Floats y = x;
        CHECK(weft::lattice_quantize(backend, code, y, y).retried == report.retried);
        CHECK(bits_of(y) == bits_of(want.values));
        weft::lattice_quantize(backend, code, in.span(), in.span());
        CHECK(bits_of(in.span()) == bits_of(want.values));

        weft::Buffer<float> buffer(backend, x.size());
        weft::Buffer<std::uint32_t> words(backend, weft::status_words(n));
        weft::Stream stream(backend);
        stream.upload(x, buffer);
        weft::lattice_quantize(stream, code, buffer, buffer, words);
        CHECK(bits_of(stream.download(buffer)) == bits_of(want.values));
    });
}

TEST_CASE("lattice calls: nothing to do succeeds and submits nothing") {
    on_device([](weft::Backend& backend) {
        CHECK(weft::lattice_encode(backend, {}, {}, {}).items == 0);
        CHECK(weft::lattice_decode(backend, {}, {}, {}, {}).items == 0);
        CHECK(weft::lattice_quantize(backend, {}, {}, {}, {}, {.width = 5, .check_values = true}).items == 0);
        CHECK(backend.counters().submissions == 0);
    });
}

TEST_CASE("lattice calls: values that are not finite") {
    on_device([](weft::Backend& backend) {
        for (const Lattice lattice : {Lattice::z2, Lattice::d4, Lattice::e8})
            for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity(),
                                    -std::numeric_limits<float>::infinity()}) {
                const LatticeCode code{.lattice = lattice, .max_retries = 3};
                const std::size_t d = dimension(lattice), n = 50;
                Floats x = dyadic_values(n * d, 16.0f, 4), y(x.size(), 77);
                OracleCodes want = oracle_codes(code, x);
                const std::size_t at = 20 * d + 1;
                x[at] = bad;
                std::fill_n(want.codes.begin() + static_cast<std::ptrdiff_t>(20 * d * 2), d * 2,
                            std::uint8_t{0});
                want.status[20] = weft::kLatticeNotFinite;

                Bytes codes(want.codes.size(), kGuard), status(n, kGuard);
                check_error(Errc::invalid_argument, "lattice_encode: value 1 of row 20 is not finite", [&] {
                    weft::lattice_encode(backend, code, x, codes, status, {.check_values = true});
                });
                CHECK(std::count(codes.begin(), codes.end(), kGuard) ==
                      static_cast<std::ptrdiff_t>(codes.size()));
                Floats more = x;
                more[20 * d] = more.back() = std::nanf("");
                try {
                    weft::lattice_encode(backend, code, more, codes, status, {.check_values = true});
                    FAIL_CHECK("was accepted");
                } catch (const weft::EncodeError& error) {
                    REQUIRE(error.failures().size() == 2);
                    CHECK(error.failures()[0].sample == 20);
                    CHECK(error.failures()[0].position == 0);
                    CHECK(error.failures()[1].sample == n - 1);
                    CHECK(error.failures()[1].position == d - 1);
                    CHECK(error.failures()[1].fault == weft::EncodeFault::not_a_number);
                }
                check_error(
                    Errc::invalid_argument,
                    "lattice_encode: value 1 of row 20 is not finite (got 1 of 50 vectors with such values",
                    [&] { weft::lattice_encode(backend, code, x, codes, status); });
                CHECK(codes == want.codes);
                CHECK(status == want.status);
                check_error(Errc::invalid_argument,
                            "lattice_quantize: value 1 of row 20 is not finite (got 1 of 50",
                            [&] { weft::lattice_quantize(backend, code, x, y); });
                // Without check_values the same rows are named, once all others are done; in place they are
                // NaN.
                for (const bool in_place : {false, true}) {
                    Floats z = more;
                    try {
                        weft::lattice_quantize(backend, code, in_place ? z : more, z);
                        FAIL_CHECK("was accepted");
                    } catch (const weft::EncodeError& error) {
                        REQUIRE(error.failures().size() == 2);
                        CHECK(error.failures()[0].sample == 20);
                        CHECK(error.failures()[0].position == 0);
                        CHECK(error.failures()[1].sample == n - 1);
                        CHECK(error.failures()[1].position == (in_place ? 0 : d - 1));
                    }
                    CHECK(z[0] == want.values[0]);
                }
                for (std::size_t i = 0; i < x.size(); ++i) {
                    if (i / d == 20)
                        CHECK(std::isnan(y[i]));
                    else
                        CHECK(y[i] == want.values[i]);
                }
                // The status distinguishes them from zeros.
                check_error(Errc::invalid_argument, "vector 20 was not finite when it was encoded", [&] {
                    weft::lattice_decode(backend, code, codes, status, y, {.check_values = true});
                });
                weft::lattice_decode(backend, code, codes, status, y);
                CHECK(std::isnan(y[at]));
                CHECK(y[at + d] == want.values[at + d]);
            }
    });
}

TEST_CASE("lattice calls: statuses of many jobs, the last rows of all among them, are counted once each") {
    on_device([](weft::Backend& backend) {
        const LatticeCode code{.lattice = Lattice::z2, .q = 3, .max_retries = 1, .packed = true};
        const std::size_t n = (std::size_t{3} << 20) + 5;  // not a multiple of an element
        Floats x(2 * n, 0.25f);
        for (const std::size_t v : {std::size_t{0}, n / 3, n / 2, n - 1}) x[2 * v] = 6;  // -4 to 4 fit
        for (const std::size_t v : {std::size_t{7}, n - 300'000, n - 2}) x[2 * v + 1] = -1000;
        Bytes codes(weft::code_bytes(code, n)), status(n);
        std::vector<std::uint64_t> reported;
        weft::LatticeHostOptions options;
        options.batch.progress = [&](const weft::Progress& progress) {
            CHECK(progress.total == n);
            reported.push_back(progress.done);
        };
        const weft::OpReport report = weft::lattice_encode(backend, code, x, codes, status, options);
        CHECK(report.retried == 7);
        CHECK(report.unresolved == 3);
        CHECK(std::count(status.begin(), status.end(), 1) == 4);
        CHECK(std::count(status.begin(), status.end(), 0x81) == 3);
        CHECK(report.items == n);
        CHECK(reported.size() > 3);
        CHECK(std::ranges::is_sorted(reported));
        CHECK(reported.back() == n);
        Floats y(x.size());
        const weft::OpReport back = weft::lattice_decode(backend, code, codes, status, y);
        CHECK(back.retried == 7);
        CHECK(back.unresolved == 3);
        CHECK(y[2 * (n - 1)] == 6);

        x[2 * (n - 400'000)] = std::nanf("");
        x[2 * (n - 3)] = std::nanf("");
        const std::string first = std::to_string(n - 400'000);
        check_error(Errc::invalid_argument,
                    "value 0 of row " + first + " is not finite (got 2 of 3145733 vectors",
                    [&] { weft::lattice_encode(backend, code, x, codes, status); });
        options.batch.progress = [](const weft::Progress&) { throw std::runtime_error("enough"); };
        CHECK_THROWS_WITH(weft::lattice_encode(backend, code, x, codes, status, options), "enough");
        std::stop_source stop;
        options.batch.cancel = stop.get_token();
        options.batch.progress = [&](const weft::Progress&) { stop.request_stop(); };
        check_error(Errc::cancelled, "cancelled by its stop token",
                    [&] { weft::lattice_encode(backend, code, x, codes, status, options); });
    });
}

TEST_CASE("lattice calls: digits of q and more") {
    on_device([](weft::Backend& backend) {
        for (const bool packed : {false, true}) {
            const LatticeCode code{.q = 5, .max_retries = 2, .packed = packed};
            const std::size_t n = 9;
            Bytes codes(weft::code_bytes(code, n), 0), status(n, 0);
            Floats x(4 * n, 77);
            // Digit 2 of level 1 of vector 7 is 5.
            if (packed) {
                const std::size_t bit = (7 * 8 + 6) * 3;
                for (std::size_t k = 0; k < 3; ++k)
                    if (5 >> k & 1) codes[(bit + k) / 8] |= static_cast<std::uint8_t>(1u << ((bit + k) % 8));
            } else {
                codes[7 * 8 + 6] = 5;
            }
            check_error(
                Errc::invalid_argument,
                "lattice_decode: digit 2 of level 1 of vector 7 is out of range (got 5, need below q = 5",
                [&] { weft::lattice_decode(backend, code, codes, status, x, {.check_values = true}); });
            CHECK(std::count(x.begin(), x.end(), 77.0f) == 36);
            try {
                weft::lattice_decode(backend, code, codes, status, x, {.check_values = true});
            } catch (const weft::EncodeError& error) {
                REQUIRE(error.failures().size() == 1);
                CHECK(error.failures()[0].sample == 7);
                CHECK(error.failures()[0].position == 6);
                CHECK(error.failures()[0].fault == weft::EncodeFault::out_of_range);
            }
            status[3] = 3;
            check_error(Errc::invalid_argument,
                        "status of vector 3 has too many retries (got 3, need at most", [&] {
                            weft::lattice_decode(backend, code, Bytes(codes.size(), 0), status, x,
                                                 {.check_values = true});
                        });
            weft::lattice_decode(backend, code, codes, status, x);
            for (std::size_t v = 0; v < n; ++v)
                for (std::size_t i = 0; i < 4; ++i) {
                    if (v == 7 || v == 3)
                        CHECK(std::isnan(x[4 * v + i]));
                    else
                        CHECK(x[4 * v + i] == 0.0f);
                }
        }
    });
}

TEST_CASE("lattice calls: refused arguments leave outputs as they were and submit nothing") {
    on_device([](weft::Backend& backend) {
        const Floats x(40, 1.0f);
        Guarded codes(80), status(10);
        Floats y(40, 77);
        const auto encode = [&](const LatticeCode& code, const char* part, std::size_t width = 0,
                                std::size_t values = 40, std::size_t bytes = 80, std::size_t n = 10) {
            check_error(Errc::invalid_argument, part, [&] {
                weft::lattice_encode(backend, code, std::span(x).first(values), codes.span().first(bytes),
                                     status.span().first(n), {.width = width});
            });
        };
        encode({.q = 2}, "lattice_encode: LatticeCode::q is 2, which has no code for positive values");
        encode({.levels = 5}, "LatticeCode::levels");
        encode({.beta = 0}, "LatticeCode::beta");
        encode({}, "values are no whole rows (got 39, need a multiple of 4", 0, 39);
        encode({}, "values are no whole rows (got 40, need a multiple of 7", 7);
        encode({}, "codes does not fit the shape (got 79 bytes, need 80", 0, 40, 79);
        encode({}, "status does not fit the shape (got 9 bytes, need 10", 0, 40, 80, 9);
        encode({}, "codes does not fit the shape (got 80 bytes, need 160", 2);
        check_error(Errc::invalid_argument, "lattice_quantize: y overlaps x", [&] {
            weft::lattice_quantize(backend, {}, std::span(y).first(36), std::span(y).subspan(4));
        });
        check_error(Errc::invalid_argument,
                    "lattice_quantize: y does not fit the shape (got 36 values, need 40",
                    [&] { weft::lattice_quantize(backend, {}, x, std::span(y).first(36)); });
        check_error(Errc::invalid_argument, "lattice_encode: codes is null", [&] {
            weft::lattice_encode(backend, {}, x, {static_cast<std::uint8_t*>(nullptr), 80});
        });
        check_error(Errc::invalid_argument,
                    "lattice_decode: depth is out of range (got 3, need at most levels = 2",
                    [&] { weft::lattice_decode(backend, {}, Bytes(80), {}, y, {.depth = 3}); });
        check_error(Errc::invalid_argument,
                    "lattice_decode: codes does not fit the shape (got 80 bytes, need 72",
                    [&] { weft::lattice_decode(backend, {}, Bytes(80), {}, std::span(y).first(36)); });
        CHECK(codes.untouched());
        CHECK(status.untouched());
        CHECK(std::count(y.begin(), y.end(), 77.0f) == 40);
        CHECK(backend.counters().submissions == 0);
    });
}

TEST_CASE("lattice calls: resident calls refuse arguments that do not fit") {
    on_device([](weft::Backend& backend) {
        weft::Buffer<float> x(backend, 400), y(backend, 400);
        weft::Buffer<std::uint32_t> codes(backend, 200), status(backend, 25);
        weft::Stream stream(backend);
        check_error(Errc::invalid_argument,
                    "lattice_encode: codes does not fit the shape (got 199 words, need 200",
                    [&] { weft::lattice_encode(stream, {}, x, codes.view(0, 199), status); });
        check_error(Errc::invalid_argument,
                    "lattice_encode: status does not fit the shape (got 24 words, need 25",
                    [&] { weft::lattice_encode(stream, {}, x, codes, status.view(0, 24)); });
        check_error(Errc::invalid_argument, "lattice_encode: LatticeCode::q is out of range",
                    [&] { weft::lattice_encode(stream, {.q = 99}, x, codes, status); });
        check_error(Errc::invalid_argument, "lattice_decode: status does not fit the shape",
                    [&] { weft::lattice_decode(stream, {}, codes, status.view(0, 3), x); });
        check_error(Errc::invalid_argument, "lattice_decode: depth is out of range",
                    [&] { weft::lattice_decode(stream, {}, codes, {}, x, {.depth = 9}); });
        check_error(
            Errc::invalid_argument, "lattice_quantize: y overlaps x in part (got a distance of 64 values",
            [&] { weft::lattice_quantize(stream, {}, x.view(0, 200), x.view(64, 200), status.view(0, 13)); });
        weft::lattice_encode(stream, {}, x.view(0, 0), codes.view(0, 0), status.view(0, 0));
        CHECK(backend.counters().submissions == 0);
    });
}

TEST_CASE("lattice calls: the same call again makes nothing new") {
    on_device([](weft::Backend& backend) {
        const LatticeCode code{.packed = true};
        const Floats x = dyadic_values(4 * 640, 8.0f, 2);
        Bytes codes(weft::code_bytes(code, 640)), status(640);
        for (int i = 0; i < 3; ++i) weft::lattice_encode(backend, code, x, codes, status);
        const weft::Counters before = backend.counters();
        weft::lattice_encode(backend, code, x, codes, status);
        const weft::Counters after = backend.counters();
        CHECK(after.objects_created == before.objects_created);
        CHECK(after.memory_allocations == before.memory_allocations);
        CHECK(after.descriptor_updates == before.descriptor_updates);
        CHECK(after.recordings == before.recordings);
    });
}
