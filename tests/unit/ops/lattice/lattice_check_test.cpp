// SPDX-License-Identifier: Apache-2.0
// Codes, shapes, digits and statuses that lattice calls refuse, and the sizes that they need.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <weft/error.hpp>

#include "ops/lattice/lattice_check.hpp"
#include "ops/lattice/lattice_plan.hpp"
#include "ops/lattice/lattice_resident.hpp"
#include "ops/lattice/status_counter.hpp"

namespace {

using weft::Lattice;
using weft::LatticeCode;
namespace kernels = weft::kernels;

std::string refusal(const std::function<void()>& call) {
    try {
        call();
    } catch (const weft::Error& error) {
        CHECK(error.code() == weft::Errc::invalid_argument);
        return error.what();
    }
    return "";
}

bool has(const std::string& text, const std::string& part) {
    INFO(text);
    const bool found = text.find(part) != std::string::npos;
    CHECK(found);
    return found;
}

}  // namespace

TEST_CASE("lattice check: members of a code") {
    const auto text = [](const LatticeCode& code) {
        return refusal([&] { kernels::check_lattice_code("f", code); });
    };
    for (const LatticeCode& good :
         {LatticeCode{}, LatticeCode{.lattice = Lattice::e8, .q = 16, .levels = 4},
          LatticeCode{.q = 3, .levels = 1, .beta = 0x1p-40f, .alpha = 4, .max_retries = 16},
          LatticeCode{.beta = 0x1p40f, .alpha = 0.1f, .max_retries = 100}})
        CHECK(text(good) == "");
    const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
    const struct {
        LatticeCode code;
        const char* part;
    } rows[] = {
        {{.lattice = static_cast<Lattice>(7)},
         "f: LatticeCode::lattice is out of range (got 7, need z2, d4 or e8"},
        {{.q = 0}, "q is out of range (got 0, need 3 to 16"},
        {{.q = 1}, "q is out of range (got 1"},
        {{.q = 2}, "q is 2, which has no code for positive values"},
        {{.q = 17}, "q is out of range (got 17"},
        {{.levels = 0}, "levels is out of range (got 0, need 1 to 4"},
        {{.levels = 5}, "levels is out of range (got 5"},
        {{.beta = 0}, "beta is out of range (got 0"},
        {{.beta = -1}, "beta is out of range (got -1"},
        {{.beta = nan}, "beta is out of range (got nan"},
        {{.beta = inf}, "beta is out of range (got inf"},
        {{.beta = 1e-13f}, "beta is out of range"},
        {{.alpha = 0}, "alpha is out of range (got 0"},
        {{.alpha = nan}, "alpha is out of range"},
        {{.alpha = 4.5f}, "alpha is out of range (got 4.5"},
        {{.max_retries = 65}, "max_retries is out of range (got 65, need at most 64"},
        {{.alpha = 0.01f, .max_retries = 101}, "max_retries is out of range (got 101, need at most 100"},
    };
    for (const auto& row : rows) has(text(row.code), row.part);
}

TEST_CASE("lattice check: sizes of codes") {
    constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
    const LatticeCode widest{.lattice = Lattice::e8, .levels = 4};
    const struct {
        LatticeCode code;
        std::size_t vectors;
        std::uint32_t bits;
        std::size_t bytes, words;
    } rows[] = {
        {{}, 3, 8, 24, 6},
        {{.packed = true}, 3, 2, 6, 2},
        {{.lattice = Lattice::z2, .q = 3, .levels = 1, .packed = true}, 3, 2, 2, 1},
        {{.lattice = Lattice::z2, .q = 5, .levels = 3, .packed = true}, 5, 3, 12, 3},
        {{.lattice = Lattice::e8, .q = 16, .levels = 4, .packed = true}, 2, 4, 32, 8},
        {{.lattice = Lattice::e8, .q = 9, .levels = 1, .packed = true}, 1, 4, 4, 1},
        {{.packed = true}, 0, 2, 0, 0},
        {{.packed = true}, std::size_t{1} << 60, 2, std::size_t{1} << 61, std::size_t{1} << 59},
        // 32 bytes a vector: the largest number of vectors that can be counted, and one more.
        {widest, kMost / 32, 8, kMost - 31, kMost / 4 - 7},
        {widest, kMost / 32 + 1, 8, kMost, kMost / 4 + 1},
        {widest, kMost / 8, 8, kMost, kMost - 7},
        {widest, kMost / 8 + 1, 8, kMost, kMost},
        {widest, kMost, 8, kMost, kMost},
        {{.lattice = Lattice::z2, .q = 3, .levels = 1, .packed = true},
         kMost,
         2,
         kMost / 2 + 1,
         kMost / 8 + 1},
        // This is not a valid code, but the function must not crash.
        {{.q = 1, .packed = true}, kMost, 0, 0, 0},
        {{.levels = 0}, kMost, 8, 0, 0},
    };
    for (const auto& row : rows) {
        CHECK(weft::digit_bits(row.code) == row.bits);
        CHECK(weft::code_bytes(row.code, row.vectors) == row.bytes);
        CHECK(weft::code_words(row.code, row.vectors) == row.words);
    }
    CHECK(weft::lattice_tiles(Lattice::d4, 10) == 3);
    CHECK(weft::lattice_tiles(Lattice::d4, 8) == 2);
    CHECK(weft::status_words(0) == 0);
    CHECK(weft::status_words(5) == 2);
}

TEST_CASE("lattice check: inner products of more vectors than can be counted are refused") {
    const LatticeCode code{.lattice = Lattice::z2, .q = 3, .levels = 1};
    const weft::LatticeTable table(Lattice::z2, 3);
    constexpr std::size_t kTiles = std::size_t{1} << 28, kRows = std::size_t{1} << 28;
    CHECK(kernels::inner_shape(table, code, kRows, 2 * kTiles).vectors() == kRows * kTiles);
    has(refusal([&] { kernels::inner_shape(table, code, kRows + 1, 2 * kTiles); }),
        "lattice_inner: too many vectors (got 268435457 rows of 268435456, need at most 2^56");
    // A number of vectors that overflows to 0.
    has(refusal([&] { kernels::inner_shape(table, code, std::size_t{1} << 36, 2 * kTiles); }),
        "too many vectors");
}

TEST_CASE("lattice check: rows become elements whose codes are whole words") {
    for (const Lattice lattice : {Lattice::z2, Lattice::d4, Lattice::e8})
        for (std::size_t width = 1; width <= 40; ++width) {
            const kernels::LatticeShape shape = kernels::lattice_shape("f", lattice, width * 48, width);
            CHECK(shape.vectors() == 48 * weft::lattice_tiles(lattice, width));
            CHECK(shape.ragged == (width % weft::dimension(lattice) != 0));
            CHECK(shape.given_width == width);  // also if vectors count as rows
            for (const std::uint32_t q : {3u, 5u, 16u})
                for (std::uint32_t levels = 1; levels <= 4; ++levels) {
                    const LatticeCode code{.lattice = lattice, .q = q, .levels = levels, .packed = true};
                    CHECK(weft::code_bytes(code, shape.element_vectors) % 4 == 0);
                    CHECK(shape.element_vectors % 4 == 0);
                }
        }
    CHECK(kernels::lattice_shape("f", Lattice::e8, 16, 0).given_width == 8);
    has(refusal([] { kernels::lattice_shape("f", Lattice::d4, 7, 0); }),
        "f: values are no whole rows (got 7, need a multiple of 4");
    has(refusal([] { kernels::lattice_shape("f", Lattice::d4, 8, 3); }), "a multiple of 3");
}

namespace {

weft::DeviceInfo device_with_workgroups_of(std::uint32_t most) {
    weft::DeviceInfo d;
    d.limits.max_workgroup_size[0] = most;
    d.limits.max_workgroup_invocations = most;
    d.limits.max_workgroup_count[0] = 65535;
    return d;
}

std::uint32_t constant(const kernels::LatticePlan& plan, std::uint32_t id) {
    for (const weft::SpecConstant& c : plan.constants)
        if (c.id == id) return c.bits;
    return 0;
}

}  // namespace

TEST_CASE("lattice check: threads or workgroups of an encoder fill whole words, for every code") {
    for (const std::uint32_t most : {8u, 16u, 128u, 1024u})
        for (const Lattice lattice : {Lattice::z2, Lattice::d4, Lattice::e8})
            for (std::uint32_t q = 3; q <= 16; ++q)
                for (std::uint32_t levels = 1; levels <= 4; ++levels)
                    for (const bool packed : {false, true}) {
                        const LatticeCode code{
                            .lattice = lattice, .q = q, .levels = levels, .packed = packed};
                        const std::uint32_t block = kernels::block_vectors(lattice);
                        const auto plan = kernels::plan_lattice(
                            device_with_workgroups_of(most), kernels::LatticeOp::encode, code, false, block);
                        const std::uint32_t per_thread = constant(plan, 5);
                        REQUIRE(per_thread != 0);
                        const std::uint32_t whole = per_thread == 1 ? 4 * plan.local_size : per_thread;
                        const std::uint32_t workgroup =
                            per_thread == 1 ? whole : plan.local_size * per_thread;
                        CHECK(whole % 4 == 0);
                        CHECK(weft::code_bytes(code, whole) % 4 == 0);
                        CHECK(plan.elements_per_workgroup == std::max(1u, workgroup / block));
                        if (per_thread != 1) {
                            CHECK(block % per_thread == 0);
                            continue;
                        }
                        // The requirement of shaders/lattice/lattice_group.glsl.h.
                        CHECK(plan.local_size % 32 == 0);
                        CHECK(whole <= 256);
                        const std::size_t bits = weft::code_bytes(code, 8);  // of a vector
                        CHECK((bits % 32 == 0 || (32 % bits == 0 && bits >= 4)));
                    }
}

TEST_CASE("lattice check: E8 is stored through shared memory only on GPUs") {
    using kernels::LatticeOp;
    const auto staged = [](Lattice lattice, LatticeOp op, weft::DeviceType type) {
        weft::DeviceInfo device = device_with_workgroups_of(1024);
        device.type = type;
        return kernels::plan_lattice(device, op, {.lattice = lattice}, false, 4).staged;
    };
    CHECK(staged(Lattice::e8, LatticeOp::decode, weft::DeviceType::discrete));
    CHECK(staged(Lattice::e8, LatticeOp::decode, weft::DeviceType::integrated));
    CHECK_FALSE(staged(Lattice::e8, LatticeOp::decode, weft::DeviceType::cpu));
    CHECK_FALSE(staged(Lattice::e8, LatticeOp::encode, weft::DeviceType::discrete));
    CHECK_FALSE(staged(Lattice::d4, LatticeOp::decode, weft::DeviceType::discrete));
}

TEST_CASE("lattice check: threads process one vector each if codes are words or parts of a word") {
    const auto per_thread = [](const LatticeCode& code, kernels::LatticeOp op, std::uint32_t most = 1024) {
        const std::uint32_t block = kernels::block_vectors(code.lattice);
        return constant(kernels::plan_lattice(device_with_workgroups_of(most), op, code, false, block), 5);
    };
    using kernels::LatticeOp;
    CHECK(per_thread({.packed = true}, LatticeOp::encode) == 1);
    CHECK(per_thread({.lattice = Lattice::e8}, LatticeOp::encode) == 1);
    CHECK(per_thread({.q = 8, .levels = 3}, LatticeOp::quantize) == 1);
    CHECK(per_thread({.q = 8, .levels = 3, .packed = true}, LatticeOp::encode) == 8);
    CHECK(per_thread({.packed = true}, LatticeOp::encode, 16) == 4);
    CHECK(per_thread({}, LatticeOp::quantize, 16) == 4);
}

TEST_CASE("lattice check: digits outside [0, q) are named, wherever they are") {
    for (const bool packed : {false, true}) {
        const LatticeCode code{.lattice = Lattice::z2, .q = 5, .levels = 1, .packed = packed};
        constexpr std::size_t kVectors = 1 << 20;
        for (const std::size_t at : {std::size_t{0}, std::size_t{12345}, 2 * kVectors - 1}) {
            CAPTURE(at);
            std::vector<std::uint8_t> codes(weft::code_bytes(code, kVectors), 0);
            const auto text = [&] {
                return refusal([&] { kernels::check_digits("f", code, codes, kVectors, 4); });
            };
            CHECK(text() == "");
            if (packed) {
                const std::size_t bit = at * 3;
                for (std::size_t k = 0; k < 3; ++k)
                    if (5 >> k & 1) codes[(bit + k) / 8] |= static_cast<std::uint8_t>(1u << ((bit + k) % 8));
            } else {
                codes[at] = 5;
            }
            has(text(), "f: digit " + std::to_string(at % 2) + " of level 0 of vector " +
                            std::to_string(at / 2) + " is out of range (got 5, need below q = 5");
        }
    }
    std::vector<std::uint8_t> any(4, 0xff);
    kernels::check_digits("f", {.packed = true}, any, 2, 1);  // base 4 in two bits: every digit is valid
}

TEST_CASE("lattice check: values that are not finite are named") {
    std::vector<float> x(1500000, 1.0f);
    const auto text = [&] { return refusal([&] { kernels::check_finite("f", x, 3, 4); }); };
    CHECK(text() == "");
    x[1400000] = -std::numeric_limits<float>::infinity();
    has(text(), "f: value 2 of row 466666 is not finite (got -inf");
    x[3] = std::nanf("");
    has(text(), "f: value 0 of row 1 is not finite (got ");
}

TEST_CASE("lattice check: statuses") {
    const LatticeCode code{.max_retries = 3};
    const auto text = [&](std::vector<std::uint8_t> s) {
        return refusal([&] { kernels::check_statuses("f", code, s, 2); });
    };
    CHECK(text({0, 1, 2, 3, 0x83}) == "");
    has(text({0, 4}), "f: status of vector 1 has too many retries (got 4, need at most max_retries = 3");
    has(text({0, 0, 0xff}), "f: vector 2 was not finite");

    std::vector<std::uint8_t> status(1000, 0);
    status[8] = 2, status[500] = 0x83, status[501] = 0x80, status[999] = 0xff, status[998] = 0xff;
    const kernels::StatusCount count = kernels::count_statuses(status);
    CHECK(count.retried == 2);
    CHECK(count.unresolved == 2);
    CHECK(count.not_finite == 2);
    CHECK(count.first_not_finite == 998);

    // Enough statuses for several threads.
    std::vector<std::uint8_t> many((std::size_t{5} << 20) + 3, 0);
    for (std::size_t i = 0; i < many.size(); i += 1000) many[i] = 0x81;
    many[3 << 20] = many[4 << 20] = many.back() = 0xff;
    const kernels::StatusCount one = kernels::count_statuses(many, 1), all = kernels::count_statuses(many, 4);
    CHECK(one.not_finite == 3);
    CHECK(one.first_not_finite == 3 << 20);
    CHECK(one.unresolved > 5000);
    CHECK(all.not_finite == one.not_finite);
    CHECK(all.first_not_finite == one.first_not_finite);
    CHECK(all.retried == one.retried);
    CHECK(all.unresolved == one.unresolved);
    CHECK(all.most_retries == 1);
    const kernels::StatusCount rest = kernels::count_statuses(many, 3, (3 << 20) + 1);
    CHECK(rest.not_finite == 2);
    CHECK(rest.first_not_finite == 4 << 20);
    CHECK(kernels::count_statuses(many, 2, many.size()).not_finite == 0);
}

TEST_CASE("lattice statuses that are counted during the work equal those counted afterwards") {
    std::vector<std::uint8_t> status((std::size_t{1} << 20) + 5, 0);
    for (std::size_t i = 0; i < status.size(); i += 777) status[i] = static_cast<std::uint8_t>(0x80 | i % 5);
    status[600'000] = status[900'000] = weft::kLatticeNotFinite;
    const kernels::StatusCount want = kernels::count_statuses(status);
    const std::vector<std::size_t> none, one{300'001}, all{1, 300'001, 300'001, 850'000, status.size()};
    for (const auto& steps : {none, one, all})
        for (const std::uint32_t threads : {1u, 3u}) {
            kernels::StatusCounter counter(status);
            for (const std::size_t vectors : steps) counter.in_place(vectors);
            const kernels::StatusCount got = counter.finish(threads);
            CHECK(got.retried == want.retried);
            CHECK(got.unresolved == want.unresolved);
            CHECK(got.not_finite == 2);
            CHECK(got.first_not_finite == 600'000);
            CHECK(got.most_retries == 4);
        }
    kernels::StatusCounter left_alone(status);  // as if a batch failed
    left_alone.in_place(500'000);
    CHECK(kernels::StatusCounter({}).finish(4).retried == 0);
}

TEST_CASE("lattice calls become jobs, of which the last ones are small") {
    const auto jobs = [](std::size_t all) {
        std::vector<std::size_t> sizes;
        for (std::size_t left = all; left != 0; left -= sizes.back())
            sizes.push_back(kernels::lattice_job_vectors(all, left));
        return sizes;
    };
    constexpr std::size_t kMi = std::size_t{1} << 20;
    CHECK(jobs(1) == std::vector<std::size_t>{1});
    CHECK(jobs(kMi) == std::vector<std::size_t>{kMi});
    CHECK(jobs(16 * kMi) ==
          std::vector<std::size_t>{4 * kMi, 4 * kMi, 4 * kMi, 2 * kMi, kMi, kMi / 2, kMi / 2});
    CHECK(jobs(kMi + 1).back() <= kMi / 2);
    CHECK(jobs(100'000'000).size() < 30);
}

TEST_CASE("lattice check: memory that overlaps or is missing") {
    float x[8] = {};
    using Spans = std::vector<kernels::NamedSpan>;
    const auto text = [&](const Spans& in, const Spans& out, bool in_place) {
        return refusal([&] { kernels::check_lattice_spans("f", in, out, in_place); });
    };
    const kernels::NamedSpan whole{"x", x, sizeof x}, shifted{"y", x + 1, 12}, none{"n", nullptr, 0};
    CHECK(text({whole, none}, {none}, false) == "");
    CHECK(text({whole}, {{"y", x, sizeof x}}, true) == "");
    has(text({whole}, {{"y", x, sizeof x}}, false), "f: y overlaps x (got common memory");
    has(text({whole}, {shifted}, true), "f: y overlaps x");
    has(text({none}, {whole, {"status", x + 7, 4}}, true), "f: status overlaps x");
    has(text({{"x", nullptr, 4}}, {}, true), "f: x is null (got 4 bytes");
}
