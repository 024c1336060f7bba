// SPDX-License-Identifier: Apache-2.0
// The order of the dispatches of an encode: rows, windows, norms, passes.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ops/encode/encode_schedule.hpp"

namespace {

using namespace weft::kernels;

EncodePlan plan_of(EncodeKernel kernel, std::uint32_t qubits, std::uint32_t window_bits) {
    EncodePlan plan;
    plan.kernel = kernel;
    plan.qubits = qubits;
    plan.window_bits = window_bits;
    plan.value_bytes = 4;
    plan.amplitude_bytes = 8;
    plan.features = std::uint64_t{1} << qubits;
    plan.samples = 3;
    plan.slab_bits = plan.element_bits = qubits;
    plan.alignment = 16;
    plan.range_bytes = std::uint64_t{1} << 30;
    return plan;
}

/// A text such as "states 0+2" with the rows that a step takes.
std::vector<std::string> order_of(const EncodePlan& plan, bool check_only = false) {
    constexpr const char* kNames[] = {"states", "norm_block", "norm_row", "scale", "pass", "join"};
    std::vector<std::string> order;
    for (const EncodeDispatch& d : encode_schedule(plan, check_only))
        order.push_back(std::string(kNames[static_cast<int>(d.step)]) + " " + std::to_string(d.row) + "+" +
                        std::to_string(d.rows) + " " + std::to_string(d.amplitude));
    return order;
}

using Order = std::vector<std::string>;

}  // namespace

TEST_CASE("encode schedule: whole rows, as many as a binding holds, and the passes over them") {
    EncodePlan plan = plan_of(EncodeKernel::iqp, 14, 20);
    plan.features = 105;
    plan.element_bits = 12;
    plan.passes = {{12, 2}};
    CHECK(order_of(plan) == Order{"states 0+3 0", "pass 0+3 0"});
    plan.range_bytes = 2 * plan.row_bytes_out();
    CHECK(order_of(plan) == Order{"states 0+2 0", "pass 0+2 0", "states 2+1 0", "pass 2+1 0"});
    CHECK(order_of(plan, true) == Order{"states 0+2 0", "states 2+1 0"});
    const std::vector<EncodeDispatch> steps = encode_schedule(plan, false);
    CHECK(steps[2].count == 4);  // slabs of a row
    CHECK(steps[2].parameters.row_base == 2);
    CHECK(steps[2].parameters.flags == weft::shared::kEncodeStatusByRow);
    CHECK(steps[1].count == 2u << 14 >> 1 >> 2);
    CHECK(steps[1].parameters.base == 11);  // two amplitudes of complex64 a unit
}

TEST_CASE("encode schedule: norms of the next rows come before the states of these") {
    const EncodePlan plan = plan_of(EncodeKernel::amplitude_long, 21, 24);
    CHECK(order_of(plan) == Order{"norm_block 0+1 0", "norm_row 0+1 0", "norm_block 1+1 0", "scale 0+1 0",
                                  "norm_row 1+1 0", "norm_block 2+1 0", "scale 1+1 0", "norm_row 2+1 0",
                                  "scale 2+1 0"});
    CHECK(order_of(plan, true) == Order{"norm_block 0+1 0", "norm_row 0+1 0", "norm_block 1+1 0",
                                        "norm_row 1+1 0", "norm_block 2+1 0", "norm_row 2+1 0"});
    const std::vector<EncodeDispatch> steps = encode_schedule(plan, false);
    CHECK(steps[2].parameters.row_base == 1u << (21 - kNormBlockBits));
    CHECK(steps[3].count == 1u << 20);
}

TEST_CASE("encode schedule: windows of a state, then the bits in which they differ") {
    EncodePlan plan = plan_of(EncodeKernel::iqp, 4, 2);
    plan.samples = 1;
    plan.features = 10;
    plan.element_bits = 1;
    plan.passes = {{1, 1}};
    CHECK(order_of(plan) == Order{"states 0+1 0", "pass 0+1 0", "states 0+1 4", "pass 0+1 4", "states 0+1 8",
                                  "pass 0+1 8", "states 0+1 12", "pass 0+1 12", "join 0+1 0", "join 0+1 0"});
    const std::vector<EncodeDispatch> steps = encode_schedule(plan, false);
    CHECK(steps[4].parameters.base == 4);  // elements of two amplitudes before the window
    CHECK(steps[4].count == 2);
    CHECK(steps[8].bits == 2);
    CHECK(steps[9].bits == 3);
    CHECK(order_of(plan, true) == Order{"states 0+1 0", "states 0+1 4", "states 0+1 8", "states 0+1 12"});
}

TEST_CASE("encode schedule: windows after the values of a long row become zeros") {
    EncodePlan plan = plan_of(EncodeKernel::amplitude_long, 16, 14);
    plan.samples = 1;
    plan.features = (1u << 15) + 5;
    const std::vector<EncodeDispatch> steps = encode_schedule(plan, false);
    REQUIRE(steps.size() == 3 + 1 + 4);
    CHECK(steps[2].step == EncodeStep::norm_block);
    CHECK(steps[2].values == 5);
    CHECK(steps[2].parameters.base == 2);
    CHECK(steps[3].step == EncodeStep::norm_row);
    CHECK(steps[6].value == 1u << 15);
    CHECK(steps[6].values == 5);
    CHECK(steps[7].amplitude == 3u << 14);
    CHECK(steps[7].value == 0);
    CHECK(steps[7].values == 0);
    CHECK(steps[7].parameters.features == 0);
}
