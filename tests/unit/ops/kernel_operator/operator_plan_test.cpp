// SPDX-License-Identifier: Apache-2.0
// The plans of kernel operators on devices of all kinds, and refused calls.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/kernel_operator/operator_check.hpp"
#include "ops/kernel_operator/operator_plan.hpp"
#include "ops/kernel_operator/operator_shapes.hpp"
#include "support/error_text.hpp"
#include "support/operator_devices.hpp"
#include "support/snapshots.hpp"

namespace {

using namespace weft;
using namespace weft::kernels;
using weft_test::operator_h100;
using weft_test::operator_lavapipe;

bool has_reason(const KernelOperatorEstimate& estimate, std::string_view part) {
    return std::any_of(estimate.reasons.begin(), estimate.reasons.end(),
                       [&](const std::string& reason) { return reason.find(part) != std::string::npos; });
}

ApplyPass first_pass(const OperatorPlan& plan, std::uint32_t columns, bool transpose = false) {
    return plan_passes(plan, side_of(plan, transpose), columns, true).front();
}

}  // namespace

TEST_CASE("numbers of samples lie in parts that registers can hold") {
    struct Case {
        std::uint32_t qubits;
        FeatureMap map;
        ElementType type;
        std::uint32_t parts, part_qubits, part_numbers;
    };
    for (const Case& c :
         {Case{8, FeatureMap::ryrz, kFloat32, 1, 8, 24}, Case{5, FeatureMap::ryrz, kFloat32, 1, 5, 16},
          Case{24, FeatureMap::ryrz, kFloat32, 1, 24, 72}, Case{25, FeatureMap::ryrz, kFloat32, 4, 7, 24},
          Case{36, FeatureMap::ry, kFloat32, 1, 36, 72}, Case{100, FeatureMap::ry, kFloat32, 9, 12, 24},
          Case{12, FeatureMap::ryrz, kFloat64, 1, 12, 36}, Case{13, FeatureMap::ryrz, kFloat64, 4, 4, 12}}) {
        CAPTURE(c.qubits);
        const OperatorPlan plan =
            plan_operator(operator_h100(), {1000, 0, c.qubits}, c.map, {.type = c.type});
        CHECK(plan.layout.parts == c.parts);
        CHECK(plan.layout.part_qubits == c.part_qubits);
        CHECK(plan.layout.part_numbers == c.part_numbers);
    }
}

TEST_CASE("software devices, which end long loops, get short splits, or refuse the qubits") {
    for (const ElementType type : {kFloat32, kFloat64})
        for (const std::uint32_t qubits : {8u, 25u, 784u, 2000u, 5000u})
            for (const std::uint32_t columns : {1u, 16u}) {
                const OperatorPlan plan =
                    plan_operator(operator_lavapipe(), {20'000, 0, qubits}, FeatureMap::ryrz, {.type = type});
                const ApplyPass pass = first_pass(plan, columns);
                CAPTURE(qubits);
                CAPTURE(columns);
                // A turn for each column of a tile and part, and those that load samples.
                const std::uint64_t loads = pass.tile * plan.layout.part_numbers / 4 / pass.workgroup;
                CHECK(pass.split / pass.tile * plan.layout.parts * (pass.tile + loads) <= 65535);
                CHECK(pass.split >= pass.tile);
            }
    weft_test::check_error(
        Errc::unsupported,
        "KernelOperator: too many qubits for a software device, which ends long loops (got 65600", [] {
            plan_operator(operator_lavapipe(), {5, 0, 65'600}, FeatureMap::ryrz, {});
        });
    CHECK(plan_operator(operator_h100(), {5, 0, 65'600}, FeatureMap::ryrz, {}).layout.parts > 1);
}

TEST_CASE("workgroups fit the shared memory of the device") {
    for (const std::uint32_t bytes : {49152u, 32768u, 16384u})
        for (const ElementType type : {kFloat32, kFloat64})
            for (const std::uint32_t qubits : {1u, 8u, 12u, 24u, 40u})
                for (const std::uint32_t columns : {1u, 4u, 16u}) {
                    OperatorDevice device = operator_h100();
                    device.limits.max_shared_memory_bytes = bytes;
                    const OperatorPlan plan = plan_operator(device, {100'000, 0, qubits}, FeatureMap::ryrz,
                                                            {.type = type, .symmetric = Choice::on});
                    const ApplyPass pass = first_pass(plan, columns);
                    CAPTURE(qubits);
                    CAPTURE(columns);
                    // Tiles of samples and of V; for symmetric passes a batch of values and sums of columns.
                    std::uint64_t numbers = pass.tile * (plan.layout.part_numbers + pass.width);
                    if (pass.symmetric)
                        numbers += 16 * (pass.workgroup + 1) + pass.tile * pass.width * pass.workgroup / 16;
                    CHECK(numbers * type.bytes() <= bytes);
                    CHECK(pass.tile % pass.together == 0);
                    CHECK(pass.split % pass.tile == 0);
                }
}

TEST_CASE("symmetry is used where it pays") {
    const auto plan = [](const OperatorDevice& device, const KernelMatrixShape& shape,
                         const KernelOperatorOptions& options = {}) {
        return plan_operator(device, shape, FeatureMap::ryrz, options);
    };
    CHECK(first_pass(plan(operator_h100(), {1'000'000, 0, 8}), 1).symmetric);
    CHECK(first_pass(plan(operator_h100(), {1'000'000, 0, 8}), 2).symmetric);
    CHECK_FALSE(first_pass(plan(operator_h100(), {1'000'000, 0, 8}), 16).symmetric);
    CHECK_FALSE(first_pass(plan(operator_h100(), {1000, 0, 8}), 1).symmetric);  // mostly diagonal blocks
    CHECK_FALSE(first_pass(plan(operator_h100(), {1'000'000, 1000, 8}), 1).symmetric);
    CHECK_FALSE(first_pass(plan(operator_h100(), {1'000'000, 0, 25}), 1).symmetric);
    CHECK_FALSE(first_pass(plan(operator_lavapipe(), {100'000, 0, 8}), 1).symmetric);
    CHECK_FALSE(
        first_pass(plan(operator_h100(), {1'000'000, 0, 8}, {.symmetric = Choice::off}), 1).symmetric);
    CHECK(first_pass(plan(operator_h100(), {1000, 0, 8}, {.symmetric = Choice::on}), 16).width == 4);
    CHECK(
        has_reason(estimate_operator(plan(operator_h100(), {1'000'000, 0, 8}, {.low_rank = Choice::off}), 1),
                   "symmetric: each kernel value"));
    CHECK(
        has_reason(estimate_operator(plan(operator_lavapipe(), {10'000, 0, 8}, {.low_rank = Choice::off}), 1),
                   "a software device"));
}

TEST_CASE("columns of V are taken by as few passes as registers allow") {
    const OperatorPlan plan = plan_operator(operator_h100(), {100'000, 5000, 8}, FeatureMap::ryrz, {});
    for (std::uint32_t columns = 1; columns <= kMostColumns; ++columns) {
        CAPTURE(columns);
        std::uint32_t next = 0;
        for (const ApplyPass& pass : plan_passes(plan, side_of(plan, false), columns, true)) {
            CHECK(pass.first == next);
            CHECK(pass.width <= 16);
            CHECK(pass.rows >= 1);
            next += pass.width;
        }
        CHECK(next == columns);
    }
    CHECK(plan_passes(plan, side_of(plan, false), 17, true).size() == 2);
    // Rows that fit the registers of an invocation, as measured.
    CHECK(first_pass(plan, 1).rows == 4);
    CHECK(first_pass(plan, 16).rows == 4);
    CHECK(first_pass(plan_operator(operator_h100(), {9000, 0, 4}, FeatureMap::ry, {}), 1).rows == 8);
    CHECK(first_pass(plan_operator(operator_h100(), {9000, 1, 16}, FeatureMap::ryrz, {}), 1).rows == 3);
    CHECK(first_pass(plan_operator(operator_h100(), {9000, 1, 24}, FeatureMap::ryrz, {}), 1).rows == 2);
}

TEST_CASE("kernels that are compiled ahead fit every plan") {
    OperatorDevice device = operator_h100();
    device.compiled_ahead = true;
    device.limits.max_shared_memory_bytes = 48 << 10;
    for (const ElementType type : {kFloat32, kFloat64})
        for (const FeatureMap map : {FeatureMap::ry, FeatureMap::ryrz})
            for (const Choice symmetric : {Choice::off, Choice::on})
                for (std::uint32_t qubits = 1; qubits <= 40; ++qubits) {
                    CAPTURE(qubits);
                    const OperatorPlan plan = plan_operator(device, {100'000, 0, qubits}, map,
                                                            {.type = type, .symmetric = symmetric});
                    const SampleLayout& layout = plan.layout;
                    CHECK(layout.parts * layout.part_qubits >= qubits);
                    CHECK((layout.parts - 1) * layout.part_qubits < qubits);
                    CHECK(layout.part_numbers % 4 == 0);
                    const auto& compiled = kCompiledQubits;
                    CHECK(std::count(std::begin(compiled), std::end(compiled), layout.part_qubits) == 1);
                    if (layout.parts > 1) CHECK(layout.part_qubits == (type == kFloat64 ? 4 : 8));
                    for (const std::uint32_t columns : {1u, 2u, 5u, 16u, 17u, 64u}) {
                        std::uint32_t next = 0;
                        for (const ApplyPass& pass : plan_passes(plan, side_of(plan, false), columns, true)) {
                            CHECK(pass.first == next);
                            CHECK(pass.columns <= pass.width);
                            CHECK((pass.width == 1 || pass.width == 4 ||
                                   (pass.width == 16 && !pass.symmetric)));
                            CHECK(!(pass.symmetric && layout.parts > 1));
                            next += pass.columns;
                        }
                        CHECK(next == columns);
                    }
                }
}

TEST_CASE("an estimate says what kernels that are compiled ahead fill up") {
    OperatorDevice device = operator_h100();
    device.compiled_ahead = true;
    const auto estimate = [&](std::uint32_t qubits) {
        return estimate_operator(
            plan_operator(device, {100'000, 1, qubits}, FeatureMap::ryrz, {.low_rank = Choice::off}), 1);
    };
    CHECK(has_reason(estimate(9), "compiled for 12 qubits, not for 9"));
    CHECK(estimate(9).instructions == estimate(12).instructions);
    CHECK_FALSE(has_reason(estimate(8), "filled up"));
}

TEST_CASE("bands cover all rows and columns and fit their bindings") {
    for (const OperatorDevice& device : {operator_h100(), operator_lavapipe()})
        for (const KernelMatrixShape& shape :
             {KernelMatrixShape{3'000'001, 0, 8}, KernelMatrixShape{1, 2'000'003, 16},
              KernelMatrixShape{77, 1, 100}, KernelMatrixShape{2000, 0, 1}})
            for (const std::uint32_t columns : {1u, 4u, 64u}) {
                CAPTURE(shape.samples);
                CAPTURE(columns);
                const OperatorPlan plan = plan_operator(device, shape, FeatureMap::ryrz, {});
                const ApplySide side = side_of(plan, false);
                const ApplyPass pass = first_pass(plan, columns);
                const std::uint64_t range = device.limits.max_storage_buffer_range;
                std::uint64_t pairs = 0;
                for (const OperatorBand& band : bands_of(pass, side, 0, side.rows)) {
                    pairs += pairs_of(pass, band);
                    CHECK(band.row % pass.block_rows() == 0);
                    CHECK(band.columns * plan.sample_bytes() <= range);
                    CHECK(band.rows * plan.sample_bytes() <= range);
                    CHECK(row_sums_of(pass, band) * plan.real_bytes() <= range);
                    CHECK(column_sums_of(pass, band) * plan.real_bytes() <= range);
                    // Bindings of samples begin where any device allows it.
                    CHECK(band.row * plan.sample_bytes() % 256 == 0);
                    CHECK(band.column * plan.sample_bytes() % 256 == 0);
                }
                CHECK(pairs == (pass.symmetric ? shape.pairs() : side.rows * side.columns));
                CHECK(pass.split % pass.tile == 0);
                if (pass.symmetric) CHECK(pass.block_rows() % pass.tile == 0);
            }
}

TEST_CASE("estimates of kernel operators") {
    const KernelOperatorEstimate million = estimate_operator(
        plan_operator(operator_h100(), {1'000'000, 0, 8}, FeatureMap::ryrz, {.low_rank = Choice::off}), 1);
    CHECK(million.fits);
    CHECK(million.sample_bytes == 96'000'000);
    CHECK(million.scratch_bytes <= 2 * 256 * test::kMiB);
    CHECK(million.pairs == 500'000'500'000);
    CHECK(million.instructions < 20);  // 33 in both directions
    CHECK(million.error > 0);
    CHECK(million.error < 2e-5);
    OperatorDevice small = operator_h100();
    small.budget_bytes = 64 * test::kMiB;
    const OperatorPlan plan =
        plan_operator(small, {1'000'000, 0, 8}, FeatureMap::ryrz, {.low_rank = Choice::off});
    CHECK_FALSE(estimate_operator(plan, 1).fits);
    CHECK(weft_test::error_text(Errc::out_of_memory, [&] {
              check_operator_fits(plan);
          }).starts_with("KernelOperator: does not fit (got 96000000 bytes of samples"));
    OperatorDevice narrow = operator_h100();
    narrow.float64 = false;
    CHECK(weft_test::error_text(Errc::unsupported, [&] {
              static_cast<void>(plan_operator(narrow, {10, 0, 2}, FeatureMap::ry, {.type = kFloat64}));
          }) == "KernelOperator: float64 on a device without shaderFloat64 (need type float32)");
}

TEST_CASE("features stand for K where they are few") {
    const auto low = [](const KernelMatrixShape& shape, FeatureMap map,
                        const KernelOperatorOptions& options = {}) {
        const OperatorPlan plan = plan_operator(operator_h100(), shape, map, options);
        return plan_low_rank(plan, side_of(plan, false), 1);
    };
    CHECK(low({1'000'000, 0, 8}, FeatureMap::ryrz));
    CHECK(low({1'000'000, 0, 9}, FeatureMap::ryrz));
    CHECK_FALSE(low({1'000'000, 0, 10}, FeatureMap::ryrz));
    CHECK(low({1'000'000, 0, 11}, FeatureMap::ry));
    CHECK_FALSE(low({10'000, 0, 8}, FeatureMap::ryrz));
    CHECK(low({10'000, 0, 4}, FeatureMap::ryrz));
    CHECK_FALSE(low({1'000'000, 0, 4}, FeatureMap::ryrz, {.low_rank = Choice::off}));
    CHECK(low({10, 0, 4}, FeatureMap::ryrz, {.low_rank = Choice::on}));
    const LowRankPlan plan = *low({1'000'000, 0, 7}, FeatureMap::ryrz);
    CHECK(plan.low_count == 256);
    CHECK(plan.high_count == 64);
    CHECK(plan.split % 64 == 0);
    CHECK(plan.band_samples % plan.split == 0);
    const KernelOperatorEstimate estimate =
        estimate_operator(plan_operator(operator_h100(), {1'000'000, 0, 8}, FeatureMap::ryrz, {}), 1);
    CHECK(estimate.method == KernelOperatorMethod::low_rank);
    CHECK(estimate.fits);
    CHECK(has_reason(estimate, "low rank: 65536 features stand for 1000000 columns of K"));
}

TEST_CASE("operators that cannot be made are refused") {
    struct Case {
        std::function<void()> call;
        const char* text;
    };
    const KernelMatrixShape shape{10, 0, 4};
    const ArrayFacts x{40, kFloat32};
    const std::vector<float> weights(8, 0.5f);
    const auto make = [=](const KernelMatrixCircuit& circuit, const ArrayFacts& features,
                          const std::optional<ArrayFacts>& y, const KernelMatrixShape& of,
                          const KernelOperatorOptions& options = {}) {
        return [=] { check_operator(circuit, features, y, of, options); };
    };
    const std::vector<Case> cases{
        {make({}, {39, kFloat32}, {}, shape),
         "KernelOperator: x does not fit the shape (got 39 values, need 40)"},
        {make({}, {40, kInt64}, {}, shape), "x is of type int64"},
        {make({}, x, ArrayFacts{8, kFloat64}, {10, 2, 4}), "y is of another type than x"},
        {make({.weights = weights, .reupload = true}, x, {}, shape, {.low_rank = Choice::on}), "low_rank"},
        {make({.scale = std::numeric_limits<double>::infinity()}, x, {}, shape),
         "KernelOperator: scale is infinite"},
        {make({}, x, {}, shape, {.type = kComplex64}), "KernelOperator: type is of type complex64"},
        {make({}, x, {}, shape, {.jitter = 1}),
         "KernelOperatorOptions::jitter does not apply without normalize"},
        {make({}, x, ArrayFacts{8, kFloat32}, {10, 2, 4}, {.symmetric = Choice::on}),
         "symmetric does not apply to K of X with Y"},
        {make({}, x, {}, shape, {.vram_fraction = 0}), "KernelOperator: vram_fraction out of range"},
        {make({}, x, {}, {10, 0, 0}), "KernelOperator: no qubits"},
        {make({}, {100, kFloat32}, {}, {10, 0, 10}, {.low_rank = Choice::on}), "low_rank: too many features"},
    };
    for (const Case& c : cases) {
        INFO("expected: " << std::string(c.text));
        const std::string text = weft_test::error_text(Errc::invalid_argument, c.call);
        INFO("got: " << text);
        CHECK(text.find(c.text) != std::string::npos);
    }
}

TEST_CASE("products that cannot be made are refused") {
    const OperatorPlan square = plan_operator(operator_h100(), {10, 0, 4}, FeatureMap::ryrz, {});
    const OperatorPlan pair = plan_operator(operator_h100(), {10, 3, 4}, FeatureMap::ryrz, {});
    struct Case {
        const OperatorPlan& plan;
        ArrayFacts v, out;
        KernelApplyOptions options;
        const char* text;
    };
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    for (const Case& c : std::initializer_list<Case>{
             {square,
              {10, kFloat64},
              {10, kFloat32},
              {},
              "v is of another type than the operator (got float64"},
             {square, {10, kFloat32}, {10, kFloat64}, {}, "out is of another type"},
             {square, {11, kFloat32}, {11, kFloat32}, {}, "need a multiple of 10, the columns of K"},
             {square, {0, kFloat32}, {0, kFloat32}, {}, "columns of V out of range (got 0, need 1 to 64)"},
             {square,
              {650, kFloat32},
              {650, kFloat32},
              {},
              "columns of V out of range (got 65, need 1 to 64)"},
             {pair, {6, kFloat32}, {10, kFloat32}, {}, "out does not fit the shape (got 10 values, need 20)"},
             {pair, {10, kFloat32}, {10, kFloat32}, {.transpose = true}, "(got 10 values, need 3)"},
             {pair, {3, kFloat32}, {10, kFloat32}, {.lambda = 1}, "lambda does not apply to K of X with Y"},
             {square, {10, kFloat32}, {10, kFloat32}, {.a = kInfinite}, "a is not finite"},
             {square, {10, kFloat32}, {10, kFloat32}, {.b = kInfinite}, "b is not finite"},
         }) {
        INFO("expected: " << std::string(c.text));
        const std::string text = weft_test::error_text(
            Errc::invalid_argument, [&] { static_cast<void>(check_apply(c.plan, c.v, c.out, c.options)); });
        INFO("got: " << text);
        CHECK(text.starts_with("kernel_apply: "));
        CHECK(text.find(c.text) != std::string::npos);
    }
    CHECK(check_apply(pair, {10 * 7, kFloat32}, {3 * 7, kFloat32}, {.transpose = true}) == 7);
    CHECK(weft_test::error_text(Errc::invalid_argument, [&] {
              check_rows(square, {3, 10}, {20, kFloat32});
          }) == "kernel_rows: no such row (got 10, need below 10)");
    CHECK(weft_test::error_text(Errc::invalid_argument, [&] {
              check_diagonal(pair, {10, kFloat32});
          }) == "kernel_diagonal: K of X with Y has no diagonal (need a square operator)");
}
