// SPDX-License-Identifier: Apache-2.0
// Reductions on resident data with every number of workgroups: one invocation for all elements, so that its
// columns fill up and are reduced, and more workgroups than there is work for. The elements are p - 1, whose
// squares are 1.
#include <vector>

#include <weft/weft.hpp>

#include "support/any_field.hpp"
#include "support/gpu_fixture.hpp"

namespace {

using namespace weft_test;
using weft::Field;
using weft::FieldOp;
using weft::FieldShader;

template <class Body>
void with_limb(const AnyField& f, Body&& body) {
    if (f.bytes == 4)
        body(std::uint32_t{});
    else
        body(std::uint64_t{});
}

// n as an element, for n below 2^31 and p.
Number small(std::uint32_t n) {
    Number number;
    for (std::size_t i = 0; i < 4; ++i) number.byte[i] = static_cast<std::uint8_t>(n >> 8 * i);
    return number;
}

// The sum of `count` elements p - 1 is -count, their inner product with themselves count.
template <class Limb>
void check(weft::Backend& backend, const AnyField& f, std::uint32_t count, weft::FieldOptions options) {
    CAPTURE(f.name);
    CAPTURE(count);
    CAPTURE(options.workgroup_size);
    CAPTURE(options.block_elements);
    const auto values = packed<Limb>(f, std::vector<Number>(count, minus(f.p, power(0))));
    const std::vector<Limb> want_product = packed<Limb>(f, {small(count)}),
                            want_sum = packed<Limb>(f, {minus(f.p, small(count))});
    const weft::Buffer<Limb> a(backend, values.size()), out(backend, want_sum.size());
    weft::Stream stream(backend);
    stream.upload(values, a);
    weft::field_apply(stream, f.field, FieldOp::inner_product, a, a, {}, out, options);
    CHECK(stream.download(out) == want_product);
    weft::field_apply(stream, f.field, FieldOp::sum, a, {}, {}, out, options);
    CHECK(stream.download(out) == want_sum);
}

}  // namespace

TEST_CASE("field reductions: one invocation takes more products than its columns hold") {
    on_device([](weft::Backend& backend) {
        for (const auto& [field, count] :
             {std::pair{Field::bls12_381_fp, 5000u}, std::pair{Field::bls12_377_fp, 2049u},
              std::pair{Field::bls12_381_fr, 5000u}, std::pair{Field::stark252, 4097u},
              std::pair{Field::goldilocks, 70000u}, std::pair{Field::mersenne31, 70000u}})
            for (const FieldShader shader : {FieldShader::limbs32, FieldShader::limbs64}) {
                if (shader == FieldShader::limbs64 &&
                    (!backend.device().shader_int64 || weft::field_info(field).limb_bytes == 4))
                    continue;
                const AnyField& f = any_fields()[static_cast<std::size_t>(field)];
                with_limb(f, [&]<class Limb>(Limb) {
                    check<Limb>(backend, f, count,
                                {.shader = shader, .workgroup_size = 1, .block_elements = 1u << 20});
                });
            }
    });
}

TEST_CASE("field reductions: workgroups of every size and number") {
    on_device([](weft::Backend& backend) {
        for (const Field field : {Field::bls12_377_fp, Field::bn254_fp, Field::goldilocks, Field::koalabear})
            for (const std::uint32_t workgroup : {1u, 2u, 32u, 256u})
                for (const std::uint32_t block : {0u, 1u, 1000u, 100000u})
                    for (const std::uint32_t count : {1u, 3u, 4095u, 20001u}) {
                        const AnyField& f = any_fields()[static_cast<std::size_t>(field)];
                        with_limb(f, [&]<class Limb>(Limb) {
                            check<Limb>(backend, f, count,
                                        {.workgroup_size = workgroup, .block_elements = block});
                        });
                    }
    });
}
