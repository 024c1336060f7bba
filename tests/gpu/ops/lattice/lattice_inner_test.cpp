// SPDX-License-Identifier: Apache-2.0
// Inner products by table, compared with the products of decoded values, and the search for beta.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stop_token>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/lattice_oracle.hpp"

namespace {

using namespace weft_test;
using weft::Errc;
using weft::LatticeTable;
using Bytes = std::vector<std::uint8_t>;
using Floats = std::vector<float>;

std::vector<std::uint32_t> words_of(const Bytes& bytes) {
    std::vector<std::uint32_t> words((bytes.size() + 3) / 4, 0);
    if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
}

}  // namespace

TEST_CASE("lattice inner: the known product of two D4 codes") {
    on_device([](weft::Backend& backend) {
        const LatticeTable table(Lattice::d4, 4);
        CHECK(table.points() == 256);
        // Digits (3,0,2,0 | 0,0,0,0) and (0,2,3,0 | 0,1,0,0): -1 + 4 * 2.
        CHECK(table(3 + 2 * 16, 2 * 4 + 3 * 16) == -1);
        CHECK(table(3 + 2 * 16, 1 * 4) == 2);
        CHECK(table(0, 2 * 4 + 3 * 16) == 0);
        int least = 0, most = 0;
        for (std::uint32_t a = 0; a < 256; ++a)
            for (std::uint32_t b = 0; b < 256; ++b) {
                least = std::min(least, table(a, b));
                most = std::max(most, table(a, b));
            }
        CHECK(least == -12);
        CHECK(most == 16);
        CHECK(table.largest() == 16);
        const Bytes x{3, 0, 2, 0, 0, 0, 0, 0}, y{0, 2, 3, 0, 0, 1, 0, 0};
        Floats out(1, 77);
        weft::lattice_inner(backend, table, {}, x, y, out);
        CHECK(out[0] == 7);
        weft::lattice_inner(backend, table, {.beta = 0.5f}, x, y, out);
        CHECK(out[0] == 1.75f);
    });
}

TEST_CASE("lattice inner: refused calls") {
    check_error(Errc::invalid_argument, "LatticeTable: too many entries for E8 (got q^16 with q = 4",
                [] { LatticeTable(Lattice::e8, 4); });
    check_error(Errc::invalid_argument, "LatticeTable: too many entries for D4 (got q^8 with q = 9",
                [] { LatticeTable(Lattice::d4, 9); });
    check_error(Errc::invalid_argument, "LatticeTable: LatticeCode::q is 2",
                [] { LatticeTable(Lattice::z2, 2); });
    on_device([](weft::Backend& backend) {
        const LatticeTable table(Lattice::d4, 4), small(Lattice::d4, 3);
        const Bytes x(16), y(16);
        Floats out(2, 77);
        const auto refuse = [&](const char* part, const LatticeTable& t, const LatticeCode& code,
                                std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
            check_error(Errc::invalid_argument, part,
                        [&] { weft::lattice_inner(backend, t, code, a, b, out); });
        };
        refuse("lattice_inner: the table is of another code (got D4, q = 3, need D4, q = 4", small, {}, x, y);
        refuse("vectors with retries differ in scale", table, {.max_retries = 1}, x, y);
        refuse("the dither is not in the table", table, {.dither_seed = 1}, x, y);
        refuse("x does not fit the shape (got 8 bytes, need 16", table, {}, std::span(x).first(8), y);
        refuse("y does not fit the shape (got 15 bytes, need 16", table, {}, x, std::span(y).first(15));
        check_error(Errc::invalid_argument, "the sum of a row may not fit 32 bits", [&] {
            const LatticeTable wide(Lattice::z2, 16);
            Floats one(1);
            const Bytes codes(1024 * 4 * 2);
            weft::lattice_inner(backend, wide, {.lattice = Lattice::z2, .q = 16, .levels = 4}, codes, codes,
                                one, {.width = 2048});
        });
        const Bytes bad{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0};
        check_error(
            Errc::invalid_argument,
            "lattice_inner: y: digit 1 of level 1 of vector 1 is out of range (got 4, need below q = 4)",
            [&] { weft::lattice_inner(backend, table, {}, x, bad, out, {.check_values = true}); });
        CHECK(out == Floats(2, 77));
        CHECK(backend.counters().submissions == 0);
    });
}

TEST_CASE("lattice inner: a backend uploads a table once, for all streams, and counts it") {
    on_device([](weft::Backend& backend) {
        const LatticeTable table(Lattice::d4, 4), again(Lattice::d4, 4), other(Lattice::d4, 3);
        const weft::Buffer<std::uint32_t> codes(backend, 2);
        const weft::Buffer<float> out(backend, 1);
        const Floats want{static_cast<float>(table(3 + 2 * 16, 3 + 2 * 16))};
        CHECK(want[0] > 0);
        const auto tables = [&] {
            for (const auto& named : backend.memory().names)
                if (named.name == "lattice table") return named;
            return weft::MemoryReport::Named{};
        };
        weft::Stream one(backend), two(backend);
        one.upload(words_of({3, 0, 2, 0, 0, 0, 0, 0}), codes);
        const auto steps =
            one.record([&](weft::Stream& s) { weft::lattice_inner(s, table, {}, codes, codes, out); });
        CHECK(tables().live_bytes == table.words().size_bytes());
        one.wait();
        const std::uint64_t before = backend.counters().submissions;
        weft::lattice_inner(two, again, {}, codes, codes, out);  // not submitted, so nothing is uploaded
        CHECK(backend.counters().submissions == before);
        CHECK(two.download(out) == want);
        weft::lattice_inner(two, other, {.q = 3}, codes.view(0, 2), codes, out);
        CHECK(tables().live_count == 2);
        two.wait();
        two.replay(steps);  // the sequence keeps its table, which trim() does not free
        backend.trim();
        CHECK(two.download(out) == want);
        CHECK(tables().live_count == 1);
    });
}

TEST_CASE("lattice search: continues below its range if retries make that better") {
    on_device([](weft::Backend& backend) {
        LatticeCode code{.max_retries = 10};
        Floats sample = normal_values(4 * 2000, 5);
        for (std::size_t i = 0; i < sample.size(); ++i)
            if (i / 4 % 97 == 0) sample[i] *= 500;
        std::uint64_t total = 0;
        const weft::LatticeSearch search = weft::lattice_search_beta(
            backend, code, sample,
            {.batch = {.progress = [&](const weft::Progress& p) { total = p.total; }}});
        CHECK(search.trials.size() == total);
        CHECK(search.trials.size() > 100);  // 40 more than in the range, and at least 20 around a minimum
        CHECK(search.best.beta > search.trials.front().beta);
        CHECK(search.best.beta < search.trials.back().beta / 64);
        for (const float factor : {1 / 32.0f, 1 / 8.0f, 0.5f, 2.0f, 8.0f}) {
            CAPTURE(factor);
            code.beta = search.best.beta * factor;
            Floats y(sample.size());
            weft::lattice_quantize(backend, code, sample, y);
            double sum = 0;
            for (std::size_t i = 0; i < y.size(); ++i)
                sum += std::pow(static_cast<double>(sample[i]) - static_cast<double>(y[i]), 2);
            CHECK(sum / static_cast<double>(y.size()) >= 0.98 * search.best.mean_squared_error);
        }
    });
}

TEST_CASE("lattice search: finds the beta with the least error of the sample") {
    on_device([](weft::Backend& backend) {
        const LatticeCode code{.beta = 1000};
        const Floats sample = normal_values(4 * 4000, 5);
        std::vector<std::uint64_t> reported;
        std::uint64_t last_total = 0;
        const auto note = [&](const weft::Progress& p) {
            CHECK(p.total == (p.done <= 40 ? 60 : 80));  // then a second minimum is found
            last_total = p.total;
            reported.push_back(p.done);
        };
        const weft::LatticeSearch search =
            weft::lattice_search_beta(backend, code, sample, {.batch = {.progress = note}});
        CHECK(search.trials.size() == last_total);
        REQUIRE(reported.size() == last_total);
        for (std::size_t i = 0; i < reported.size(); ++i) CHECK(reported[i] == i + 1);
        CHECK(search.report.op == "lattice_search_beta");
        CHECK(search.report.items == last_total);
        CHECK(search.report.bytes_in == last_total * sample.size() * sizeof(float));
        CHECK(search.report.wall_s > 0);
        CHECK_THROWS_AS(
            weft::lattice_search_beta(backend, code, sample,
                                      {.batch = {.progress = [](const weft::Progress&) { throw 5; }}}),
            int);
        std::stop_source stop;
        check_error(Errc::cancelled,
                    "lattice_search_beta: cancelled by its stop token (1 of 60 betas were tried)", [&] {
                        weft::lattice_search_beta(
                            backend, code, sample,
                            {.batch = {.progress = [&](const weft::Progress&) { stop.request_stop(); },
                                       .cancel = stop.get_token()}});
                    });
        CHECK(std::is_sorted(search.trials.begin(), search.trials.end(),
                             [](const auto& a, const auto& b) { return a.beta < b.beta; }));
        for (const weft::LatticeTrial& t : search.trials)
            CHECK(t.mean_squared_error >= search.best.mean_squared_error);
        // The error is much smaller than with cells of twice or half the size, and equals the one computed
        // directly.
        CHECK(search.best.beta > 0.3f);
        CHECK(search.best.beta < 0.6f);
        LatticeCode best = code;
        best.beta = search.best.beta;
        Floats y(sample.size());
        const auto report = weft::lattice_quantize(backend, best, sample, y);
        double sum = 0;
        for (std::size_t i = 0; i < y.size(); ++i)
            sum += std::pow(static_cast<double>(sample[i]) - static_cast<double>(y[i]), 2);
        CHECK(search.best.mean_squared_error ==
              doctest::Approx(sum / static_cast<double>(y.size())).epsilon(1e-9));
        CHECK(search.best.unresolved ==
              doctest::Approx(static_cast<double>(report.unresolved) / 4000).epsilon(1e-9));

        const auto narrow =
            weft::lattice_search_beta(backend, code, sample, {.low = 0.5f, .high = 0.5f, .steps = 2});
        CHECK(narrow.best.beta == 0.5f);
        check_error(Errc::invalid_argument, "lattice_search_beta: the sample is empty",
                    [&] { weft::lattice_search_beta(backend, code, {}); });
        check_error(Errc::invalid_argument, "lattice_search_beta: range of beta",
                    [&] { weft::lattice_search_beta(backend, code, sample, {.low = 2, .high = 1}); });
        check_error(Errc::invalid_argument, "lattice_search_beta: range of beta",
                    [&] { weft::lattice_search_beta(backend, code, sample, {.low = std::nanf("")}); });
        check_error(Errc::invalid_argument, "steps are out of range (got 1, need 2 to 1000",
                    [&] { weft::lattice_search_beta(backend, code, sample, {.steps = 1}); });
        Floats bad = sample;
        bad[17] = std::numeric_limits<float>::infinity();
        check_error(Errc::invalid_argument, "lattice_search_beta: value 1 of row 4 is not finite",
                    [&] { weft::lattice_search_beta(backend, code, bad); });
        const Floats zeros(16, 0.0f);
        CHECK(weft::lattice_search_beta(backend, code, zeros).best.mean_squared_error == 0);
    });
}
