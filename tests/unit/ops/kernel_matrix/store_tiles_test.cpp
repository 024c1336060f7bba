// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_matrix/store_tiles.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "support/error_text.hpp"

using namespace weft::kernels;
using weft::ConstHostArray;
using weft::Errc;
using weft::KernelMatrixCircuit;
using weft::KernelMatrixMethod;
using weft::KernelMatrixShape;
using weft_test::check_error;

namespace {

KernelMatrixPlan states_plan(const KernelMatrixShape& shape, std::uint64_t tile, std::uint64_t block) {
    KernelMatrixPlan plan;
    plan.shape = shape;
    plan.method = KernelMatrixMethod::states;
    plan.states.tile = tile;
    plan.states.block = block;
    return plan;
}

/// How often the tiles have each value of K.
std::vector<int> covered(const KernelMatrixPlan& plan, const StorePin& pin) {
    std::vector<int> times(plan.shape.values());
    const auto add = [&](const KernelBlock& b) {
        for (std::uint64_t i = b.row; i < b.row + b.rows; ++i)
            for (std::uint64_t j = b.column; j < b.column + b.columns; ++j)
                ++times[i * plan.shape.columns() + j];
    };
    for (const StoreTile& tile : store_tiles(plan, pin)) {
        add(tile.block);
        if (tile.mirrored) add({tile.block.column, tile.block.columns, tile.block.row, tile.block.rows});
    }
    return times;
}

}  // namespace

TEST_CASE("tiles have every value of K once") {
    const auto all_once = [](const std::vector<int>& times) {
        return std::all_of(times.begin(), times.end(), [](int n) { return n == 1; });
    };
    for (const KernelMatrixShape shape :
         {KernelMatrixShape{300, 0, 3}, {300, 130, 3}, {64, 0, 3}, {1, 700, 3}}) {
        for (const std::uint64_t tile : {64, 128, 320})
            for (const std::uint64_t block : {64, 128}) {
                const KernelMatrixPlan plan = states_plan(shape, tile, std::min(tile, block));
                CHECK(all_once(covered(plan, {.rows = plan.states.block, .tile = tile})));
                CHECK(store_tiles(plan, {.rows = plan.states.block}).size() == host_blocks(plan).size());
            }
        KernelMatrixPlan closed;
        closed.shape = shape;
        for (const std::uint64_t rows : {64, 128, 1024}) CHECK(all_once(covered(closed, {.rows = rows})));
    }
}

TEST_CASE("tiles are about as large as they should be, and whole steps of 64 rows") {
    KernelMatrixPlan closed;
    closed.shape = {100000, 0, 8};
    CHECK(pin_of(closed, 128u << 20).rows == 320);  // 335 rows of 400 kB
    CHECK(pin_of(closed, 1).rows == 64);
    KernelMatrixPlan plan = states_plan({100000, 0, 8}, 4096, 4096);
    CHECK(pin_of(plan, std::uint64_t{1} << 40).rows == 4096);
    CHECK(pin_of(plan, 128u << 20).rows == 4096);  // 2 * 4096^2 * 4
    CHECK(pin_of(plan, (128u << 20) - 1).rows == 4032);
    CHECK(pin_of(plan, 0).rows == 64);
    plan.shape.others = 5;  // no image across the diagonal
    CHECK(pin_of(plan, 64u << 20).rows == 4096);
}

TEST_CASE("what a store has settled is read as it was written") {
    const StorePin pin{
        .rows = 192, .tile = 4096, .bulk = true, .products = "fp32_3m 64x64/4x4/2", .split = 7};
    StoreFacts facts{{"map", "ry"}};
    add_pin(facts, pin);
    const StorePin read = read_pin(facts);
    CHECK(read.rows == 192);
    CHECK(read.tile == 4096);
    CHECK(read.bulk);
    CHECK(read.products == pin.products);
    CHECK(read.split == 7);
    const weft::KernelMatrixOptions options = pinned({.vram_fraction = 0.5}, read);
    CHECK(options.bulk_states == weft::Choice::on);
    CHECK(options.autotune == weft::Choice::off);
    CHECK(options.vram_fraction == 0.5);
    CHECK(pinned({}, {.rows = 64, .tile = 128}).state_tile == 128);
    for (const std::string& value :
         {std::string("x"), std::string(""), std::string("12 "), std::string("-1")}) {
        StoreFacts damaged = facts;
        damaged[1].value = value;
        check_error(Errc::io, "rows of a tile", [&] { read_pin(damaged); });
    }
    facts[1].value = "0";
    check_error(Errc::io, "no size", [&] { read_pin(facts); });
}

TEST_CASE("facts of a call change with everything that K depends on, and with nothing else") {
    std::vector<float> x{1, 2, 3, 4}, y{1, 2}, w{1, 2};
    const KernelMatrixShape shape{2, 0, 2};
    const auto facts = [&](const KernelMatrixCircuit& circuit, const weft::KernelMatrixOptions& options = {},
                           bool with_y = false) {
        const ConstHostArray others(y);
        return call_facts(&circuit, x, with_y ? &others : nullptr, shape, options);
    };
    const KernelMatrixCircuit plain{.weights = w};
    const StoreFacts first = facts(plain);
    CHECK(facts_differ(first, facts(plain)).empty());
    CHECK(facts_differ(first, facts(plain, {.autotune = weft::Choice::off, .vram_fraction = 0.1})).empty());
    const auto differs = [&](const char* name, const StoreFacts& other) {
        CAPTURE(facts_differ(first, other));
        CHECK(facts_differ(first, other).starts_with(std::string(name) + " (the store has "));
    };
    differs("map", facts({.map = weft::FeatureMap::ry, .weights = w}));
    differs("scale", facts({.weights = w, .scale = 1.0000000000000002}));
    differs("reupload", facts({.weights = w, .reupload = true}));
    differs("weights", facts({}));
    differs("normalize", facts(plain, {.normalize = true}));
    differs("jitter", facts(plain, {.jitter = 1e-9}));
    differs("state_tile", facts(plain, {.state_tile = 64}));
    differs("bulk_states", facts(plain, {.bulk_states = weft::Choice::on}));
    differs("Y", facts(plain, {}, true));
    differs("map", call_facts(nullptr, x, nullptr, shape, {}));
    w[1] = 3;
    differs("weights", facts(plain));
    w[1] = 2;
    x[3] = 5;
    differs("X", facts(plain));
    CHECK(facts_differ(first, StoreFacts{{"scale", "2"}}) == "scale (the store has 1, the call has 2)");
}

TEST_CASE("the header of the file is the one that NumPy writes") {
    std::string want("\x93NUMPY\x01\x00\x76\x00", 10);
    want += "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 20), }";
    want += std::string(127 - want.size(), ' ') + '\n';
    CHECK(matrix_npy_header({3, 20, 1}, weft::kFloat64) == want);
    CHECK(
        matrix_npy_header({3, 0, 1}, weft::kFloat32).find("'<f4', 'fortran_order': False, 'shape': (3, 3)") !=
        std::string::npos);
}
