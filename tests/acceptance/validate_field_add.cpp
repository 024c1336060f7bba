// SPDX-License-Identifier: Apache-2.0
// Validates field_add, field_sub and field_neg on this machine: known answers, the carries of every limb,
// random values, and the promises of the interface, compared with a separate implementation. The exit status
// is 1 on any mismatch.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "field_items.hpp"
#include "field_reference.hpp"
#include "field_vectors.hpp"

void Item::expect_equal(std::span<const std::uint64_t> got, const reference::Limbs& want,
                        const std::string& what) {
    expect(got.size() == want.size(), what + ": length");
    for (std::size_t i = 0; i + 6 <= std::min(got.size(), want.size()); i += 6)
        expect(std::equal(&want[i], &want[i] + 6, &got[i]), what + ": element " + std::to_string(i / 6));
}

namespace {

constexpr auto kField = weft::Field::bls12_381_fp;

using reference::Limbs;
using reference::Number;
using reference::Sample;

constexpr std::array kOps = {weft::FieldOp::add, weft::FieldOp::sub, weft::FieldOp::neg};

void check_sample(Item& item, weft::Backend& backend, const Sample& sample) {
    Limbs out(sample.a.size());
    const weft::FieldJob job{.a = sample.a, .b = sample.b, .out = out};
    weft::field_batch(backend, kField, sample.op, {&job, 1}, {.check_values = true});
    item.expect_equal(out, sample.want, weft::to_string(sample.op));
}

// The reference must give the known answers too; otherwise the later items prove nothing.
void validate_known_answers(Validation& validation, weft::Backend& backend) {
    const std::vector<KnownAnswer> answers = known_answers();
    for (auto row = answers.begin(); row != answers.end();) {
        const auto end =
            std::find_if(row, answers.end(), [&](const KnownAnswer& other) { return other.id != row->id; });
        validation.item(row->id, std::string(weft::to_string(row->op)) + ": " + row->what, [&](Item& item) {
            for (auto answer = row; answer != end; ++answer) {
                Sample sample{answer->op, {}, {}, {}};
                sample.add(reference::number(answer->a), reference::number(answer->b));
                Limbs expected;
                reference::append(expected, reference::number(answer->expected));
                item.expect(sample.want == expected, "the reference disagrees with the known answer");
                sample.want = expected;
                check_sample(item, backend, sample);
            }
        });
        row = end;
    }
}

// 0, p - 1, and values around every 32-bit limb: powers, runs of ones, sums that are p or differ from it by
// one limb.
std::vector<Number> edge_values() {
    const Number one = reference::number("1"), p = reference::kP;
    std::vector<Number> values = {Number{}, reference::minus(p, one),
                                  reference::minus(p, reference::number("2"))};
    for (std::size_t zeros = 0; zeros < 96; zeros += 8) {
        const Number power = reference::number("1" + std::string(zeros, '0'));
        const Number ones = reference::number("ffffffff" + std::string(zeros, '0'));
        for (const Number& v : {power, reference::minus(power, one), ones, reference::minus(p, power),
                                reference::minus(p, ones)})
            if (reference::less(v, p)) values.push_back(v);
    }
    return values;
}

void validate_values(Validation& validation, weft::Backend& backend) {
    const std::vector<Number> values = edge_values();
    std::mt19937_64 random(1);
    for (const weft::FieldOp op : kOps) {
        const std::string name = weft::to_string(op);
        validation.item("edges", name + ": every edge value with every other", [&](Item& item) {
            Sample sample{op, {}, {}, {}};
            for (const Number& x : values)
                for (const Number& y : values) sample.add(x, y);
            check_sample(item, backend, sample);
        });
        validation.item("random", name + ": 4, 64, 1024, 4096 pairs", [&](Item& item) {
            for (const std::size_t count : {4u, 64u, 1024u, 4096u})
                check_sample(item, backend, reference::random_sample(op, count, random));
        });
    }
}

}  // namespace

int main() try {
    weft::Backend backend;
    std::printf("%s, driver %s\n", backend.name().c_str(), backend.device().driver.c_str());
    Validation validation;
    validate_known_answers(validation, backend);
    validate_limits(validation, backend);
    validate_state(validation, backend);
    validate_values(validation, backend);
    std::printf("%s\n", validation.items_wrong() == 0 ? "all ok" : "some items are WRONG");
    return validation.items_wrong() == 0 ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
