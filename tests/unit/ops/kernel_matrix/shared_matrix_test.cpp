// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_matrix/shared_matrix.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/error_text.hpp"

using namespace weft::kernels;
using weft::Errc;
using weft::Error;
using weft::KernelMatrixMethod;
using weft::KernelMatrixOptions;
using weft::KernelMatrixShape;

namespace {

KernelMatrixPlan states_plan(const KernelMatrixShape& shape, std::uint64_t tile, std::uint64_t block) {
    KernelMatrixPlan plan;
    plan.shape = shape;
    plan.method = KernelMatrixMethod::states;
    plan.states.tile = tile;
    plan.states.block = block;
    return plan;
}

constexpr KernelMatrixShape kShape{20'000, 0, 10};

/// A device that holds tiles of `tile` states, or of fewer if the options ask for them.
MatrixDevice with_tile(const std::string& kind, std::uint64_t tile, int* asked = nullptr) {
    return {.kind = kind, .plan = [=](const KernelMatrixOptions& options) {
                if (asked != nullptr) ++*asked;
                const std::uint64_t wanted =
                    options.state_tile > 0 ? static_cast<std::uint64_t>(options.state_tile) : tile;
                return states_plan(kShape, std::min(tile, wanted), 4096);
            }};
}

MatrixDevice refusing(Errc code, const std::string& why) {
    return {.kind = "refusing",
            .plan = [=](const KernelMatrixOptions&) -> KernelMatrixPlan { throw Error(code, why); }};
}

std::string reason_of(const std::exception_ptr& refused) {
    try {
        std::rethrow_exception(refused);
    } catch (const Error& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("plans of several devices: those of one kind share one, and all have equal tiles and blocks") {
    int asked = 0;
    const DevicePlans same =
        plan_together({with_tile("a", 20'032, &asked), with_tile("a", 20'032, &asked)}, {});
    CHECK(asked == 1);
    CHECK(same.of(0).states.tile == 20'032);
    CHECK(same.of(1).states.block == same.of(0).states.block);
    CHECK(same.of(0).states.block < 4096);  // so small that both are busy to the end
    CHECK(same.of(0).states.block >= 2000);
    const DevicePlans mixed = plan_together({with_tile("a", 20'032), with_tile("b", 8192)}, {});
    CHECK(mixed.of(0).states.tile == 8192);
    CHECK(mixed.of(1).states.tile == 8192);
    CHECK(mixed.of(0).states.block == mixed.of(1).states.block);
    CHECK(plan_together({with_tile("a", 20'032)}, {}).of(0).states.block == 4096);
}

TEST_CASE("plans of several devices: lost ones have none, and others say why they take no part") {
    MatrixDevice lost = with_tile("a", 8192), software = with_tile("cpu", 8192);
    lost.lost = true;
    software.software = true;
    const DevicePlans plans = plan_together({lost, software, refusing(Errc::out_of_memory, "too large"),
                                             refusing(Errc::no_device, "busy"), with_tile("a", 8192)},
                                            {});
    CHECK_FALSE(plans.software);
    CHECK_FALSE(plans.plans[0]);
    CHECK_FALSE(plans.refused[0]);
    CHECK(reason_of(plans.refused[1]).find("too slow beside a GPU") != std::string::npos);
    CHECK(reason_of(plans.refused[2]) == "too large");
    CHECK(reason_of(plans.refused[3]) == "busy");
    CHECK(&plans.first() == &plans.of(4));
    CHECK(plan_together({software, software}, {}).software);
    CHECK(plan_together({lost, software}, {}).of(1).states.tile == 8192);
    CHECK(weft_test::error_text(Errc::unsupported, [] {
              plan_together({refusing(Errc::unsupported, "first"), refusing(Errc::out_of_memory, "second")},
                            {});
          }) == "first");
    CHECK(weft_test::error_text(Errc::invalid_argument, [&] {
              plan_together({with_tile("a", 8192), refusing(Errc::invalid_argument, "mistake")}, {});
          }) == "mistake");
    CHECK(weft_test::error_text(Errc::device_lost, [&] {
              plan_together({lost}, {});
          }).find("every device is lost") != std::string::npos);
}

TEST_CASE("items of a kernel matrix: all of K, whose pairs and bytes add up over shares") {
    for (const KernelMatrixShape shape :
         {KernelMatrixShape{3000, 0, 9}, {3000, 1234, 9}, {1, 0, 9}, {64, 0, 9}}) {
        KernelMatrixPlan plan = states_plan(shape, 1024, 256);
        for (const KernelMatrixMethod method : {KernelMatrixMethod::states, KernelMatrixMethod::product}) {
            plan.method = method;
            const MatrixItems items = all_items(plan);
            CHECK(items.pairs(plan) == shape.pairs());
            std::uint64_t pairs = 0, bytes = 0;
            for (std::uint64_t first = 0; first < items.count(); first += 3) {
                const weft::OpReport report =
                    items.report(plan, first, std::min<std::uint64_t>(3, items.count() - first));
                pairs += report.items;
                bytes += report.bytes_out;
            }
            CHECK(pairs == shape.pairs());
            CHECK(bytes == plan.matrix_bytes());
        }
    }
}

TEST_CASE("shared items of one tile of states: the same blocks, with those of the diagonal in the middle") {
    const KernelMatrixPlan plan = states_plan({1000, 0, 9}, 1024, 256);
    const MatrixItems items = shared_items(plan);
    REQUIRE(items.count() == 10);
    CHECK(items.pairs(plan) == plan.shape.pairs());
    std::vector<std::uint64_t> rows;
    for (std::size_t i = 0; i < items.blocks.size(); ++i) {
        CHECK(off_diagonal(plan.shape, items.blocks[i].block) == (i < 3 || i >= 7));
        rows.push_back(items.blocks[i].block.row);
    }
    CHECK(rows == std::vector<std::uint64_t>{256, 512, 512, 0, 256, 512, 768, 768, 768, 768});
    // Tiles would be packed more often in another order.
    const KernelMatrixPlan tiles = states_plan({1000, 0, 9}, 512, 256);
    const MatrixItems in_order = all_items(tiles), same = shared_items(tiles);
    REQUIRE(in_order.count() == same.count());
    for (std::size_t i = 0; i < same.blocks.size(); ++i) {
        CHECK(same.blocks[i].block.row == in_order.blocks[i].block.row);
        CHECK(same.blocks[i].block.column == in_order.blocks[i].block.column);
    }
}

TEST_CASE("shares of a kernel matrix: some milliseconds of work, and never more than there is") {
    DevicePlans plans;
    plans.plans.emplace_back(states_plan(kShape, 20'032, 2048));
    const std::uint64_t items = all_items(plans.first()).count();
    CHECK(items == 55);
    CHECK(least_items(plans, items) == 2);  // of 3e10 operations each
    plans.software = true;
    CHECK(least_items(plans, items) == 1);
    plans.plans[0]->shape = {100, 0, 4};
    CHECK(least_items(plans, 1) == 1);
}
