// SPDX-License-Identifier: Apache-2.0
// Every field and operation on both back ends: the same bits, which are those of the schoolbook oracle, and
// the same errors.
#include <weft/cuda/field.hpp>

#include <algorithm>
#include <vector>

#include <weft/weft.hpp>

#include "support/any_field.hpp"
#include "support/cuda_array.hpp"
#include "support/gpu_fixture.hpp"
#include "support/same_error.hpp"

namespace {

using namespace weft_test;
using weft::Field;
using weft::FieldForm;
using weft::FieldOp;

constexpr FieldOp kOps[] = {FieldOp::add,  FieldOp::sub,           FieldOp::neg,
                            FieldOp::mul,  FieldOp::square,        FieldOp::inverse,
                            FieldOp::axpy, FieldOp::to_montgomery, FieldOp::from_montgomery,
                            FieldOp::sum,  FieldOp::inner_product};

template <class Body>
void with_limb(const AnyField& f, Body&& body) {
    if (f.bytes == 4)
        body(std::uint32_t{});
    else
        body(std::uint64_t{});
}

template <class Limb>
struct Operands {
    std::vector<Limb> a, b, scalar;

    weft::ConstHostArray factor(FieldOp op) const {
        if (op == FieldOp::axpy) return scalar;
        return {};
    }
};

template <class Limb>
Operands<Limb> operands_of(const AnyField& f, const Pairs& pairs) {
    return {packed<Limb>(f, pairs.a), packed<Limb>(f, pairs.b), packed<Limb>(f, {pairs.a.back()})};
}

template <class Limb>
std::vector<Limb> by_vulkan(weft::Backend& backend, const AnyField& f, FieldOp op, const Operands<Limb>& o,
                            FieldForm form) {
    const std::size_t limbs = weft::is_reduction(op) ? f.bytes / sizeof(Limb) : o.a.size();
    weft::Buffer<Limb> x(backend, o.a.size()), y(backend, o.b.size()), z(backend, limbs);
    weft::Stream stream(backend);
    stream.upload(o.a, x);
    stream.upload(o.b, y);
    weft::field_apply(stream, f.field, op, x,
                      weft::takes_b(op) ? weft::ConstDeviceArray(y) : weft::ConstDeviceArray(), o.factor(op),
                      z, {.form = form});
    return stream.download(z);
}

// A guard lies behind the output. In place: the output is `a`.
template <class Limb>
std::vector<Limb> by_cuda(const AnyField& f, FieldOp op, const Operands<Limb>& o, FieldForm form,
                          bool in_place = false) {
    constexpr std::size_t kGuards = 24;
    constexpr Limb kGuard = static_cast<Limb>(0xa5a5a5a5deadbeef);
    const std::size_t limbs = weft::is_reduction(op) ? f.bytes / sizeof(Limb) : o.a.size();
    const CudaStream stream;
    const CudaArray<Limb> x(o.a), y(o.b), z(std::vector<Limb>(limbs + kGuards, kGuard));
    const auto out = in_place ? x.span() : z.span(0, limbs);
    weft::cuda::field_apply(
        stream, f.field, op, x.span(),
        weft::takes_b(op) ? weft::cuda::ConstDeviceArray(y.span()) : weft::cuda::ConstDeviceArray(),
        o.factor(op), out, {.form = form});
    stream.wait();
    std::vector<Limb> got = z.download();
    CHECK(std::count(got.begin() + static_cast<std::ptrdiff_t>(limbs), got.end(), kGuard) == kGuards);
    got.resize(limbs);
    return in_place ? x.download() : got;
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

// What the oracle says; of inverses it says 1 (R in Montgomery form) of products with what was inverted.
void judge(const AnyField& f, FieldOp op, FieldForm form, const Pairs& pairs,
           const std::vector<Number>& got) {
    const Number inverse_r = form == FieldForm::plain ? power(0) : inverse_r_of(f), scalar = pairs.a.back();
    std::vector<Number> want, judged = got;
    Number total;
    for (std::size_t i = 0; i < pairs.a.size(); ++i) {
        if (op == FieldOp::inverse) {
            judged[i] = want_of(f, FieldOp::mul, pairs.a[i], got[i], {}, inverse_r);
            want.push_back(pairs.a[i] == Number{} ? Number{} : form == FieldForm::plain ? power(0) : r_of(f));
        } else if (op == FieldOp::sum || op == FieldOp::inner_product) {
            total =
                sum_mod(total,
                        op == FieldOp::sum ? pairs.a[i]
                                           : want_of(f, FieldOp::mul, pairs.a[i], pairs.b[i], {}, inverse_r),
                        f.p);
        } else {
            want.push_back(want_of(f, op, pairs.a[i], pairs.b[i], scalar, inverse_r));
        }
    }
    if (weft::is_reduction(op)) want = {total};
    check_equal(judged, want);
}

}  // namespace

TEST_CASE("conformance: every field, operation and form, on edges, carries and random values") {
    on_device([](weft::Backend& backend) {
        for (const AnyField& f : any_fields()) {
            const Pairs pairs = judged_pairs(f, 40);
            for (const FieldOp op : kOps)
                for (const FieldForm form : {FieldForm::plain, FieldForm::montgomery})
                    with_limb(f, [&]<class Limb>(Limb) {
                        CAPTURE(f.name);
                        CAPTURE(weft::to_string(op));
                        CAPTURE(form == FieldForm::montgomery);
                        const Operands<Limb> o = operands_of<Limb>(f, pairs);
                        const std::vector<Limb> cuda = by_cuda(f, op, o, form);
                        judge(f, op, form, pairs, unpacked<Limb>(f, cuda));
                        CHECK(cuda == by_vulkan(backend, f, op, o, form));
                        if (!weft::is_reduction(op)) CHECK(cuda == by_cuda(f, op, o, form, true));
                    });
        }
    });
}

TEST_CASE("conformance: sizes around blocks, and many elements") {
    on_device([](weft::Backend& backend) {
        for (const Field field : {Field::bls12_381_fp, Field::bn254_fr, Field::goldilocks, Field::babybear}) {
            const AnyField& f = any_fields()[static_cast<std::size_t>(field)];
            const std::vector<Number> a = random_numbers(f, 70001, 5), b = random_numbers(f, 70001, 6);
            for (const std::ptrdiff_t n : {1, 31, 32, 33, 255, 257, 1025, 70001})
                for (const FieldOp op : kOps)
                    with_limb(f, [&]<class Limb>(Limb) {
                        CAPTURE(f.name);
                        CAPTURE(weft::to_string(op));
                        CAPTURE(n);
                        const Operands<Limb> o =
                            operands_of<Limb>(f, {{a.begin(), a.begin() + n}, {b.begin(), b.begin() + n}});
                        CHECK(by_cuda(f, op, o, FieldForm::plain) ==
                              by_vulkan(backend, f, op, o, FieldForm::plain));
                    });
        }
    });
}

TEST_CASE("conformance: the same errors for the same bad input") {
    on_device([](weft::Backend& backend) {
        const CudaStream cuda;
        weft::Stream vulkan(backend);
        const weft::Buffer<std::uint64_t> va(backend, 120), vout(backend, 60);
        const weft::Buffer<std::uint32_t> vn(backend, 120);
        const CudaArray<std::uint64_t> ca(120), cout(60);
        const CudaArray<std::uint32_t> cn(120);
        using weft::field_apply;
        const auto both = [&](const auto& call) {
            check_same_error(
                [&] {
                    call(
                        vulkan, [&](std::size_t i, std::size_t n) { return va.view(i, n); },
                        [&](std::size_t i, std::size_t n) { return vout.view(i, n); }, vn.view());
                },
                [&] {
                    call(
                        cuda, [&](std::size_t i, std::size_t n) { return ca.span(i, n); },
                        [&](std::size_t i, std::size_t n) { return cout.span(i, n); }, cn.span());
                });
        };
        constexpr Field kFp = Field::bls12_381_fp;
        both([](auto& s, auto a, auto out, auto) { field_add(s, kFp, a(0, 60), a(60, 54), out(0, 60)); });
        both([](auto& s, auto a, auto out, auto) { field_add(s, kFp, a(0, 10), a(60, 10), out(0, 10)); });
        both([](auto& s, auto a, auto, auto) { field_add(s, kFp, a(0, 60), a(60, 60), a(6, 60)); });
        both([](auto& s, auto a, auto, auto) { field_sum(s, kFp, a(0, 60), a(6, 6)); });
        both([](auto& s, auto a, auto out, auto) { field_sum(s, kFp, a(0, 60), out(0, 12)); });
        both([](auto& s, auto a, auto out, auto) { field_neg(s, Field::babybear, a(0, 60), out(0, 60)); });
        both([](auto& s, auto, auto out, auto narrow) { field_neg(s, kFp, narrow, out(0, 60)); });
        both([](auto& s, auto a, auto out, auto) {
            field_axpy(s, Field::goldilocks, std::vector<std::uint64_t>{~std::uint64_t{0}}, a(0, 4), a(4, 4),
                       out(0, 4));
        });
        both([](auto& s, auto a, auto out, auto) { field_axpy(s, kFp, {}, a(0, 6), a(6, 6), out(0, 6)); });
        both([](auto& s, auto a, auto out, auto) {
            field_neg(s, static_cast<Field>(99), a(0, 6), out(0, 6));
        });
        check_error(weft::Errc::invalid_argument,
                    "field_neg: a is not aligned (got an address 8 bytes behind",
                    [&] { weft::cuda::field_neg(cuda, kFp, ca.span(1, 60), cout.span()); });
        check_error(weft::Errc::invalid_argument,
                    "field_neg: FieldOptions::shader does not apply (got limbs64, need automatic)", [&] {
                        weft::field_neg(cuda, kFp, ca.span(0, 60), cout.span(),
                                        {.shader = weft::FieldShader::limbs64});
                    });
        check_error(weft::Errc::invalid_argument,
                    "field_program: no such workgroup size (got 48, need a power of two", [&] {
                        weft::cuda::field_mul(cuda, kFp, ca.span(0, 6), ca.span(6, 6), cout.span(0, 6),
                                              {.workgroup_size = 48});
                    });
    });
}
