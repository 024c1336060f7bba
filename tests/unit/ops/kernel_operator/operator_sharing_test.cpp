// SPDX-License-Identifier: Apache-2.0
// Products with a square K whose pairs several devices share: items, when it pays, and simulated devices.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ops/kernel_operator/operator_sharing.hpp"
#include "ops/kernel_operator/operator_states.hpp"
#include "plan/work/share_queue.hpp"
#include "support/operator_devices.hpp"
#include "support/snapshots.hpp"

namespace {

using namespace weft;
using namespace weft::kernels;
using core::Share;
using core::ShareDevice;
using core::ShareQueue;
using weft_test::operator_h100;
using weft_test::operator_lavapipe;

/// Plans of one operator on several devices.
struct Plans {
    std::vector<OperatorPlan> plans;
    std::vector<const OperatorPlan*> all() const {
        std::vector<const OperatorPlan*> all;
        for (const OperatorPlan& plan : plans) all.push_back(&plan);
        return all;
    }
    SharedProduct shared(std::uint32_t columns) const { return plan_shared(all(), columns); }
};
Plans plans_of(const std::vector<OperatorDevice>& devices, const KernelMatrixShape& shape,
               KernelOperatorOptions options = {}) {
    options.low_rank = Choice::off;
    Plans plans;
    for (const OperatorDevice& device : devices)
        plans.plans.push_back(plan_operator(device, shape, FeatureMap::ryrz, options));
    return plans;
}

std::uint64_t pairs_of_rows(const std::vector<RowRange>& ranges) {
    std::uint64_t pairs = 0;
    for (const RowRange& rows : ranges)
        pairs += (rows.last * (rows.last + 1) - rows.first * (rows.first + 1)) / 2;
    return pairs;
}

struct Outcome {
    double end_s = 0;
    std::uint64_t pairs = 0;
    std::vector<std::uint64_t> of_device, shares;
};
/// Devices that make `rates` pairs a second, and need `start_s` more for each share. `lost_s`: when the last
/// one is lost; negative: never.
Outcome simulate(const SharedProduct& product, const std::vector<double>& rates, double start_s,
                 double lost_s = -1) {
    std::vector<ShareDevice> known;
    for (const double rate : rates)
        known.push_back(
            {rate == rates[0] ? "gpu" : "other", rate == rates[0] ? 1 : 0.5, 0, product.least_items});
    ShareQueue queue(product.items, 1, known);
    Outcome out;
    out.of_device.assign(rates.size(), 0), out.shares.assign(rates.size(), 0);
    constexpr double kNever = std::numeric_limits<double>::infinity();
    std::vector<double> free_s(rates.size(), kNever);
    std::vector<std::optional<Share>> share(rates.size());
    std::vector<int> made(product.items, 0);
    bool lost = false;
    for (double now = 0;;) {
        for (std::size_t d = 0; d < rates.size(); ++d) {
            if (share[d] || queue.dropped(d)) continue;
            share[d] = queue.take(d, now);
            if (!share[d]) continue;
            const auto pairs = pairs_of_rows(product.fold.ranges(share[d]->first, share[d]->count));
            free_s[d] = now + start_s + static_cast<double>(pairs) / rates[d];
        }
        const auto next = std::min_element(free_s.begin(), free_s.end());
        if (*next == kNever) break;
        now = *next;
        const auto d = static_cast<std::size_t>(next - free_s.begin());
        free_s[d] = kNever;
        if (lost_s >= 0 && now >= lost_s && !lost && d + 1 == rates.size()) {
            lost = true;
            queue.drop(d);  // what it has finished stays on the host
        } else {
            const auto pairs = pairs_of_rows(product.fold.ranges(share[d]->first, share[d]->count));
            for (std::uint64_t i = 0; i < share[d]->count; ++i) ++made[share[d]->first + i];
            queue.done(d, now);
            out.of_device[d] += pairs;
            ++out.shares[d];
            out.pairs += pairs;
        }
        share[d].reset();
        out.end_s = now;
    }
    CHECK(queue.finished());
    CHECK(std::all_of(made.begin(), made.end(), [](int times) { return times == 1; }));
    return out;
}

}  // namespace

TEST_CASE("items of a fold have every row once, and equally many pairs") {
    for (const std::uint64_t rows : {1u, 2u, 99u, 100u, 101u, 700u, 1000u, 1001u})
        for (const std::uint64_t block : {1u, 7u, 100u})
            for (const std::uint64_t count : {1u, 2u, 3u, 1000u}) {
                CAPTURE(rows);
                CAPTURE(block);
                CAPTURE(count);
                const RowFold fold{rows, block};
                std::vector<int> seen(rows, 0);
                for (std::uint64_t item = 0; item < fold.items(); item += count)
                    for (const RowRange& range : fold.ranges(item, std::min(count, fold.items() - item))) {
                        CHECK(range.first < range.last);
                        CHECK(range.first % block == 0);
                        for (std::uint64_t row = range.first; row < range.last; ++row) ++seen.at(row);
                    }
                CHECK(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
            }
    const RowFold fold{1'000'000, 1000};
    CHECK(fold.items() == 500);
    for (std::uint64_t item = 0; item < fold.items(); ++item)
        CHECK(pairs_of_rows(fold.ranges(item, 1)) == 1000u * 1'000'001u);
}

TEST_CASE("equal devices make equally many pairs, and together one triangle") {
    for (const std::uint32_t columns : {1u, 4u})
        for (std::size_t devices = 1; devices <= 8; ++devices) {
            CAPTURE(columns);
            CAPTURE(devices);
            const std::uint64_t rows = columns * 500'000 + 500'000;
            const SharedProduct product =
                plans_of(std::vector(devices, operator_h100()), {rows, 0, 8}).shared(columns);
            REQUIRE(product.symmetric);
            constexpr double kPairsPerS = 0.67e12;
            const double triangle = static_cast<double>(rows) * static_cast<double>(rows + 1) / 2;
            const Outcome out = simulate(product, std::vector(devices, kPairsPerS), 0);
            CHECK(static_cast<double>(out.pairs) == triangle);
            const auto n = static_cast<double>(devices);
            CHECK(out.end_s < 1.03 * triangle / kPairsPerS / n);
            for (const std::uint64_t pairs : out.of_device)
                CHECK(std::fabs(static_cast<double>(pairs) * n / triangle - 1) < 0.03);
            // Each share copies the totals once.
            for (const std::uint64_t shares : out.shares) CHECK(shares <= 6);
        }
}

TEST_CASE("unequal devices end together, and a slow one does not hold up a fast one") {
    const SharedProduct product = plans_of({operator_h100(), operator_h100()}, {1'000'000, 0, 8}).shared(1);
    constexpr double triangle = 1e6 * (1e6 + 1) / 2;
    for (const double slower : {1.3, 2.0, 3.0, 8.0}) {
        CAPTURE(slower);
        const Outcome out = simulate(product, {1e12, 1e12 / slower}, 1e-3);
        CHECK(static_cast<double>(out.pairs) == triangle);
        CHECK(out.end_s < 1.1 * triangle / (1e12 * (1 + 1 / slower)));
    }
}

TEST_CASE("what a lost device has not finished is made by the others, once") {
    const SharedProduct product =
        plans_of({operator_h100(), operator_h100(), operator_h100()}, {1'000'000, 0, 8}).shared(1);
    for (const double lost_s : {0.0, 0.1, 0.17}) {
        const Outcome out = simulate(product, {1e12, 1e12, 1e12}, 1e-3, lost_s);
        CHECK(static_cast<double>(out.pairs) == 1e6 * (1e6 + 1) / 2);
    }
}

TEST_CASE("pairs are shared where that pays, with the reason") {
    const auto reason = [](const std::vector<OperatorDevice>& devices, const KernelMatrixShape& shape,
                           std::uint32_t columns, const KernelOperatorOptions& options = {}) {
        return plans_of(devices, shape, options).shared(columns).reason;
    };
    const KernelMatrixShape million{1'000'000, 0, 8};
    const std::vector two{operator_h100(), operator_h100()};
    CHECK(reason(two, million, 1) ==
          "symmetric over 2 devices: each kernel value is made on one of them, 8000000 bytes of totals on "
          "each");
    // A software device beside GPUs does not change their plan.
    const KernelMatrixShape fewer{400'000, 0, 8};
    CHECK(plans_of({operator_lavapipe(), operator_h100()}, fewer).shared(1).symmetric);
    CHECK(reason({operator_lavapipe(), operator_h100()}, million, 1) ==
          "not symmetric over 2 devices: samples exceed a binding of a device");
    CHECK(reason({operator_lavapipe(), operator_lavapipe()}, fewer, 1) ==
          "not symmetric over 2 devices: a software device");
    CHECK(plans_of({operator_lavapipe(), operator_lavapipe()}, fewer, {.symmetric = Choice::on})
              .shared(1)
              .symmetric);
    CHECK(reason(two, million, 16) == "not symmetric over 2 devices: it would not save time");
    CHECK(reason(two, million, 1, {.symmetric = Choice::off}) == "not symmetric over 2 devices: turned off");
    CHECK(reason(two, {1'000'000, 1000, 8}, 1) == "not symmetric over 2 devices: K of X with Y");
    CHECK(reason(two, {1'000'000, 0, 25}, 1) == "not symmetric over 2 devices: samples have several parts");
    CHECK(reason(std::vector(8, operator_h100()), {20'000, 0, 8}, 1) ==
          "not symmetric over 8 devices: the copies of totals would take longer than they save");
    OperatorDevice small = operator_h100();
    small.budget_bytes = 130 << 20;
    CHECK(reason({operator_h100(), small}, million, 1)
              .find("not symmetric over 2 devices: totals of all rows do") == 0);
    Plans low = plans_of(two, million);
    for (OperatorPlan& plan : low.plans) plan.options.low_rank = Choice::on;
    CHECK(low.shared(1).reason == "not symmetric over 2 devices: low rank");
}

TEST_CASE("the estimate of several devices has their totals") {
    const Plans two = plans_of({operator_h100(), operator_h100()}, {1'000'000, 0, 8});
    const KernelOperatorEstimate alone = estimate_operator(two.plans[0], 1);
    const KernelOperatorEstimate shared = estimate_shared(two.all(), 1);
    CHECK(shared.symmetric);
    CHECK(shared.scratch_bytes == alone.scratch_bytes + 8'000'000);
    CHECK(shared.pairs == alone.pairs);
    // Sums over splits, blocks and bands are exact.
    CHECK(shared.error <= alone.error);
    CHECK(shared.error > 0.8 * alone.error);
    const Plans wide = plans_of({operator_h100(), operator_h100()}, {1'000'000, 0, 8}, {.type = kFloat64});
    CHECK(estimate_shared(wide.all(), 1).error < 1.1 * estimate_operator(wide.plans[0], 1).error);
    const Plans off =
        plans_of({operator_h100(), operator_h100()}, {1'000'000, 0, 8}, {.symmetric = Choice::off});
    CHECK_FALSE(estimate_shared(off.all(), 1).symmetric);
    CHECK(estimate_shared(off.all(), 1).pairs == 1'000'000'000'000u);
    const Plans one = plans_of({operator_h100()}, {1'000'000, 0, 8});
    CHECK(estimate_shared(one.all(), 1).reasons == alone.reasons);
}

TEST_CASE("items do not depend on the split of rows, so that partial sums stay the same") {
    for (const std::uint32_t qubits : {1u, 8u, 12u, 16u, 20u, 24u})
        for (const std::uint32_t columns : {1u, 2u, 3u, 7u, 64u}) {
            const Plans plans =
                plans_of({operator_h100(), operator_h100()}, {100'000, 0, qubits}, {.symmetric = Choice::on});
            const SharedProduct product = plans.shared(columns);
            REQUIRE(product.symmetric);
            for (const ApplyPass& pass :
                 plan_symmetric_passes(plans.plans[0], side_of(plans.plans[0], false), columns)) {
                CHECK(product.fold.block % pass.block_rows() == 0);
                CHECK(pass.band_rows % pass.block_rows() == 0);
            }
        }
}
