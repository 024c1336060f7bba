// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_operator/operator_states.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/error.hpp>

#include "ops/kernel_operator/operator_check.hpp"
#include "support/error_text.hpp"

using namespace weft;
using namespace weft::kernels;
using weft_test::check_error;

namespace {

OperatorPlan plan_of(const KernelMatrixShape& shape, std::uint64_t tile, std::uint64_t block) {
    OperatorPlan plan;
    plan.shape = shape;
    plan.states.emplace();
    plan.states->matrix.shape = shape;
    plan.states->matrix.states.tile = tile;
    plan.states->block = block;
    return plan;
}

/// How often each value of K is used in a product with all rows, or with some.
std::vector<int> uses(const OperatorPlan& plan, const std::vector<OperatorBlock>& blocks) {
    std::vector<int> counts(plan.shape.values(), 0);
    const std::uint64_t across = plan.shape.columns();
    for (const OperatorBlock& block : blocks) {
        const KernelBlock& b = block.tiles.block;
        CHECK(b.rows > 0);
        CHECK(b.columns > 0);
        CHECK(b.rows <= plan.states->block);
        CHECK(b.columns <= plan.states->block);
        // Blocks lie within their tiles, and begin where packed rows can be bound.
        CHECK(b.row >= block.tiles.x.row);
        CHECK(b.row + b.rows <= block.tiles.x.row + block.tiles.x.count);
        CHECK(b.column >= block.tiles.y.row);
        CHECK(b.column + b.columns <= block.tiles.y.row + block.tiles.y.count);
        CHECK((b.row - block.tiles.x.row) % 64 == 0);
        CHECK((b.column - block.tiles.y.row) % 64 == 0);
        CHECK(block.tiles.own == (block.tiles.x == block.tiles.y));
        for (std::uint64_t i = b.row; i < b.row + b.rows; ++i)
            for (std::uint64_t j = b.column; j < b.column + b.columns; ++j) {
                ++counts[i * across + j];
                if (block.mirrored) ++counts[j * across + i];
            }
    }
    return counts;
}

}  // namespace

TEST_CASE("blocks of a product make every value of K once") {
    for (const std::uint64_t samples : {1u, 64u, 200u, 700u})
        for (const std::uint64_t others : {0u, 1u, 130u, 300u})
            for (const std::uint64_t tile : {64u, 256u, 704u})
                for (const std::uint64_t block : {64u, 192u}) {
                    if (block > tile) continue;
                    const OperatorPlan plan = plan_of({samples, others, 3}, tile, block);
                    CAPTURE(samples);
                    CAPTURE(others);
                    CAPTURE(tile);
                    CAPTURE(block);
                    const std::vector<int> once(plan.shape.values(), 1);
                    CHECK(uses(plan, operator_blocks(plan, 0, samples, false, false)) == once);
                    CHECK(uses(plan, operator_blocks(plan, 0, plan.shape.columns(), true, false)) == once);
                    if (others == 0)
                        CHECK(uses(plan, operator_blocks(plan, 0, samples, false, true)) == once);
                }
}

TEST_CASE("blocks of some rows make these rows, and those of a transpose these columns") {
    const OperatorPlan plan = plan_of({700, 300, 3}, 256, 128);
    const auto expect = [&](std::uint64_t first, std::uint64_t last, bool transpose) {
        const std::vector<int> got = uses(plan, operator_blocks(plan, first, last, transpose, false));
        for (std::uint64_t i = 0; i < 700; ++i)
            for (std::uint64_t j = 0; j < 300; ++j) {
                const std::uint64_t at = transpose ? j : i;
                if (got[i * 300 + j] != (at >= first && at < last ? 1 : 0)) return false;
            }
        return true;
    };
    CHECK(expect(64, 640, false));
    CHECK(expect(320, 700, false));
    CHECK(expect(64, 300, true));
    CHECK(operator_blocks(plan_of({700, 0, 3}, 256, 128), 0, 700, false, true).front().tiles.own);
}

TEST_CASE("steps add every value of K to its row once, and begin each row of the output once") {
    for (const bool turned : {false, true})
        for (const bool symmetric : {false, true}) {
            if (turned && symmetric) continue;
            const OperatorPlan plan = plan_of({700, turned ? 300u : 0u, 3}, 256, 128);
            const std::uint64_t out_rows = turned ? 300 : 700, v_rows = 700, image = 128 * 128;
            std::vector<int> added(out_rows * v_rows, 0), begun(out_rows, 0);
            for (const BlockStep& step :
                 block_steps(operator_blocks(plan, 0, out_rows, turned, symmetric), turned, image)) {
                REQUIRE(step.places.size() == (step.block.mirrored ? 2u : 1u));
                CHECK(step.places.front().origin == 0);
                CHECK(step.places.back().origin == (step.block.mirrored ? image : 0));
                for (const BlockPlace& place : step.places)
                    for (std::uint64_t i = place.row; i < place.row + place.rows; ++i) {
                        if (place.first) ++begun[i];
                        CHECK(begun[i] == 1);
                        for (std::uint64_t j = place.column; j < place.column + place.columns; ++j)
                            ++added[i * v_rows + j];
                    }
            }
            CHECK(added == std::vector<int>(added.size(), 1));
            CHECK(begun == std::vector<int>(out_rows, 1));
        }
}

TEST_CASE("blocks of the diagonal have all rows once, each within a tile") {
    for (const std::uint64_t most : {64u, 100u, 1000u}) {
        const OperatorPlan plan = plan_of({700, 0, 3}, 256, 128);
        std::uint64_t next = 0;
        for (const OperatorBlock& block : diagonal_blocks(plan, most)) {
            const KernelBlock& b = block.tiles.block;
            CHECK(b.row == next);
            CHECK(b.column == b.row);
            CHECK(b.columns == b.rows);
            CHECK(b.rows <= std::min<std::uint64_t>(most, 128));
            CHECK(b.row >= block.tiles.x.row);
            CHECK(b.row + b.rows <= block.tiles.x.row + block.tiles.x.count);
            CHECK(block.tiles.own);
            CHECK_FALSE(block.mirrored);
            next = b.row + b.rows;
        }
        CHECK(next == 700);
    }
}

TEST_CASE("panels of rows have the place of every row that is asked for") {
    const std::vector<std::uint32_t> rows{699, 0, 63, 64, 0, 690};
    std::vector<int> found(rows.size(), 0);
    std::uint64_t last = 0;
    for (const RowPanel& panel : row_panels(plan_of({700, 0, 3}, 256, 128), rows)) {
        CHECK(panel.rows.first % 64 == 0);
        CHECK(panel.rows.first >= last);
        CHECK(panel.rows.last <= std::min<std::uint64_t>(panel.rows.first + 64, 700));
        for (const std::size_t i : panel.places) {
            CHECK(rows[i] >= panel.rows.first);
            CHECK(rows[i] < panel.rows.last);
            ++found[i];
        }
        last = panel.rows.last;
    }
    CHECK(found == std::vector<int>(rows.size(), 1));
}

TEST_CASE("operators of states refuse what they cannot do, by name") {
    const auto of_layers = [](const KernelOperatorOptions& options) {
        static const std::vector<double> weights(8, 0.5);
        return check_operator({.weights = weights, .reupload = true}, {10, 0, 4}, false, options);
    };
    CHECK(effective_layers(of_layers({})) == 1);
    check_error(Errc::invalid_argument, "KernelOperator: low_rank does not apply to products of states",
                [&] { of_layers({.low_rank = Choice::on}); });
    check_error(Errc::invalid_argument, "KernelOperator: jitter out of range",
                [&] { of_layers({.normalize = true, .jitter = -1}); });
    const auto of_states = [](std::uint64_t size, ElementType type,
                              const KernelOperatorOptions& options = {}) {
        return check_given_operator({size, type}, std::nullopt, {10, 0, 4}, options);
    };
    CHECK(of_states(160, kComplex64).given);
    CHECK(of_states(160, kComplex128).given64);
    check_error(Errc::invalid_argument, "KernelOperator: x does not fit the shape (got 161 values, need 160)",
                [&] { of_states(161, kComplex64); });
    check_error(Errc::invalid_argument, "KernelOperator: states are of type float32",
                [&] { of_states(160, kFloat32); });
    check_error(Errc::invalid_argument, "KernelOperator: type is of type complex64",
                [&] { of_states(160, kComplex64, {.type = kComplex64}); });
}
