// SPDX-License-Identifier: Apache-2.0
// Calls that are refused before any device work, and the selection of field shaders for a device.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include <weft/error.hpp>

#include "ops/field/field_check.hpp"
#include "ops/field/field_plan.hpp"
#include "ops/field/field_scalar.hpp"
#include "support/field_oracle.hpp"

namespace {

using weft::Field;
using weft::FieldJob;
using weft::FieldOp;
using weft::FieldShader;
using Limbs = std::vector<std::uint64_t>;

std::string refusal(const std::function<void()>& call) {
    try {
        call();
    } catch (const weft::Error& error) {
        CHECK(error.code() != weft::Errc::unsupported);
        return error.what();
    }
    return "accepted";
}

std::string check(FieldOp op, std::span<const FieldJob> jobs, Field field = Field::bls12_381_fp,
                  bool batch = true) {
    return refusal([&] { weft::kernels::check_field_jobs({weft::field_info(field), op, jobs, batch}); });
}
std::string check(FieldOp op, const FieldJob& job, Field field = Field::bls12_381_fp, bool batch = true) {
    return check(op, std::span(&job, 1), field, batch);
}

std::string check_values(const std::vector<FieldJob>& jobs, std::uint32_t threads = 1,
                         Field field = Field::bls12_381_fp) {
    return refusal([&] {
        weft::kernels::check_canonical({weft::field_info(field), FieldOp::add, jobs, true}, threads);
    });
}

bool mentions(const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts)
        if (text.find(part) == std::string::npos) {
            MESSAGE(text << " lacks " << part);
            return false;
        }
    return true;
}

// A span over addresses that are never read.
std::span<std::uint64_t> made_up(std::uintptr_t address, std::size_t limbs) {
    return {reinterpret_cast<std::uint64_t*>(address), limbs};  // NOLINT(performance-no-int-to-ptr)
}

void put(Limbs& limbs, std::size_t element, const weft_test::Number& value) {
    Limbs six;
    weft_test::append(six, value);
    std::copy(six.begin(), six.end(), limbs.begin() + static_cast<std::ptrdiff_t>(element * 6));
}

}  // namespace

TEST_CASE("field check: shapes that fit are accepted") {
    Limbs a(12), b(12), out(12);
    CHECK(check(FieldOp::add, {a, b, {}, out}) == "accepted");
    CHECK(check(FieldOp::sub, {a, a, {}, out}) == "accepted");
    CHECK(check(FieldOp::add, {a, b, {}, a}) == "accepted");
    CHECK(check(FieldOp::add, {a, b, {}, b}) == "accepted");
    CHECK(check(FieldOp::add, {a, a, {}, a}) == "accepted");
    CHECK(check(FieldOp::neg, {a, {}, {}, out}) == "accepted");
    CHECK(check(FieldOp::neg, {a, {}, {}, a}) == "accepted");
    CHECK(check(FieldOp::add, FieldJob{}) == "accepted");
    CHECK(check(FieldOp::add, {std::span(a).first(0), std::span(b).first(0), {}, std::span(a).first(0)}) ==
          "accepted");
    // Adjacent ranges do not overlap.
    CHECK(check(FieldOp::neg, {std::span(a).first(6), {}, {}, std::span(a).last(6)}) == "accepted");
    CHECK(check(FieldOp::add, std::span<const FieldJob>()) == "accepted");
}

TEST_CASE("field check: refusals name function, job, got and need") {
    Limbs big(64), a(12), b(12), out(12);
    const std::span<std::uint64_t> whole(big), none = made_up(0, 12);
    const auto from = [&](std::size_t first, std::size_t count) { return whole.subspan(first, count); };
    const struct {
        const char* what;
        FieldOp op;
        FieldJob job;
        std::initializer_list<const char*> text;
    } rows[] = {
        {"5-limb tail",
         FieldOp::add,
         {from(0, 11), from(11, 11), {}, from(22, 11)},
         {"got 11 limbs", "multiple of 6"}},
        {"b shorter",
         FieldOp::add,
         {a, std::span(b).first(6), {}, out},
         {"b and a", "got 6 limbs", "need 12"}},
        {"b missing", FieldOp::sub, {a, {}, {}, out}, {"b and a", "got 0 limbs", "need 12"}},
        {"out longer", FieldOp::add, {a, b, {}, from(0, 18)}, {"out and a", "got 18 limbs", "need 12"}},
        {"out missing", FieldOp::neg, {a, {}, {}, {}}, {"out and a", "got 0 limbs", "need 12"}},
        {"a empty alone", FieldOp::add, {{}, b, {}, out}, {"b and a", "got 12 limbs", "need 0"}},
        {"a null", FieldOp::add, {none, b, {}, out}, {"a is null", "got 12 limbs"}},
        {"b null", FieldOp::add, {a, none, {}, out}, {"b is null", "got 12 limbs"}},
        {"out null", FieldOp::add, {a, b, {}, none}, {"out is null", "got 12 limbs"}},
        {"b to neg", FieldOp::neg, {a, b, {}, out}, {"neg takes no b", "got 12 limbs", "need 0"}},
        {"out inside a", FieldOp::add, {from(0, 12), b, {}, from(6, 12)}, {"out overlaps a"}},
        {"out before a", FieldOp::add, {from(1, 12), b, {}, from(0, 12)}, {"out overlaps a"}},
        {"out over b", FieldOp::add, {a, from(6, 12), {}, from(17, 12)}, {"out overlaps b"}},
        {"out over a in neg", FieldOp::neg, {from(0, 12), {}, {}, from(11, 12)}, {"out overlaps a"}},
        {"2^32 elements",
         FieldOp::neg,
         {made_up(1ull << 40, 6ull << 32), {}, {}, made_up(1ull << 41, 6ull << 32)},
         {"too many elements", "got 25769803776 limbs"}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        const std::string text = check(row.op, row.job);
        CHECK(mentions(text, {"field_batch: job 0: "}));
        CHECK(mentions(text, row.text));
    }
    const FieldJob jobs[] = {{a, b, {}, out}, {a, b, {}, out}, {a, std::span(b).first(6), {}, out}};
    CHECK(mentions(check(FieldOp::add, jobs), {"field_batch: job 2: b"}));
    // field_apply has one job, which is not numbered.
    CHECK(
        mentions(check(FieldOp::add, {a, {}, {}, out}, Field::bls12_381_fp, false), {"field_add: b and a"}));
}

TEST_CASE("field check: checked mode finds every value that is not below p") {
    using weft_test::fp, weft_test::minus, weft_test::number, weft_test::plus;
    const weft_test::Number one = number("1"), two_p = plus(fp(), fp()).first;
    const Limbs good = weft_test::random_elements(5, 7);
    for (const auto& value : {fp(), plus(fp(), one).first, plus(two_p, one).first, minus({}, one)}) {
        CAPTURE(weft_test::hex(value));
        Limbs bad = good;
        put(bad, 3, value);
        CHECK(
            mentions(check_values({{good, good, {}, {}}, {good, bad, {}, {}}}),
                     {"field_batch: job 1: element 3 of b is not canonical", weft_test::hex(value).c_str()}));
        CHECK(mentions(check_values({{bad, {}, {}, {}}}),
                       {"job 0: element 3 of a is not canonical", "1a0111ea397fe69a"}));
    }
    Limbs edge = good;
    put(edge, 0, minus(fp(), one));
    put(edge, 1, {});
    CHECK(check_values({{edge, edge, {}, {}}}) == "accepted");
    CHECK(check_values({}) == "accepted");
    CHECK(check_values({FieldJob{}}) == "accepted");
}

TEST_CASE("field check: the lowest job and element are named, for any number of threads") {
    constexpr std::size_t kCount = 150000;  // enough for 3 threads
    const Limbs good(kCount * 6, 1);
    Limbs early = good, late = good;
    put(early, 5, weft_test::fp());
    put(early, kCount - 1, weft_test::fp());
    put(late, kCount - 1, weft_test::fp());
    const Limbs small(6, 1);
    const FieldJob a{good, good, {}, {}}, b{small, small, {}, {}}, c{late, early, {}, {}},
        d{late, late, {}, {}};
    for (const std::uint32_t threads : {1u, 2u, 3u, 16u}) {
        CAPTURE(threads);
        CHECK(check_values({a, b, a}, threads) == "accepted");
        CHECK(mentions(check_values({a, {}, b, c, d}, threads), {"job 3: element 5 of b"}));
        CHECK(mentions(check_values({d, c, a}, threads), {"job 0: element 149999 of a"}));
        CHECK(mentions(check_values({a, d}, threads), {"job 1: element 149999 of a"}));
    }
}

TEST_CASE("field check: scalars, results and limbs of other fields") {
    Limbs a(12, 1), b(12, 2), scalar(6, 3), one(6);
    CHECK(check(FieldOp::axpy, {a, b, scalar, a}) == "accepted");
    CHECK(check(FieldOp::sum, {a, {}, {}, one}) == "accepted");
    CHECK(check(FieldOp::inner_product, {a, b, {}, one}) == "accepted");
    CHECK(check(FieldOp::inner_product, {{}, {}, {}, one}) == "accepted");
    CHECK(mentions(check(FieldOp::mul, {a, b, scalar, a}), {"mul takes no scalar", "got 6 limbs, need 0"}));
    CHECK(mentions(check(FieldOp::sum, {a, b, {}, one}), {"sum takes no b", "got 12 limbs"}));
    CHECK(mentions(check(FieldOp::sum, {a, {}, {}, b}), {"out is not one element", "got 12 limbs, need 6"}));
    CHECK(mentions(check(FieldOp::sum, {a, {}, {}, std::span(a).first(6)}), {"out overlaps a"}));
    CHECK(mentions(check(FieldOp::inner_product, {a, b, {}, std::span(b).last(6)}), {"out overlaps b"}));
    const FieldJob twice[] = {{a, {}, {}, one}, {b, {}, {}, one}};
    CHECK(mentions(check(FieldOp::sum, twice), {"overlaps out of job"}));

    CHECK(mentions(check(FieldOp::add, {a, b, {}, a}, Field::babybear),
                   {"a has uint64 elements (got uint64, need uint32 limbs of babybear)"}));
    const std::vector<float> floats(12);
    CHECK(mentions(check(FieldOp::add, {a, floats, {}, a}),
                   {"b has float32 elements (got float32, need uint64 limbs of bls12-381-fp)"}));
    std::vector<std::uint32_t> narrow{1, 0x78000000};
    const FieldJob bear{narrow, narrow, {}, narrow};
    CHECK(mentions(check(FieldOp::add, bear, Field::goldilocks, false),
                   {"field_add: a has uint32 elements (got uint32, need uint64 limbs of goldilocks)"}));
    const auto values = [&](Field field) { return check_values({bear}, 1, field); };
    CHECK(values(Field::babybear) == "accepted");
    narrow[1] = 0x7fffffff;  // p in Mersenne31
    CHECK(mentions(values(Field::mersenne31), {"job 0: element 1 of a is not canonical (got 0x7fffffff"}));
    CHECK(mentions(values(Field::koalabear), {"need below p = 0x7f000001"}));
}

TEST_CASE("field check: a scalar is one element below p") {
    using weft::kernels::axpy_words;
    const Limbs p(weft::field_info(Field::stark252).modulus.begin(),
                  weft::field_info(Field::stark252).modulus.begin() + 4);
    const auto scalar = [](Field field, const weft::ConstHostArray& limbs) {
        return refusal([&] { axpy_words("here", field, weft::FieldForm::plain, limbs); });
    };
    using Narrow = std::vector<std::uint32_t>;
    CHECK(scalar(Field::stark252, Limbs{0, 0, 0, 1}) == "accepted");
    CHECK(mentions(scalar(Field::stark252, p), {"here: the scalar is not canonical"}));
    CHECK(mentions(scalar(Field::stark252, Limbs{1, 2}), {"got 2 limbs, need 4"}));
    CHECK(mentions(scalar(Field::stark252, {}), {"got 0 limbs, need 4"}));
    CHECK(scalar(Field::babybear, Narrow{7}) == "accepted");
    CHECK(mentions(scalar(Field::babybear, Narrow{0x78000001}),
                   {"the scalar is not canonical (got 0x78000001, need below p = 0x78000001)"}));
    CHECK(mentions(scalar(Field::babybear, Limbs{1}),
                   {"scalar has uint64 elements (got uint64, need uint32 limbs of babybear)"}));
    // 2 in Montgomery form is 2^33 mod p; a scalar that is already in this form does not change.
    const Narrow two{2};
    CHECK(axpy_words("here", Field::mersenne31, weft::FieldForm::plain, two).word[0] == 4);
    CHECK(axpy_words("here", Field::mersenne31, weft::FieldForm::montgomery, two).word[0] == 2);
}

TEST_CASE("field plan: shader and launch shape follow from the device") {
    weft::DeviceInfo device;
    device.name = "test device";
    device.shader_int64 = true;
    device.limits.max_workgroup_size[0] = 1024;
    device.limits.max_workgroup_invocations = 1024;
    device.limits.max_workgroup_count[0] = 65535;
    device.limits.subgroup_size = 32;
    const auto plan = [&](FieldOp op, Field field = Field::bls12_381_fp,
                          const weft::FieldOptions& options = {}, std::uint64_t elements = 0) {
        return weft::kernels::plan_field(device, weft::field_info(field), op, elements, options);
    };

    CHECK(plan(FieldOp::add).shader == FieldShader::limbs32);
    CHECK(plan(FieldOp::add).local_size == 32);
    CHECK(plan(FieldOp::add).elements_per_workgroup == 32);
    CHECK(plan(FieldOp::add).max_workgroups == 65535);
    CHECK(plan(FieldOp::add, Field::bn254_fr, {.shader = FieldShader::limbs64}).shader ==
          FieldShader::limbs64);
    CHECK(plan(FieldOp::mul).shader == FieldShader::limbs64);
    CHECK(plan(FieldOp::neg).shader == FieldShader::limbs64);
    CHECK(plan(FieldOp::mul).local_size == 64);
    CHECK(plan(FieldOp::mul, Field::babybear).shader == FieldShader::limbs32);
    CHECK(plan(FieldOp::mul, Field::babybear).elements_per_workgroup == 1024);
    CHECK(plan(FieldOp::neg, Field::goldilocks).elements_per_workgroup == 512);
    CHECK(plan(FieldOp::inner_product).elements_per_workgroup == 1);
    CHECK(plan(FieldOp::mul, Field::stark252, {.workgroup_size = 128}).local_size == 128);

    // Inverses share an inversion as long as enough threads remain for the device.
    CHECK(plan(FieldOp::inverse).elements_per_workgroup == 64 * 32);
    CHECK(plan(FieldOp::inverse, Field::bn254_fp, {}, 1000).elements_per_workgroup == 64);
    CHECK(plan(FieldOp::inverse, Field::bn254_fp, {}, 8 * 65536).elements_per_workgroup == 64 * 8);

    device.limits.subgroup_size = 64;
    CHECK(plan(FieldOp::add).local_size == 64);
    device.limits.subgroup_size = 128;
    CHECK(plan(FieldOp::add).local_size == 64);

    device.type = weft::DeviceType::cpu;
    device.limits.subgroup_size = 8;
    CHECK(plan(FieldOp::add).local_size == 256);
    device.limits.max_workgroup_size[0] = 200;  // not a power of two
    CHECK(plan(FieldOp::add).local_size == 128);
    device.limits.max_workgroup_size[0] = 1024;
    device.limits.max_workgroup_invocations = 128;
    device.limits.max_workgroup_count[0] = 1000;
    CHECK(plan(FieldOp::add).local_size == 128);
    CHECK(plan(FieldOp::add).max_workgroups == 1000);
    device.type = weft::DeviceType::discrete;

    device.shader_int64 = false;
    CHECK(plan(FieldOp::mul).shader == FieldShader::limbs32);
    CHECK(plan(FieldOp::add, Field::bls12_381_fp, {.shader = FieldShader::limbs32}).shader ==
          FieldShader::limbs32);
    for (const auto& [options, code, text] :
         {std::tuple{weft::FieldOptions{.shader = FieldShader::limbs64}, weft::Errc::unsupported,
                     "shaderInt64"},
          std::tuple{weft::FieldOptions{.workgroup_size = 48}, weft::Errc::invalid_argument, "got 48"},
          std::tuple{weft::FieldOptions{.workgroup_size = 256}, weft::Errc::invalid_argument, "up to 128"}}) {
        CAPTURE(text);
        try {
            plan(FieldOp::add, Field::bls12_381_fp, options);
            FAIL_CHECK("was accepted");
        } catch (const weft::Error& error) {
            CHECK(error.code() == code);
            CHECK(mentions(error.what(), {"field_program", text}));
        }
    }
}

TEST_CASE("field plan: shares of reductions fill the device, stay few, and none is empty") {
    weft::DeviceInfo device;
    device.limits.max_workgroup_size[0] = 1024;
    device.limits.max_workgroup_invocations = 1024;
    const auto shares = [&](Field field, FieldOp op, std::uint64_t elements,
                            const weft::FieldOptions& options = {}) {
        return weft::kernels::plan_field_shares(device, weft::field_info(field), op, elements, options);
    };
    CHECK(shares(Field::bls12_381_fp, FieldOp::inner_product, 1) == 1);
    CHECK(shares(Field::bls12_381_fp, FieldOp::inner_product, 512) == 1);
    CHECK(shares(Field::bls12_381_fp, FieldOp::inner_product, 513) == 2);
    CHECK(shares(Field::bls12_381_fp, FieldOp::inner_product, 1u << 22) == 792);
    CHECK(shares(Field::bn254_fr, FieldOp::sum, 1u << 22) == 792);
    CHECK(shares(Field::bn254_fr, FieldOp::inner_product, 1u << 22) == 528);
    CHECK(shares(Field::babybear, FieldOp::sum, 4096) == 1);
    CHECK(shares(Field::babybear, FieldOp::sum, 4097) == 2);
    CHECK(shares(Field::babybear, FieldOp::sum, 1u << 30) == 528);
    CHECK(shares(Field::babybear, FieldOp::sum, 1u << 22, {.block_elements = 4096}) == 1024);
    CHECK(shares(Field::babybear, FieldOp::sum, 4097, {.block_elements = 1}) == 3);  // a row each, or a part
    CHECK(shares(Field::goldilocks, FieldOp::sum, 1000, {.workgroup_size = 32, .block_elements = 1}) == 8);
    device.type = weft::DeviceType::cpu;
    CHECK(shares(Field::bls12_381_fp, FieldOp::inner_product, 1u << 22) == 32);
    CHECK(weft::kernels::plan_field(device, weft::field_info(Field::stark252), FieldOp::sum, 0, {})
              .local_size == 32);
    CHECK_THROWS_AS(shares(Field::babybear, FieldOp::sum, 10, {.workgroup_size = 512}), weft::Error);
    CHECK_THROWS_AS(shares(Field::babybear, FieldOp::sum, 10, {.workgroup_size = 48}), weft::Error);
}
