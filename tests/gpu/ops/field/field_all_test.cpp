// SPDX-License-Identifier: Apache-2.0
// Every field with every operation: streamed and resident, plain and in Montgomery form, with 32- and 64-bit
// integers, compared with the schoolbook oracle; and laws of algebra on more elements than the oracle can
// check.
#include <algorithm>
#include <vector>

#include <weft/weft.hpp>

#include "support/any_field.hpp"
#include "support/gpu_fixture.hpp"

namespace {

using namespace weft_test;
using weft::Field;
using weft::FieldForm;
using weft::FieldOp;
using weft::FieldShader;

// Calls body with a value of the field's limb type.
template <class Body>
void with_limb(const AnyField& f, Body&& body) {
    if (f.bytes == 4)
        body(std::uint32_t{});
    else
        body(std::uint64_t{});
}

const AnyField& any(Field field) {
    return any_fields()[static_cast<std::size_t>(field)];
}

// Packed operands of one field, a guard behind each output, and calls of an operation.
template <class Limb>
struct Vectors {
    Vectors(const AnyField& field, const Pairs& pairs)
        : f(field),
          a(packed<Limb>(f, pairs.a)),
          b(packed<Limb>(f, pairs.b)),
          scalar(packed<Limb>(f, {pairs.a.back()})) {}

    std::vector<Limb> resident(weft::Backend& backend, FieldOp op, const weft::FieldOptions& options) const {
        const std::size_t limbs = weft::is_reduction(op) ? scalar.size() : a.size();
        weft::Buffer<Limb> x(backend, a.size()), y(backend, a.size()), z(backend, limbs + kGuards);
        weft::Stream stream(backend);
        stream.upload(a, x);
        stream.upload(b, y);
        stream.upload(std::vector<Limb>(limbs + kGuards, kGuard), z);
        weft::field_apply(stream, f.field, op, x, second(op, y), factor(op), z.view(0, limbs), options);
        return without_guard(stream.download(z), limbs);
    }

    static weft::ConstDeviceArray second(FieldOp op, const weft::Buffer<Limb>& b) {
        if (weft::takes_b(op)) return b;
        return {};
    }
    weft::ConstHostArray factor(FieldOp op) const {
        if (op == FieldOp::axpy) return scalar;
        return {};
    }
    static std::vector<Limb> without_guard(std::vector<Limb> out, std::size_t limbs) {
        CHECK(std::count(out.begin() + static_cast<std::ptrdiff_t>(limbs), out.end(), kGuard) == kGuards);
        out.resize(limbs);
        return out;
    }

    static constexpr Limb kGuard = static_cast<Limb>(0xa5a5a5a5deadbeef);
    static constexpr std::ptrdiff_t kGuards = 24;
    const AnyField& f;
    std::vector<Limb> a, b, scalar;
};

// The right result of an operation; inverses are checked by want_inverse.
std::vector<Number> wanted(const AnyField& f, FieldOp op, FieldForm form, const Pairs& pairs) {
    const Number inverse_r = form == FieldForm::plain ? power(0) : inverse_r_of(f), scalar = pairs.a.back();
    std::vector<Number> want;
    if (!weft::is_reduction(op)) {
        for (std::size_t i = 0; i < pairs.a.size(); ++i)
            want.push_back(want_of(f, op, pairs.a[i], pairs.b[i], scalar, inverse_r));
        return want;
    }
    Number total;
    for (std::size_t i = 0; i < pairs.a.size(); ++i)
        total = sum_mod(
            total,
            op == FieldOp::sum ? pairs.a[i] : want_of(f, FieldOp::mul, pairs.a[i], pairs.b[i], {}, inverse_r),
            f.p);
    return {total};
}

void check_equal(const std::vector<Number>& got, const std::vector<Number>& want) {
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (got[i] == want[i]) continue;
        CAPTURE(i);
        CHECK(hex(got[i]) == hex(want[i]));
        return;
    }
}

// x * inverse(x) is 1, in Montgomery form R; inverse(0) is 0.
void check_inverses(const AnyField& f, FieldForm form, const std::vector<Number>& x,
                    const std::vector<Number>& got) {
    const Number one = form == FieldForm::plain ? power(0) : r_of(f);
    const Number inverse_r = form == FieldForm::plain ? power(0) : inverse_r_of(f);
    REQUIRE(got.size() == x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const Number product = want_of(f, FieldOp::mul, x[i], got[i], {}, inverse_r);
        if (less(got[i], f.p) && product == (x[i] == Number{} ? Number{} : one)) continue;
        CAPTURE(i);
        CAPTURE(hex(x[i]));
        CHECK(hex(got[i]) == "its inverse");
        return;
    }
}

}  // namespace

TEST_CASE("every size of element: both kinds of integers, workgroup sizes, and results below p") {
    on_device([](weft::Backend& backend) {
        for (const Field field :
             {Field::bls12_381_fp, Field::bls12_381_fr, Field::goldilocks, Field::babybear}) {
            const AnyField& f = any(field);
            const Pairs pairs = judged_pairs(f, 50);
            for (const FieldShader shader : {FieldShader::limbs32, FieldShader::limbs64})
                for (const FieldOp op : {FieldOp::add, FieldOp::sub, FieldOp::neg, FieldOp::mul,
                                         FieldOp::axpy, FieldOp::inverse, FieldOp::inner_product}) {
                    if (shader == FieldShader::limbs64 &&
                        (!backend.device().shader_int64 || weft::field_info(field).limb_bytes == 4))
                        continue;
                    CAPTURE(f.name);
                    CAPTURE(weft::to_string(op));
                    CAPTURE(static_cast<int>(shader));
                    with_limb(f, [&]<class Limb>(Limb) {
                        const Vectors<Limb> v(f, pairs);
                        const auto got = v.resident(backend, op,
                                                    {.form = FieldForm::montgomery,
                                                     .shader = shader,
                                                     .workgroup_size = 64,
                                                     .block_elements = weft::is_reduction(op) ? 200u : 0u});
                        if (op == FieldOp::inverse)
                            check_inverses(f, FieldForm::montgomery, pairs.a, unpacked<Limb>(f, got));
                        else
                            check_equal(unpacked<Limb>(f, got), wanted(f, op, FieldForm::montgomery, pairs));
                    });
                }
        }
    });
}

TEST_CASE("a chain of operations on resident data is one submission, its download included") {
    on_device([](weft::Backend& backend) {
        const AnyField& f = any(Field::bn254_fr);
        const auto x = packed<std::uint64_t>(f, random_numbers(f, 1000, 13));
        const weft::Buffer<std::uint64_t> a(backend, x.size()), b(backend, x.size()), one(backend, 4);
        weft::Stream stream(backend);
        const auto chain = [&] {
            stream.upload(x, a);
            weft::field_to_montgomery(stream, f.field, a, a);
            weft::field_inverse(stream, f.field, a, b, {.form = FieldForm::montgomery});
            weft::field_mul(stream, f.field, a, b, b, {.form = FieldForm::montgomery});
            weft::field_from_montgomery(stream, f.field, b, b);
            weft::field_sum(stream, f.field, b, one);
            return stream.download(one);
        };
        const std::vector<std::uint64_t> want = {1000, 0, 0, 0};  // the sum of x * (1 / x) over all elements
        CHECK(chain() == want);
        const std::uint64_t before = backend.counters().submissions;
        CHECK(chain() == want);
        CHECK(backend.counters().submissions == before + 1);
    });
}

TEST_CASE("every field: laws of algebra on many elements, chained on the device") {
    on_device([](weft::Backend& backend) {
        for (const AnyField& f : any_fields())
            with_limb(f, [&]<class Limb>(Limb) {
                CAPTURE(f.name);
                constexpr std::size_t kCount = 20000;
                const auto x = packed<Limb>(f, random_numbers(f, kCount, 8)),
                           y = packed<Limb>(f, random_numbers(f, kCount, 9)),
                           z = packed<Limb>(f, random_numbers(f, kCount, 10));
                weft::Buffer<Limb> a(backend, x.size()), b(backend, x.size()), c(backend, x.size()),
                    left(backend, x.size()), right(backend, x.size());
                weft::Stream stream(backend);
                stream.upload(x, a);
                stream.upload(y, b);
                stream.upload(z, c);
                weft::field_add(stream, f.field, a, b, left);  // (a + b) - b == a
                weft::field_sub(stream, f.field, left, b, left);
                CHECK(stream.download(left) == x);
                weft::field_to_montgomery(stream, f.field, a, left);  // and back
                weft::field_from_montgomery(stream, f.field, left, left);
                CHECK(stream.download(left) == x);
                weft::field_add(stream, f.field, b, c, left);  // a * (b + c) == a * b + a * c
                weft::field_mul(stream, f.field, a, left, left);
                weft::field_mul(stream, f.field, a, c, right);
                weft::field_mul(stream, f.field, a, b, c);
                weft::field_add(stream, f.field, c, right, right);
                CHECK(stream.download(left) == stream.download(right));
                weft::field_square(stream, f.field, a, left);  // a * a in place
                weft::field_mul(stream, f.field, a, a, a);
                CHECK(stream.download(left) == stream.download(a));
            });
    });
}
