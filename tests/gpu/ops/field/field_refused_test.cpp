// SPDX-License-Identifier: Apache-2.0
// Field calls on Vulkan that are refused, values that are not below p, and calls without elements.
#include <vector>

#include <weft/weft.hpp>

#include "support/any_field.hpp"
#include "support/gpu_fixture.hpp"

namespace {

using namespace weft_test;
using weft::Errc;
using weft::Field;
using weft::FieldForm;
using weft::FieldJob;
using weft::FieldOp;
using Limbs = std::vector<std::uint64_t>;
using Limbs32 = std::vector<std::uint32_t>;

const AnyField& any(Field field) {
    return any_fields()[static_cast<std::size_t>(field)];
}

// One element through one operation.
Number one(weft::Backend& backend, Field field, FieldOp op, const Number& a, const Number& b,
           FieldForm form = FieldForm::plain) {
    const AnyField& f = any(field);
    const weft::FieldHostOptions options{.form = form};
    if (f.bytes == 4) {
        Limbs32 x = packed<std::uint32_t>(f, {a}), y = packed<std::uint32_t>(f, {b}), out(1);
        weft::field_apply(backend, field, op, x,
                          weft::takes_b(op) ? std::span(y) : std::span<std::uint32_t>(), {}, out, options);
        return unpacked<std::uint32_t>(f, out)[0];
    }
    Limbs x = packed<std::uint64_t>(f, {a}), y = packed<std::uint64_t>(f, {b}), out(x.size());
    weft::field_apply(backend, field, op, x, weft::takes_b(op) ? std::span(y) : std::span<std::uint64_t>(),
                      {}, out, options);
    return unpacked<std::uint64_t>(f, out)[0];
}

}  // namespace

TEST_CASE("field values that are not below p: results of unchecked calls") {
    on_device([](weft::Backend& backend) {
        const auto call = [&](Field field, FieldOp op, const char* a, const char* b) {
            return hex(one(backend, field, op, number(a), number(b)));
        };
        using enum Field;
        // T19: p is subtracted only once.
        const Number p = fp(), two_p_one = plus(plus(p, p).first, power(0)).first, top = minus({}, power(0));
        CHECK(hex(one(backend, bls12_381_fp, FieldOp::add, p, {})) == "0");
        CHECK(hex(one(backend, bls12_381_fp, FieldOp::add, p, p)) == hex(p));
        CHECK(hex(one(backend, bls12_381_fp, FieldOp::add, two_p_one, {})) == hex(plus(p, power(0)).first));
        CHECK(hex(one(backend, bls12_381_fp, FieldOp::neg, p, {})) == "0");
        // p in Mersenne31, the second representation of 0, counts as 0 and gives 0.
        CHECK(call(mersenne31, FieldOp::add, "7fffffff", "5") == "5");
        CHECK(call(mersenne31, FieldOp::add, "7fffffff", "0") == "0");
        CHECK(call(mersenne31, FieldOp::sub, "0", "7fffffff") == "0");
        CHECK(call(mersenne31, FieldOp::neg, "7fffffff", "0") == "0");
        CHECK(call(mersenne31, FieldOp::mul, "7fffffff", "5") == "0");
        CHECK(call(mersenne31, FieldOp::inverse, "7fffffff", "0") == "0");
        // T25 beyond p: after one subtraction the value is 2^64 or more, and only its low 64 bits remain.
        CHECK(call(goldilocks, FieldOp::add, "fffffffff0000fff", "fffffffff0000fff") == "e0001ffd");
        CHECK(call(goldilocks, FieldOp::add, "ffffffff00000005", "7") == "b");
        // Products reduce one factor of any size; inverses reduce everything.
        for (const Field field : {bls12_381_fp, bls12_381_fr, goldilocks, babybear}) {
            const AnyField& f = any(field);
            CAPTURE(f.name);
            Number high;
            for (std::size_t i = 0; i < f.bytes; ++i) high.byte[i] = top.byte[i];
            const Number three = number("3");
            CHECK(hex(one(backend, field, FieldOp::mul, high, three)) == hex(product_mod(three, high, f.p)));
            CHECK(hex(one(backend, field, FieldOp::to_montgomery, high, {})) ==
                  hex(product_mod(r_of(f), high, f.p)));
            const Number inverse = one(backend, field, FieldOp::inverse, high, {});
            CHECK(hex(product_mod(inverse, high, f.p)) == "1");
        }
    });
}

TEST_CASE("field calls that are refused leave everything as it was") {
    on_device([](weft::Backend& backend) {
        Limbs a(8, 1), b(8, 1), out(8, 77), four(4);
        Limbs32 narrow(8, 1), small(8, 77);
        const FieldJob good{a, b, {}, out};
        const auto refused = [&](const char* part, Field field, FieldOp op, const FieldJob& job,
                                 const weft::FieldHostOptions& options = {}) {
            check_error(Errc::invalid_argument, part, [&] {
                weft::field_batch(backend, field, op, {&job, 1}, options);
            });
            CHECK(out == Limbs(8, 77));
        };
        using enum Field;
        refused("a has uint64 elements (got uint64, need uint32 limbs of koalabear)", koalabear, FieldOp::mul,
                good);
        refused("a multiple of 6", bls12_377_fp, FieldOp::mul, good);
        refused("axpy needs a scalar (got 0 limbs, need 4", bn254_fp, FieldOp::axpy, good);
        const Limbs p(weft::field_info(bn254_fp).modulus.begin(),
                      weft::field_info(bn254_fp).modulus.begin() + 4);
        refused("job 0: the scalar is not canonical", bn254_fp, FieldOp::axpy, {a, b, p, out});
        refused("square takes no b", bn254_fp, FieldOp::square, good);
        refused("out is not one element (got 8 limbs, need 4", bn254_fp, FieldOp::inner_product, good);
        refused("out overlaps a", bn254_fp, FieldOp::sum, {out, {}, {}, std::span(out).first(4)});
        a[3] = ~0ull;
        refused("job 0: element 0 of a is not canonical", stark252, FieldOp::inner_product,
                {a, b, {}, std::span(out).first(4)}, {.check_values = true});
        a[3] = 1;
        narrow[5] = 0x7fffffff;
        const FieldJob job{narrow, {}, {}, small};
        check_error(
            Errc::invalid_argument,
            "element 5 of a is not canonical (got 0x7fffffff, need below p = 0x7fffffff", [&] {
                weft::field_batch(backend, mersenne31, FieldOp::neg, {&job, 1}, {.check_values = true});
            });
        CHECK(small == Limbs32(8, 77));
        check_error(Errc::invalid_argument, "no such field", [&] {
            weft::field_batch(backend, static_cast<Field>(99), FieldOp::add, {&good, 1});
        });
        check_error(Errc::invalid_argument, "field_program: reductions",
                    [&] { weft::field_program(backend, bn254_fp, FieldOp::sum); });
        check_error(Errc::invalid_argument, "no such workgroup size (got 3",
                    [&] { weft::field_program(backend, bn254_fp, FieldOp::mul, {.workgroup_size = 3}); });
        check_error(Errc::invalid_argument, "FieldOptions::block_elements does not apply (got 8, need 0)",
                    [&] { weft::field_program(backend, bn254_fp, FieldOp::mul, {.block_elements = 8}); });
        weft::Buffer<std::uint64_t> buffer(backend, 64);
        weft::Stream stream(backend);
        check_error(
            Errc::invalid_argument, "field_mul: FieldOptions::block_elements does not apply (got 64, need 0)",
            [&] { weft::field_mul(stream, bn254_fp, buffer, buffer, buffer, {.block_elements = 64}); });
        CHECK(backend.counters().submissions == 0);
    });
}

TEST_CASE("field: enums with invalid values") {
    on_device([](weft::Backend& backend) {
        Limbs v(4, 1), out(4, 77);
        const FieldJob job{v, v, {}, out}, empty;
        weft::Buffer<std::uint64_t> buffer(backend, 4);
        weft::Stream stream(backend);
        struct Wrong {
            const char* what;
            Field field;
            FieldOp op;
            weft::FieldForm form;
            weft::FieldShader shader;
        };
        constexpr auto kPlain = weft::FieldForm::plain;
        constexpr auto kAny = weft::FieldShader::automatic;
        const auto field = Field::bn254_fr;
        for (const Wrong& w :
             {Wrong{"field (got 99, need 0 to 10)", static_cast<Field>(99), FieldOp::mul, kPlain, kAny},
              Wrong{"operation (got 11, need 0 to 10)", field, static_cast<FieldOp>(11), kPlain, kAny},
              Wrong{"form (got 9, need 0 to 1)", field, FieldOp::mul, static_cast<weft::FieldForm>(9), kAny},
              Wrong{"shader (got 9, need 0 to 2)", field, FieldOp::mul, kPlain,
                    static_cast<weft::FieldShader>(9)},
              Wrong{"shader (got -1, need 0 to 2)", field, FieldOp::sum, kPlain,
                    static_cast<weft::FieldShader>(-1)}}) {
            const std::string text = std::string(": no such ") + w.what;
            for (const FieldJob& each : {job, empty})
                check_error(Errc::invalid_argument, ("field_batch" + text).c_str(), [&] {
                    weft::field_batch(backend, w.field, w.op, {&each, 1},
                                      {.form = w.form, .shader = w.shader});
                });
            check_error(Errc::invalid_argument, ("field_program" + text).c_str(), [&] {
                weft::field_program(backend, w.field, w.op, {.form = w.form, .shader = w.shader});
            });
            check_error(Errc::invalid_argument, ("field_apply" + text).c_str(), [&] {
                weft::field_apply(stream, w.field, w.op, buffer, {}, {}, buffer,
                                  {.form = w.form, .shader = w.shader});
            });
        }
        CHECK(out == Limbs(4, 77));
        CHECK(backend.counters().submissions == 0);
    });
}

TEST_CASE("field calls without elements: outputs stay, reductions give 0") {
    on_device([](weft::Backend& backend) {
        Limbs out(4, 77);
        const FieldJob none{.out = out};
        CHECK(weft::field_batch(backend, Field::bn254_fr, FieldOp::sum, {&none, 1}).elements == 0);
        CHECK(out == Limbs(4, 0));
        const FieldJob nothing;
        CHECK(weft::field_batch(backend, Field::bn254_fr, FieldOp::mul, {&nothing, 1}).elements == 0);
        CHECK(backend.counters().submissions == 0);
        weft::Buffer<std::uint64_t> a(backend, 8);
        weft::Stream stream(backend);
        stream.upload(Limbs(8, 77), a);
        weft::field_sum(stream, Field::bn254_fr, a.view(0, 0), a.view(4, 4));
        weft::field_mul(stream, Field::bn254_fr, a.view(0, 0), a.view(0, 0), a.view(0, 0));
        CHECK(stream.download(a) == Limbs{77, 77, 77, 77, 0, 0, 0, 0});
    });
}

TEST_CASE("field reductions: several jobs, progress counts elements") {
    on_device([](weft::Backend& backend) {
        const AnyField& f = any(Field::koalabear);
        const std::size_t counts[] = {10000, 0, 1, 4096, 8192};
        std::vector<Limbs32> a, out(5, Limbs32(1, 77));
        std::vector<FieldJob> jobs;
        for (std::size_t i = 0; i < 5; ++i)
            a.push_back(packed<std::uint32_t>(f, random_numbers(f, counts[i], i)));
        for (std::size_t i = 0; i < 5; ++i) jobs.push_back({.a = a[i], .out = out[i]});
        std::vector<std::uint64_t> reported;
        weft::FieldHostOptions options;
        options.batch.progress = [&](const weft::Progress& progress) {
            CHECK(progress.total == 22289);
            reported.push_back(progress.done);
        };
        const weft::OpReport report = weft::field_batch(backend, f.field, FieldOp::sum, jobs, options);
        CHECK(report.jobs == 5);
        CHECK(report.elements == 22289);
        CHECK(report.op == "field_sum");
        CHECK(report.items == 22289);
        // Progress after whole blocks, after the rest of each job, and at the end.
        CHECK(reported == std::vector<std::uint64_t>{8192, 10000, 10001, 14097, 22289});
        for (std::size_t i = 0; i < 5; ++i) {
            std::uint64_t sum = 0;
            for (const std::uint32_t v : a[i]) sum += v;
            CHECK(out[i][0] == sum % 0x7f000001);
        }
    });
}
