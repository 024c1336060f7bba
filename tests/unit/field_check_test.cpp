// SPDX-License-Identifier: Apache-2.0
// What is refused before a device is touched, and how a device gets its field shader.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include <weft/error.hpp>

#include "kernels/field_check.hpp"
#include "kernels/field_plan.hpp"
#include "support/field_oracle.hpp"

namespace {

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

std::string check(FieldOp op, const FieldJob& job) {
    return refusal([&] { weft::kernels::check_field_jobs("field_batch", op, {&job, 1}); });
}

std::string check_values(const std::vector<FieldJob>& jobs, std::uint32_t threads = 1) {
    return refusal([&] { weft::kernels::check_canonical("field_batch", jobs, threads); });
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
    CHECK(check(FieldOp::add, {a, b, out}) == "accepted");
    CHECK(check(FieldOp::sub, {a, a, out}) == "accepted");
    CHECK(check(FieldOp::add, {a, b, a}) == "accepted");
    CHECK(check(FieldOp::add, {a, b, b}) == "accepted");
    CHECK(check(FieldOp::add, {a, a, a}) == "accepted");
    CHECK(check(FieldOp::neg, {a, {}, out}) == "accepted");
    CHECK(check(FieldOp::neg, {a, {}, a}) == "accepted");
    CHECK(check(FieldOp::add, {}) == "accepted");
    CHECK(check(FieldOp::add, {std::span(a).first(0), std::span(b).first(0), std::span(a).first(0)}) ==
          "accepted");
    // Neighbours touch and do not overlap.
    CHECK(check(FieldOp::neg, {std::span(a).first(6), {}, std::span(a).last(6)}) == "accepted");
    CHECK(refusal([] { weft::kernels::check_field_jobs("field_batch", FieldOp::add, {}); }) == "accepted");
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
         {from(0, 11), from(11, 11), from(22, 11)},
         {"got 11 limbs", "multiple of 6"}},
        {"b shorter", FieldOp::add, {a, std::span(b).first(6), out}, {"b and a", "got 6 limbs", "need 12"}},
        {"b missing", FieldOp::sub, {a, {}, out}, {"b and a", "got 0 limbs", "need 12"}},
        {"out longer", FieldOp::add, {a, b, from(0, 18)}, {"out and a", "got 18 limbs", "need 12"}},
        {"out missing", FieldOp::neg, {a, {}, {}}, {"out and a", "got 0 limbs", "need 12"}},
        {"a empty alone", FieldOp::add, {{}, b, out}, {"b and a", "got 12 limbs", "need 0"}},
        {"a null", FieldOp::add, {none, b, out}, {"a is null", "got 12 limbs"}},
        {"b null", FieldOp::add, {a, none, out}, {"b is null", "got 12 limbs"}},
        {"out null", FieldOp::add, {a, b, none}, {"out is null", "got 12 limbs"}},
        {"b to neg", FieldOp::neg, {a, b, out}, {"neg takes no b", "got 12 limbs", "need 0"}},
        {"out inside a", FieldOp::add, {from(0, 12), b, from(6, 12)}, {"out overlaps a"}},
        {"out before a", FieldOp::add, {from(1, 12), b, from(0, 12)}, {"out overlaps a"}},
        {"out over b", FieldOp::add, {a, from(6, 12), from(17, 12)}, {"out overlaps b"}},
        {"out over a in neg", FieldOp::neg, {from(0, 12), {}, from(11, 12)}, {"out overlaps a"}},
        {"2^32 elements",
         FieldOp::neg,
         {made_up(1ull << 40, 6ull << 32), {}, made_up(1ull << 41, 6ull << 32)},
         {"too many elements", "got 25769803776 limbs"}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        const std::string text = check(row.op, row.job);
        CHECK(mentions(text, {"field_batch: job 0: "}));
        CHECK(mentions(text, row.text));
    }
    const FieldJob jobs[] = {{a, b, out}, {a, b, out}, {a, std::span(b).first(6), out}};
    CHECK(mentions(refusal([&] { weft::kernels::check_field_jobs("f", FieldOp::add, jobs); }),
                   {"f: job 2: b"}));
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
            mentions(check_values({{good, good, {}}, {good, bad, {}}}),
                     {"field_batch: job 1: element 3 of b is not canonical", weft_test::hex(value).c_str()}));
        CHECK(mentions(check_values({{bad, {}, {}}}),
                       {"job 0: element 3 of a is not canonical", "1a0111ea397fe69a"}));
    }
    Limbs edge = good;
    put(edge, 0, minus(fp(), one));
    put(edge, 1, {});
    CHECK(check_values({{edge, edge, {}}}) == "accepted");
    CHECK(check_values({}) == "accepted");
    CHECK(check_values({{{}, {}, {}}}) == "accepted");
}

TEST_CASE("field check: the lowest job and element are named, however many threads look") {
    constexpr std::size_t kCount = 150000;  // 3 threads' worth
    const Limbs good(kCount * 6, 1);
    Limbs early = good, late = good;
    put(early, 5, weft_test::fp());
    put(early, kCount - 1, weft_test::fp());
    put(late, kCount - 1, weft_test::fp());
    const Limbs small(6, 1);
    const FieldJob a{good, good, {}}, b{small, small, {}}, c{late, early, {}}, d{late, late, {}};
    for (const std::uint32_t threads : {1u, 2u, 3u, 16u}) {
        CAPTURE(threads);
        CHECK(check_values({a, b, a}, threads) == "accepted");
        CHECK(mentions(check_values({a, {}, b, c, d}, threads), {"job 3: element 5 of b"}));
        CHECK(mentions(check_values({d, c, a}, threads), {"job 0: element 149999 of a"}));
        CHECK(mentions(check_values({a, d}, threads), {"job 1: element 149999 of a"}));
    }
}

TEST_CASE("field plan: shader and launch shape follow from the device") {
    weft::DeviceInfo device;
    device.name = "test device";
    device.shader_int64 = true;
    device.limits.max_group_size[0] = 1024;
    device.limits.max_group_invocations = 1024;
    device.limits.max_group_count[0] = 65535;

    device.limits.subgroup_size = 32;

    const auto usual = weft::kernels::plan_field(device, FieldShader::automatic);
    CHECK(usual.shader == FieldShader::limbs32);
    CHECK(usual.local_size == 32);
    CHECK(usual.max_groups == 65535);
    CHECK(weft::kernels::plan_field(device, FieldShader::limbs64).shader == FieldShader::limbs64);

    device.limits.subgroup_size = 64;
    CHECK(weft::kernels::plan_field(device, FieldShader::automatic).local_size == 64);
    device.limits.subgroup_size = 128;
    CHECK(weft::kernels::plan_field(device, FieldShader::automatic).local_size == 64);

    device.type = weft::DeviceType::cpu;
    device.limits.subgroup_size = 8;
    CHECK(weft::kernels::plan_field(device, FieldShader::automatic).local_size == 256);
    device.limits.max_group_size[0] = 200;  // no power of two
    CHECK(weft::kernels::plan_field(device, FieldShader::automatic).local_size == 128);
    device.limits.max_group_size[0] = 1024;
    device.limits.max_group_invocations = 128;
    device.limits.max_group_count[0] = 1000;
    CHECK(weft::kernels::plan_field(device, FieldShader::automatic).local_size == 128);
    CHECK(weft::kernels::plan_field(device, FieldShader::automatic).max_groups == 1000);
    device.type = weft::DeviceType::discrete;

    device.shader_int64 = false;
    CHECK(weft::kernels::plan_field(device, FieldShader::limbs32).shader == FieldShader::limbs32);
    try {
        weft::kernels::plan_field(device, FieldShader::limbs64);
        FAIL("limbs64 was accepted without shaderInt64");
    } catch (const weft::Error& error) {
        CHECK(error.code() == weft::Errc::unsupported);
        CHECK(mentions(error.what(), {"field_program", "shaderInt64", "test device"}));
    }
}
