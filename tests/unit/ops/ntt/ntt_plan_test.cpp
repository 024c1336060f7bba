// SPDX-License-Identifier: Apache-2.0
// Roots of unity by long multiplication, the passes of devices, and refused calls.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "ops/ntt/ntt_check.hpp"
#include "support/ntt_oracle.hpp"
#include "support/snapshots.hpp"

namespace {

using namespace weft_test;
using weft::Field;
using weft::NttOrder;
namespace kernels = weft::kernels;

weft::DeviceInfo gpu() {
    weft::DeviceInfo device;
    device.type = weft::DeviceType::discrete;
    device.shader_int64 = true;
    device.limits = weft::test::h100().limits;
    device.limits.max_workgroup_size[0] = 1024;
    return device;
}

kernels::NttPlan plan_of(Field field, std::uint32_t log_size, NttOrder order, std::uint64_t batch = 1,
                         const weft::DeviceInfo& device = gpu(), std::uint64_t tile_bytes = 0) {
    kernels::NttRequest r;
    r.field = field;
    r.order = order;
    r.log_size = log_size;
    r.batch = batch;
    r.inputs = r.outputs = std::uint64_t{1} << log_size;
    r.scalars = kernels::ntt_scalars("ntt", field, log_size, weft::FieldForm::plain, {}, {});
    return kernels::plan_ntt(device, r, tile_bytes);
}

}  // namespace

TEST_CASE("ntt: two-adicity and roots of every field") {
    const std::uint32_t adicity[] = {0, 32, 0, 28, 46, 47, 192, 32, 27, 24, 0};
    for (const weft::FieldInfo& field : weft::fields()) {
        CAPTURE(weft::to_string(field.field));
        const weft::NttInfo info = weft::ntt_info(field.field);
        CHECK(info.two_adicity == adicity[static_cast<std::size_t>(field.field)]);
        if (info.two_adicity == 0) continue;
        const Modulus m(field.field);
        const Big minus_one = m.negated(Modulus::one());
        for (std::uint32_t k = 1; k <= info.max_log_size; ++k) {
            const Big w = big_of(weft::ntt_root(field.field, k));
            CHECK(m.power(w, std::uint64_t{1} << (k - 1)) == minus_one);
            if (k > 1) CHECK(m.mul(w, w) == big_of(weft::ntt_root(field.field, k - 1)));
        }
    }
    // Published values.
    CHECK(weft::ntt_root(Field::babybear, 27)[0] == 0x1a427a41);
    CHECK(weft::ntt_root(Field::koalabear, 24)[0] == 0x6ac49f88);
    CHECK(weft::ntt_root(Field::bn254_fr, 28)[0] == 0x9bd61b6e725b19f0);
}

TEST_CASE("ntt: passes cover every bit once, and tiles every element") {
    for (const Field field : {Field::babybear, Field::goldilocks, Field::bn254_fr, Field::bls12_377_fp})
        for (const NttOrder order : {NttOrder::nn, NttOrder::nr, NttOrder::rn})
            for (std::uint32_t k = 1; k <= 24; ++k)
                for (const std::uint64_t batch : {1u, 3u, 4096u}) {
                    CAPTURE(weft::to_string(field));
                    CAPTURE(k);
                    const kernels::NttPlan plan = plan_of(field, k, order, batch);
                    std::uint32_t low = k;
                    for (const kernels::NttPass& pass : plan.passes) {
                        const auto& p = pass.parameters;
                        CHECK(p.low == low - p.pass_bits);
                        low = p.low;
                        // Columns are other bits than rows.
                        const std::uint32_t columns = pass.tile_bits - p.pass_bits;
                        CHECK((p.column_low + columns <= p.low || p.column_low >= p.low + p.pass_bits));
                        const std::uint64_t held = kernels::ntt_tiles(pass, batch) << pass.tile_bits,
                                            all = batch << k;
                        CHECK(held >= all);
                        CHECK(plan.local_size(pass) <= 1024);
                    }
                    CHECK(low == 0);
                    CHECK(plan.scratch == (order == NttOrder::nn && plan.passes.size() > 1));
                }
    CHECK(plan_of(Field::babybear, 24, NttOrder::nr).passes.size() == 3);
    CHECK(plan_of(Field::goldilocks, 24, NttOrder::nn).method == "8+8+8");
}

TEST_CASE("ntt: tiles that were measured replace the planned ones, as far as the device has them") {
    const auto tile = [](Field field, std::uint64_t bytes) {
        return plan_of(field, 24, NttOrder::nn, 1, gpu(), bytes).passes[0].tile_bits;
    };
    CHECK(tile(Field::babybear, 0) == 12);
    CHECK(tile(Field::babybear, 8192) == 11);
    CHECK(tile(Field::goldilocks, 8192) == 10);
    CHECK(tile(Field::bn254_fr, 8192) == 8);
    CHECK(tile(Field::bls12_377_fp, 8192) == 7);  // the power of two below
    CHECK(tile(Field::bls12_377_fp, 1 << 20) == 9);
    CHECK(tile(Field::babybear, 1) == 12);
}

// An entry of the tables of a plan in plain form; per_r is 1 / R.
Big entry_of(const Modulus& m, const Big& per_r, const kernels::NttPlan& plan, std::uint32_t at) {
    const auto table = std::find_if(plan.tables.begin(), plan.tables.end(), [&](const kernels::NttTable& t) {
        return at >= t.first && at < t.first + t.count;
    });
    REQUIRE(table != plan.tables.end());
    const std::uint32_t i = at - table->first, split = table->split, bits = table->row_bits;
    std::uint64_t exponent = i;
    if (bits != 0) {
        std::uint32_t row = 0;
        for (std::uint32_t b = 0; b < bits; ++b) row = row << 1 | (i >> (split + b) & 1);
        exponent = std::uint64_t{row} * ((i >> (split + bits) << split) | (i & ((1u << split) - 1)));
    }
    const auto plain = [&](const kernels::FieldWords& words) {
        Big x{};
        std::copy(std::begin(words.word), std::end(words.word), x.begin());
        return m.mul(x, per_r);
    };
    return m.mul(plain(table->scale), m.power(plain(table->base), exponent));
}

TEST_CASE("ntt: the factors of a pass are the powers of the root") {
    for (const auto& [field, log_size] : {std::pair{Field::babybear, 24u}, std::pair{Field::goldilocks, 24u},
                                          std::pair{Field::goldilocks, 28u}, std::pair{Field::bn254_fr, 22u}})
        for (const NttOrder order : {NttOrder::nn, NttOrder::nr, NttOrder::rn}) {
            CAPTURE(weft::to_string(field));
            CAPTURE(weft::to_string(order));
            const Modulus m(field);
            const Big w = big_of(weft::ntt_root(field, log_size));
            const kernels::NttPlan plan = plan_of(field, log_size, order);
            const Big per_r = m.inverse(m.power(m.number(2), 32ull * plan.words));
            std::mt19937 random(3);
            for (const kernels::NttPass& pass : plan.passes) {
                const auto& p = pass.parameters;
                const auto flag = [&](std::uint32_t bit) { return (p.flags & bit) != 0; };
                CHECK((p.low != 0) == flag(weft::shared::kNttFactors | weft::shared::kNttFactorsHigh));
                // What all columns of a tile have in common.
                if (flag(weft::shared::kNttRowFactors))
                    CHECK((p.column_low >= p.low || p.column_low + pass.tile_bits - p.pass_bits <= p.split));
                for (int k = 0; p.low != 0 && k < 20; ++k) {
                    const std::uint32_t row = static_cast<std::uint32_t>(random()) % (1u << p.pass_bits),
                                        rest = static_cast<std::uint32_t>(random()) % (1u << p.low);
                    const std::uint32_t upper = rest >> p.split, top = upper >> p.split_top;
                    Big factor = m.number(1);
                    if (flag(weft::shared::kNttFactors))
                        factor = m.mul(
                            factor, entry_of(m, per_r, plan,
                                             p.factors + (row << p.split) + (rest & ((1u << p.split) - 1))));
                    if (flag(weft::shared::kNttFactorsHigh))
                        factor = m.mul(factor, entry_of(m, per_r, plan,
                                                        p.factors_high + row +
                                                            ((upper - (top << p.split_top)) << p.pass_bits)));
                    if (flag(weft::shared::kNttFactorsTop))
                        factor = m.mul(factor,
                                       entry_of(m, per_r, plan, p.factors_top + row + (top << p.pass_bits)));
                    std::uint64_t reversed = 0;
                    for (std::uint32_t b = 0; b < p.pass_bits; ++b) reversed = reversed << 1 | (row >> b & 1);
                    CHECK(factor == m.power(w, reversed * rest << (log_size - p.low - p.pass_bits)));
                }
            }
        }
}

TEST_CASE("ntt: refused calls") {
    const weft::DeviceInfo device = gpu();
    const auto check = [&](Field field, weft::NttShape shape, std::uint64_t bytes) {
        static const int kMemory[2] = {};
        const weft::ElementType type =
            weft::field_info(field).limb_bytes == 8 ? weft::kUint64 : weft::kUint32;
        kernels::check_ntt(device, {"ntt", field, weft::NttDirection::forward, shape},
                           {&kMemory[0], 0, bytes, type}, {&kMemory[1], 0, bytes, type});
    };
    using weft::Errc;
    const auto refused = [&](Errc code, const char* part, const auto& call) {
        try {
            call();
            FAIL_CHECK("nothing was thrown, expected: " << part);
        } catch (const weft::Error& e) {
            INFO(std::string(e.what()));
            CHECK(e.code() == code);
            CHECK(std::string(e.what()).find(part) != std::string::npos);
        }
    };
    refused(Errc::unsupported, "ntt: bn254-fp has no transforms (got p - 1 = 2 * odd",
            [&] { check(Field::bn254_fp, {.log_size = 1}, 64); });
    refused(Errc::unsupported, "circle transforms", [&] { check(Field::mersenne31, {.log_size = 1}, 8); });
    refused(Errc::invalid_argument, "no such size (got log_size 25, need 1 to 24 for koalabear)",
            [&] { check(Field::koalabear, {.log_size = 25}, 0); });
    refused(Errc::invalid_argument, "in does not fit the shape (got 8 limbs, need 16)",
            [&] { check(Field::goldilocks, {.log_size = 4}, 64); });
    refused(Errc::invalid_argument, "more inputs than points (got 17, need at most 16)",
            [&] { check(Field::goldilocks, {.log_size = 4, .inputs = 17}, 128); });
    const std::vector<std::uint64_t> zero{0}, two{2};
    refused(Errc::invalid_argument, "coset is zero",
            [&] { kernels::ntt_scalars("ntt", Field::goldilocks, 4, weft::FieldForm::plain, {}, zero); });
    refused(Errc::invalid_argument, "root is no root of unity of order 2^4",
            [&] { kernels::ntt_scalars("ntt", Field::goldilocks, 4, weft::FieldForm::plain, two, {}); });
}
