// SPDX-License-Identifier: Apache-2.0
// The table of field cases in every place: the results have the bits of the schoolbook oracle.
#include "conformance/field_cases.hpp"

#include <optional>
#include <vector>

#include <weft/weft.hpp>

#include "conformance/field_answers.hpp"
#include "conformance/places.hpp"
#include "support/gpu_fixture.hpp"

namespace {

using namespace weft_test;
using weft::Field;
using weft::FieldForm;
using weft::FieldOp;

// Host calls check their values unless `unchecked`.
template <class Limb, class Place>
std::vector<Limb> result_at(Place& place, const AnyField& f, FieldOp op, FieldForm form, const Pairs& pairs,
                            Over over = Over::nothing, bool unchecked = false) {
    const std::vector<Limb> wide_a = packed<Limb>(f, pairs.a), wide_b = packed<Limb>(f, pairs.b);
    std::vector<Limb> factor;
    if (op == FieldOp::axpy) factor = packed<Limb>(f, {pairs.a.back()});
    const std::size_t n = wide_a.size(), results = weft::is_reduction(op) ? f.bytes / sizeof(Limb) : n;
    auto a = place.input(wide_a), b = place.input(wide_b);
    auto own = place.template output<Limb>(over == Over::nothing ? results : 0);
    const typename Place::Out out = over == Over::a   ? place.write(a, n)
                                    : over == Over::b ? place.write(b, n)
                                                      : place.write(own);
    const typename Place::In x = place.read(a, n);
    typename Place::In y;
    if (weft::takes_b(op)) y = place.read(b, n);
    const weft::ConstHostArray scalar = factor;
    if constexpr (Place::kHost) {
        const weft::FieldHostOptions options{
            .form = form, .check_values = !unchecked, .batch = place.batch()};
        const weft::OpReport report = call_field_apply(place, f.field, op, x, y, scalar, out, options);
        CHECK(report.items == pairs.a.size());
        if (!Place::kCuda) CHECK(report.method.empty() == (sizeof(Limb) == 4));
    } else {
        call_field_apply(place, f.field, op, x, y, scalar, out, weft::FieldOptions{.form = form});
    }
    if (over != Over::a) CHECK(place.values(a) == wide_a);
    if (over != Over::b) CHECK(place.values(b) == wide_b);
    return over == Over::a ? place.values(a) : over == Over::b ? place.values(b) : place.result(own);
}

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

// The result of the oracle. For inverses it is 1 (R in Montgomery form), for their products with the
// operands.
void judge(const AnyField& f, FieldOp op, FieldForm form, const Pairs& pairs,
           const std::vector<Number>& got) {
    const Number inverse_r = form == FieldForm::plain ? power(0) : inverse_r_of(f), scalar = pairs.a.back();
    const Number one = form == FieldForm::plain ? power(0) : r_of(f);
    std::vector<Number> want, judged = got;
    Number total;
    for (std::size_t i = 0; i < pairs.a.size(); ++i) {
        if (op == FieldOp::inverse) {
            if (!less(got.at(i), f.p)) FAIL_CHECK("an inverse is not below p");
            judged[i] = want_of(f, FieldOp::mul, pairs.a[i], got[i], {}, inverse_r);
            want.push_back(pairs.a[i] == Number{} ? Number{} : one);
        } else if (op == FieldOp::sum) {
            total = sum_mod(total, pairs.a[i], f.p);
        } else if (op == FieldOp::inner_product) {
            total = sum_mod(total, want_of(f, FieldOp::mul, pairs.a[i], pairs.b[i], {}, inverse_r), f.p);
        } else {
            want.push_back(want_of(f, op, pairs.a[i], pairs.b[i], scalar, inverse_r));
        }
    }
    if (weft::is_reduction(op)) want = {total};
    REQUIRE(judged.size() == want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
        if (judged[i] == want[i]) continue;
        CAPTURE(i);
        CHECK(hex(judged[i]) == hex(want[i]));
        return;
    }
}

void run(weft::Backend& backend, const FieldCase& c, const AnyField& f, FieldOp op, FieldForm form,
         const Pairs& pairs) {
    INFO("case: " << std::string(c.name) << ", " << std::string(f.name) << ", "
                  << std::string(weft::to_string(op)));
    CAPTURE(form == FieldForm::montgomery);
    CAPTURE(pairs.a.size());
    with_limb(f, [&]<class Limb>(Limb) {
        std::optional<std::vector<Limb>> first;
        on_places(backend, c.chunk, [&](auto& place) {
            const std::vector<Limb> got = result_at<Limb>(place, f, op, form, pairs, c.over);
            if (!first && c.judged) judge(f, op, form, pairs, unpacked<Limb>(f, got));
            if (first) CHECK(got == *first);
            if (!first) first = got;
        });
    });
}

}  // namespace

TEST_CASE("field conformance: the table") {
    on_device([](weft::Backend& backend) {
        for (const FieldCase& c : field_cases())
            for (const Field field : c.fields)
                for (const std::size_t count : c.counts) {
                    const AnyField& f = any(field);
                    const Pairs pairs = c.operands(f, count);
                    for (const FieldOp op : c.ops)
                        for (const FieldForm form : c.forms) run(backend, c, f, op, form, pairs);
                }
    });
}

TEST_CASE("field conformance: known answers") {
    on_device([](weft::Backend& backend) {
        for (const FieldAnswer& answer : field_answers()) {
            CAPTURE(answer.id);
            const AnyField& f = any(answer.field);
            const Pairs pairs{{number(answer.a)}, {number(answer.b)}};
            with_limb(f, [&]<class Limb>(Limb) {
                on_places(backend, 0, [&](auto& place) {
                    const auto got =
                        result_at<Limb>(place, f, answer.op, answer.form, pairs, Over::nothing, true);
                    CHECK(hex(unpacked<Limb>(f, got)[0]) == answer.expected);
                });
            });
        }
    });
}
