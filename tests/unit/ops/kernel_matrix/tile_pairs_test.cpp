// SPDX-License-Identifier: Apache-2.0
// The order in which tiles of states are packed, and the blocks of K that come from them.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "ops/kernel_matrix/kernel_plan.hpp"

namespace {

using namespace weft::kernels;

/// "y64+6>columns": packed; "0,64": a block; "64,64=": one on the diagonal.
std::vector<std::string> steps_of(const weft::KernelMatrixShape& shape, std::uint64_t tile) {
    std::vector<std::string> steps;
    each_tile_pair(
        shape, tile,
        [&](PackedSide side, const StateRows& rows) {
            steps.push_back((rows.of_y ? "y" : "x") + std::to_string(rows.row) + "+" +
                            std::to_string(rows.count) +
                            (side == PackedSide::columns ? ">columns" : ">rows"));
        },
        [&](const KernelBlock& block, bool own) {
            steps.push_back(std::to_string(block.row) + "," + std::to_string(block.column) +
                            (own ? "=" : ""));
        });
    return steps;
}

using Steps = std::vector<std::string>;

}  // namespace

TEST_CASE("tile pairs: a square K has those on and below the diagonal") {
    CHECK(steps_of({70, 0, 4}, 128) == Steps{"x0+70>rows", "0,0="});
    CHECK_FALSE(needs_columns({70, 0, 4}, 128));
    CHECK(steps_of({70, 0, 4}, 64) ==
          Steps{"x0+64>rows", "0,0=", "x64+6>rows", "x0+64>columns", "64,0", "64,64="});
    CHECK(needs_columns({70, 0, 4}, 64));
}

TEST_CASE("tile pairs: a Y of one tile is packed once, else for every tile of X") {
    CHECK(steps_of({70, 9, 4}, 64) == Steps{"y0+9>columns", "x0+64>rows", "0,0", "x64+6>rows", "64,0"});
    CHECK(steps_of({70, 65, 4}, 64) == Steps{"x0+64>rows", "y0+64>columns", "0,0", "y64+1>columns", "0,64",
                                             "x64+6>rows", "y0+64>columns", "64,0", "y64+1>columns",
                                             "64,64"});
    CHECK(needs_columns({70, 9, 4}, 128));
}
