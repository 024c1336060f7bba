// SPDX-License-Identifier: Apache-2.0
// Field programs of both kinds of integers, and steps that see each other's results.
#include <vector>

#include <weft/weft.hpp>

#include "support/field_vectors.hpp"
#include "support/gpu_fixture.hpp"

namespace {

using namespace weft_test;
using weft::FieldOp;
using weft::FieldShader;
using Limbs = std::vector<std::uint64_t>;

constexpr auto kField = weft::Field::bls12_381_fp;
constexpr FieldOp kOps[] = {FieldOp::add, FieldOp::sub, FieldOp::neg};

// Known answers of one operation first, then pairs that exercise every limb, then random values.
struct Operands {
    Limbs a, b;
};

Operands operands_for(FieldOp op) {
    Operands o;
    for (const FieldVector& v : known_vectors())
        if (v.op == op) {
            append(o.a, number(v.a));
            append(o.b, number(v.b));
        }
    const auto [directed_a, directed_b] = directed_elements();
    const Limbs random_a = random_elements(3000, 11), random_b = random_elements(3000, 12);
    for (const Limbs* part : {&directed_a, &random_a}) o.a.insert(o.a.end(), part->begin(), part->end());
    for (const Limbs* part : {&directed_b, &random_b}) o.b.insert(o.b.end(), part->begin(), part->end());
    return o;
}

void check_known(FieldOp op, const Limbs& out) {
    std::size_t i = 0;
    for (const FieldVector& v : known_vectors())
        if (v.op == op) {
            CAPTURE(v.id);
            CHECK(hex(read(out, i++)) == v.expected);
        }
    CHECK(i > 0);
}

// Names the first element that differs instead of printing megabytes.
void check_equal(const Limbs& got, const Limbs& want) {
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size() / 6; ++i)
        if (!(read(got, i) == read(want, i))) {
            CAPTURE(i);
            CHECK(hex(read(got, i)) == hex(read(want, i)));
            return;
        }
    CHECK(got == want);
}

}  // namespace

TEST_CASE("field: both shaders give the same bits") {
    on_device([](weft::Backend& backend) {
        for (const FieldOp op : kOps)
            for (const FieldShader shader : {FieldShader::limbs32, FieldShader::limbs64}) {
                if (shader == FieldShader::limbs64 && !backend.device().shader_int64) {
                    check_error(weft::Errc::unsupported, "shaderInt64",
                                [&] { weft::field_program(backend, kField, op, {.shader = shader}); });
                    continue;
                }
                CAPTURE(weft::to_string(op));
                CAPTURE(static_cast<int>(shader));
                const Operands o = operands_for(op);
                Limbs out(o.a.size());
                weft::Job job{.inputs = {o.a}, .outputs = {out}, .elements = o.a.size() / 6};
                if (op != FieldOp::neg) job.inputs.push_back(o.b);
                weft::run_batch(backend, weft::field_program(backend, kField, op, {.shader = shader}),
                                {&job, 1});
                check_known(op, out);
                check_equal(out, expected(op, o.a, o.b));
            }
    });
}

TEST_CASE("field: recorded steps see each other's results") {
    on_device([](weft::Backend& backend) {
        const Limbs x = random_elements(1000, 21), y = random_elements(1000, 22);
        weft::Buffer<std::uint64_t> a(backend, x.size()), b(backend, x.size()), c(backend, x.size());
        weft::Stream stream(backend);
        stream.upload(x, a);
        stream.upload(y, b);
        weft::field_add(stream, kField, a, b, c);  // c = x + y
        weft::field_neg(stream, kField, b, b);     // b = -y
        weft::field_add(stream, kField, c, b, c);  // c = x
        weft::field_sub(stream, kField, c, a, c);  // c = 0
        weft::field_sub(stream, kField, a, b, b);  // b = x + y
        check_equal(stream.download(c), Limbs(x.size(), 0));
        check_equal(stream.download(b), expected(FieldOp::add, x, y));
    });
}
