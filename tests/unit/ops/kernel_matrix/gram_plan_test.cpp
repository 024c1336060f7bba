// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <weft/error.hpp>

#include "ops/kernel_matrix/gram_plan.hpp"
#include "shaders/gram/gram_interface.h"
#include "shaders/gram/gram_layout.h"

using namespace weft;
using namespace weft::kernels;

namespace {

GramDevice h100() {
    GramDevice device;
    device.limits.max_storage_buffer_range = 0xffffffffu;
    device.limits.storage_buffer_offset_alignment = 16;
    device.limits.max_shared_memory_bytes = 49152;
    device.limits.max_workgroup_invocations = device.limits.max_workgroup_size[0] = 1024;
    device.float64 = device.matrix_khr = device.matrix_nv = device.matrix_exact = true;
    return device;
}

GramDevice lavapipe() {
    GramDevice device = h100();
    device.matrix_khr = device.matrix_nv = device.matrix_exact = false;
    device.software = true;
    device.limits.max_storage_buffer_range = 128u << 20;
    device.limits.max_shared_memory_bytes = 32768;
    return device;
}

GramProblem square(std::uint64_t rows, std::uint64_t amplitudes) {
    GramProblem problem{rows, rows, amplitudes, true};
    problem.unit_rows = true;
    return problem;
}

std::string refusal(Errc code, const GramProblem& problem, const GramDevice& device,
                    const GramOptions& options = {}) {
    try {
        plan_gram(problem, device, options);
        return "nothing was thrown";
    } catch (const Error& error) {
        CHECK(error.code() == code);
        return error.what();
    }
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the method follows precision, device and rows") {
    CHECK(plan_gram(square(4096, 65536), h100()).method == GramMethod::matrix_split);
    CHECK(plan_gram(square(4096, 65536), h100()).khr);
    GramDevice nv = h100();
    nv.matrix_khr = false;
    CHECK(plan_gram(square(4096, 65536), nv).method == GramMethod::matrix_split);
    CHECK_FALSE(plan_gram(square(4096, 65536), nv).khr);
    GramDevice failed = h100();
    failed.matrix_exact = false;
    failed.matrix_reason = "failed the accuracy probe";
    const GramPlan plan = plan_gram(square(4096, 65536), failed);
    CHECK(plan.method == GramMethod::fp32_3m);
    CHECK(contains(plan.reasons.front(), "failed the accuracy probe"));
    GramProblem any = square(4096, 65536);
    any.unit_rows = false;
    CHECK(plan_gram(any, h100()).method == GramMethod::fp32_3m);
    CHECK(plan_gram(square(64, 64), lavapipe()).method == GramMethod::fp32_4m);
    any.precision = GramReal::float64;
    CHECK(plan_gram(any, h100()).method == GramMethod::fp64);
}

TEST_CASE("methods that are not available are refused with the reason") {
    GramProblem any = square(64, 64);
    any.unit_rows = false;
    CHECK(contains(refusal(Errc::invalid_argument, any, h100(), {.method = GramMethod::matrix_split}),
                   "norms other than 1"));
    CHECK(
        contains(refusal(Errc::unsupported, square(64, 64), lavapipe(), {.method = GramMethod::matrix_split}),
                 "no matrix units"));
    CHECK(contains(refusal(Errc::invalid_argument, any, h100(), {.method = GramMethod::fp64}), "float32"));
    any.precision = GramReal::float64;
    CHECK(contains(refusal(Errc::invalid_argument, any, h100(), {.method = GramMethod::fp32_3m}), "float64"));
    GramDevice narrow = lavapipe();
    narrow.float64 = false;
    CHECK(contains(refusal(Errc::unsupported, any, narrow), "shaderFloat64"));
}

TEST_CASE("invalid sizes are refused") {
    const Errc kInvalid = Errc::invalid_argument;
    CHECK(contains(refusal(kInvalid, square(0, 4), h100()), "nothing to multiply"));
    CHECK(contains(refusal(kInvalid, square(4, 0), h100()), "nothing to multiply"));
    GramProblem problem{4, 5, 4, true};
    CHECK(contains(refusal(kInvalid, problem, h100()), "symmetric, but not square"));
    problem.symmetric = false;
    problem.leading = 4;
    CHECK(contains(refusal(kInvalid, problem, h100()), "leading is too small"));
    CHECK(contains(refusal(kInvalid, {std::uint64_t{1} << 40, 1, 1}, h100()), "too large"));
    CHECK(contains(refusal(kInvalid, square(64, 64), h100(), {.flush = 12}), "multiple of"));
    CHECK(contains(refusal(kInvalid, square(64, 64), h100(), {.split = 9000}), "split"));
    CHECK(contains(refusal(kInvalid, square(64, 64), h100(), {.tile = GramTile{48, 48}}), "no such tile"));
}

TEST_CASE("states that do not fit one binding are cut into panels, or refused with the numbers") {
    // 16 qubits: a packed row has 512 KiB, and all rows have 8 GiB.
    const GramPlan plan = plan_gram(square(16384, 65536), h100());
    CHECK(plan.row_bytes == 65536 * 8);
    CHECK(plan.packed_bytes(16384) == std::uint64_t{16384} * 65536 * 8);
    CHECK(plan.panel_rows == 8128);
    CHECK(plan.panel_rows * plan.row_bytes <= h100().limits.max_storage_buffer_range);
    // K of 80,000 samples: 25.6 GB.
    const GramPlan wide = plan_gram(square(80000, 256), h100());
    CHECK(wide.output_rows % 64 == 0);
    CHECK(wide.output_rows * 80000 * 4 <= h100().limits.max_storage_buffer_range);
    CHECK(wide.output_rows > 13000);
    const std::string text = refusal(Errc::unsupported, square(64, 1u << 20), lavapipe());
    CHECK(contains(text, "64 states do not fit one binding"));
    CHECK(contains(text, "134217728"));
}

namespace {

std::vector<GramBlock> blocks_of(const GramPlan& plan, std::uint64_t rows, std::uint64_t columns,
                                 bool square) {
    std::vector<GramBlock> all;
    GramBlocks blocks(plan, rows, columns, square);
    for (GramBlock block; blocks.next(block);) all.push_back(block);
    return all;
}

bool share(std::uint64_t a, std::uint64_t as, std::uint64_t b, std::uint64_t bs) {
    return a < b + bs && b < a + as;
}

/// Runs of blocks in which no two blocks write the same rows of K, including mirrored ones.
std::size_t turns_of(const std::vector<GramBlock>& blocks, bool square) {
    std::size_t turns = blocks.empty() ? 0 : 1, first = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i)
        for (std::size_t k = first; k < i; ++k) {
            const GramBlock &a = blocks[k], &b = blocks[i];
            const bool meet = share(a.row, a.rows, b.row, b.rows) ||
                              (square && (share(a.column, a.columns, b.column, b.columns) ||
                                          share(a.row, a.rows, b.column, b.columns) ||
                                          share(a.column, a.columns, b.row, b.rows)));
            if (!meet) continue;
            ++turns;
            first = i;
            break;
        }
    return turns;
}

}  // namespace

TEST_CASE("panels have one height in whole tiles, and successive blocks share no rows") {
    GramPlan plan = plan_gram(square(16384, 65536), h100());
    plan.tile = {128, 128, 4, 8, 1};
    // A binding holds 8128 rows: three equal panels are better than two and a strip of one tile.
    const std::vector<GramBlock> three = blocks_of(plan, 16384, 16384, true);
    REQUIRE(three.size() == 6);
    CHECK(three[0] == GramBlock{0, 5504, 0, 5504});
    CHECK(three[1] == GramBlock{11008, 5376, 5504, 5504});
    CHECK(turns_of(three, true) == 3);
    CHECK(blocks_of(plan, 8128, 8128, true) == std::vector<GramBlock>{{0, 8128, 0, 8128}});
    CHECK(blocks_of(plan, 0, 0, true).empty());

    for (const std::uint64_t most : {64u, 128u, 192u, 640u})
        for (const std::uint64_t rows : {1u, 64u, 65u, 128u, 129u, 640u, 641u, 1000u, 1281u})
            for (const std::uint64_t columns : {std::uint64_t{70}, std::uint64_t{700}, rows}) {
                CAPTURE(most);
                CAPTURE(rows);
                CAPTURE(columns);
                plan.panel_rows = most;
                plan.output_rows = 640;
                for (const bool symmetric : {false, true}) {
                    if (symmetric && rows != columns) continue;
                    const std::vector<GramBlock> blocks = blocks_of(plan, rows, columns, symmetric);
                    std::vector<int> times(rows * columns);
                    for (const GramBlock& b : blocks) {
                        CHECK(b.row % 64 == 0);
                        CHECK(b.column % 64 == 0);
                        CHECK(b.rows <= most);
                        CHECK(b.columns <= most);
                        for (std::uint64_t i = b.row; i < b.row + b.rows; ++i)
                            for (std::uint64_t j = b.column; j < b.column + b.columns; ++j) {
                                ++times[i * columns + j];
                                if (symmetric && b.row != b.column) ++times[j * columns + i];
                            }
                    }
                    CHECK(std::all_of(times.begin(), times.end(), [](int n) { return n == 1; }));
                    const std::uint64_t high = blocks[0].rows;
                    const std::uint64_t down = (rows + high - 1) / high;
                    if (symmetric) CHECK(turns_of(blocks, true) == down);
                }
            }
}

TEST_CASE("outer sums of about the square root of the terms, few tiles with partial sums") {
    CHECK(plan_gram(square(4096, 65536), h100()).flush == 256);
    CHECK(plan_gram(square(4096, 1), h100()).flush == 32);  // K of few amplitudes must be exact
    CHECK(plan_gram(square(4096, 1024), h100()).flush == 32);
    CHECK(plan_gram(square(4096, 2048), h100()).flush == 64);
    CHECK(plan_gram(square(4096, 1), lavapipe()).flush == 64);
    CHECK(plan_gram(square(4096, std::uint64_t{1} << 22), h100()).flush == 1024);
    CHECK(plan_gram(square(4096, 65536), h100()).split == 1);
    const GramPlan few = plan_gram(square(128, 65536), h100());
    CHECK(few.split > 16);
    CHECK(few.split <= 64);
    CHECK(few.scratch_bytes > 0);
    CHECK(plan_gram(square(128, 16), h100()).split == 1);  // nothing to cut
}

TEST_CASE("tiles fit the device") {
    for (const std::uint32_t shared : {16384u, 32768u, 49152u}) {
        GramDevice device = h100();
        device.limits.max_shared_memory_bytes = shared;
        for (const GramMethod method :
             {GramMethod::fp32_4m, GramMethod::fp32_3m, GramMethod::fp64, GramMethod::matrix_split})
            for (const GramTile& tile : gram_tiles(device, method)) {
                CHECK(tile.threads() <= 1024);
                CHECK(tile.rows % tile.columns == 0);
            }
        CHECK_FALSE(gram_tiles(device, GramMethod::fp64).empty());
    }
    GramDevice tiny = h100();
    tiny.limits.max_shared_memory_bytes = 1024;
    CHECK(gram_tiles(tiny, GramMethod::fp32_3m).empty());
    tiny.matrix_exact = false;
    CHECK(contains(refusal(Errc::unsupported, square(64, 64), tiny), "no tile fits"));
}

TEST_CASE("software devices multiply by lanes if they have float64 and enough tiles") {
    GramDevice device = lavapipe();
    CHECK(plan_gram(square(1000, 256), device).tile == GramTile{64, 64, 8, 8, 1});
    CHECK(plan_gram(square(1000, 256), device).tile.lanes());
    CHECK(plan_gram(square(130, 256), device).tile.lanes());
    CHECK(!plan_gram(square(64, 256), device).tile.lanes());
    device.float64 = false;
    CHECK(!plan_gram(square(1000, 256), device).tile.lanes());
    for (const GramTile& tile : gram_tiles(h100(), GramMethod::fp32_4m)) CHECK(!tile.lanes());
}

TEST_CASE("large tiles with NVIDIA's extension if there are enough of them, small ones with the other") {
    GramDevice nv = h100();
    nv.matrix_khr = false;
    CHECK(plan_gram(square(4096, 65536), nv).tile == GramTile{128, 128, 4, 8, 1});
    CHECK(plan_gram(square(1000, 65536), nv).tile == GramTile{64, 64, 8, 4, 1});
    CHECK(plan_gram(square(20, 65536), nv).tile == GramTile{32, 32, 8, 4, 1});
    // Subgroups of 16 x 64 are faster in the largest tile only.
    for (const GramTile& tile : gram_tiles(nv, GramMethod::matrix_split))
        CHECK((tile == GramTile{128, 128, 4, 8, 1} || tile.thread_rows == 8));
    CHECK(plan_gram(square(4096, 65536), h100()).tile == GramTile{64, 64, 8, 4, 1});
    CHECK(plan_gram(square(4096, 17), h100()).row_bytes == 256);
    nv.limits.max_shared_memory_bytes = 32768;
    CHECK(plan_gram(square(4096, 65536), nv).tile == GramTile{128, 64, 8, 4, 1});
}

TEST_CASE("every tile that holds an element on or below the diagonal comes once") {
    for (const std::uint32_t columns : {128u, 64u, 32u})
        for (const std::uint32_t down : {1u, 7u, 8u, 9u, 16u, 37u}) {
            const std::uint32_t ratio = 128 / columns;
            std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
            for (std::uint32_t i = 0; i < ratio * down * (down + 1) / 2; ++i) {
                const shared::uvec2 tile = shared::gram_tile(i, 0, 128 * down - 5, 128, columns);
                CHECK(tile.x < down);
                CHECK(tile.y < ratio * (tile.x + 1));
                CHECK(seen.emplace(tile.x, tile.y).second);
            }
        }
    // Indices at which a float no longer represents every integer. These rows are the first of a band, in
    // which tiles are counted column by column.
    for (const std::uint32_t row : {4096u, 20000u, 60000u}) {
        const std::uint32_t high = 64 * row + 1;
        const shared::uvec2 first = shared::gram_tile(row * (row + 1) / 2, 0, high, 64, 64);
        CHECK(first.x == row);
        CHECK(first.y == 0);
        const shared::uvec2 last = shared::gram_tile(row * (row + 1) / 2 + row, 0, high, 64, 64);
        CHECK(last.x == row);
        CHECK(last.y == row);
    }
}

TEST_CASE("every tile of a rectangle comes once, neighbours in both directions close together") {
    for (const std::uint32_t down : {1u, 15u, 16u, 17u, 40u}) {
        const std::uint32_t across = 21;
        std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
        std::set<std::uint32_t> rows, columns;
        for (std::uint32_t i = 0; i < down * across; ++i) {
            const shared::uvec2 tile = shared::gram_tile(i, across, 64 * down, 64, 64);
            CHECK(tile.x < down);
            CHECK(tile.y < across);
            CHECK(seen.emplace(tile.x, tile.y).second);
            if (i >= 64) continue;
            rows.insert(tile.x);
            columns.insert(tile.y);
        }
        if (down >= 16) CHECK(rows.size() + columns.size() == 16 + 4);
    }
}

TEST_CASE("the packed layout gives every number a different place") {
    const std::uint32_t rows = 128, amplitudes = 32;
    std::set<std::uint32_t> seen, halves;
    for (std::uint32_t row = 0; row < rows; ++row)
        for (std::uint32_t k = 0; k < amplitudes; ++k) {
            for (std::uint32_t plane = 0; plane < 2; ++plane)
                CHECK(seen.insert(shared::gram_at(row, k, plane, amplitudes / 8)).second);
            for (std::uint32_t plane = 0; plane < 4; ++plane)
                CHECK(halves.insert(shared::gram_matrix_at(row, k, plane, amplitudes / 16)).second);
        }
    CHECK(*seen.rbegin() == rows * amplitudes * 2 - 1);
    CHECK(*halves.rbegin() == rows * amplitudes * 4 - 1);
}

TEST_CASE("the high part is the nearest of 11 bits, the rest is exact") {
    for (const float value : {1.0f, 0.1f, -0.7071067f, 3.14159e-3f, 32767.9f, 0.0f}) {
        const float high = shared::gram_high(value), low = value - high;
        CHECK(std::abs(low) <= std::abs(value) / 2048);
        CHECK(high + low == value);
        CHECK((shared::floatBitsToUint(high) & 0x1fffu) == 0);
    }
    CHECK(shared::gram_high(1.0f + 1.0f / 1024 + 1.0f / 4096) == 1.0f + 1.0f / 1024);
}

TEST_CASE("a float as the bits of a double") {
    for (const float value : {0.0f, 1.0f, 0.1f, 1e-30f, 0.99999994f, 3e38f}) {
        const double wide = shared::packDouble2x32(shared::gram_widen(value));
        CHECK(wide == static_cast<double>(value));
    }
    CHECK(std::isnan(shared::packDouble2x32(shared::gram_widen(std::nanf("")))));
    CHECK(std::isinf(shared::packDouble2x32(shared::gram_widen(INFINITY))));
}
