// SPDX-License-Identifier: Apache-2.0
// Resident transforms of every size, by every plan, judged by the textbook transform.
#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include <weft/ops/ntt.hpp>

#include "support/gpu_fixture.hpp"
#include "support/ntt_oracle.hpp"

namespace {

using namespace weft_test;
using weft::Field;
using weft::NttDirection;
using weft::NttLayout;
using weft::NttOrder;

// Compared as bytes: doctest would take long to compare and print the elements.
template <class Limb>
bool transforms(weft::Backend& backend, const Modulus& m, const TransformBatch& batch, std::uint32_t log_size,
                NttDirection direction, NttLayout layout, const weft::NttOptions& options, bool in_place) {
    const bool forward = direction == NttDirection::forward;
    const auto& from = forward ? batch.x : batch.values;
    const auto& to = forward ? batch.values : batch.x;
    const auto in = laid_out<Limb>(m, in_order(from, options.order == NttOrder::rn, log_size), layout);
    const auto want = laid_out<Limb>(m, in_order(to, options.order == NttOrder::nr, log_size), layout);
    weft::Stream stream(backend);
    const weft::Buffer<Limb> source(backend, in.size()), target(backend, in.size());
    stream.upload(in, source);
    weft::ntt(stream, m.info().field, direction, source, in_place ? source : target,
              {.log_size = log_size, .batch = from.size(), .layout = layout}, options);
    const bool kept = in_place || stream.download(source) == in;
    return kept && stream.download(in_place ? source : target) == want;
}

template <class Body>
void with_limb(const Modulus& m, Body&& body) {
    if (m.info().limb_bytes == 4)
        body(std::uint32_t{});
    else
        body(std::uint64_t{});
}

void every_way(weft::Backend& backend, const Modulus& m, std::uint32_t log_size, std::size_t count,
               const weft::NttOptions& plan) {
    const TransformBatch batch = transform_batch(m, log_size, count);
    for (const NttOrder order : {NttOrder::nn, NttOrder::nr, NttOrder::rn})
        for (const NttDirection direction : {NttDirection::forward, NttDirection::inverse})
            for (const NttLayout layout : {NttLayout::rows, NttLayout::columns}) {
                if (layout == NttLayout::columns && count == 1) continue;
                CAPTURE(weft::to_string(m.info().field));
                CAPTURE(log_size);
                CAPTURE(count);
                CAPTURE(weft::to_string(order));
                CAPTURE(weft::to_string(direction));
                CAPTURE(weft::to_string(layout));
                CAPTURE(plan.pass_bits);
                weft::NttOptions options = plan;
                options.order = order;
                with_limb(m, [&]<class Limb>(Limb) {
                    CHECK(transforms<Limb>(backend, m, batch, log_size, direction, layout, options,
                                           direction == NttDirection::inverse));
                });
            }
}

// In one order, which is in turn the next one of the three unless it is given.
void one_way(weft::Backend& backend, const Modulus& m, std::uint32_t log_size, std::size_t count,
             weft::NttOptions options = {}, std::optional<NttOrder> order = {},
             NttDirection direction = NttDirection::forward) {
    CAPTURE(weft::to_string(m.info().field));
    CAPTURE(log_size);
    options.order = order.value_or(static_cast<NttOrder>(log_size % 3));
    const TransformBatch batch = transform_batch(m, log_size, count);
    with_limb(m, [&]<class Limb>(Limb) {
        CHECK(transforms<Limb>(backend, m, batch, log_size, direction, NttLayout::rows, options, false));
    });
}

}  // namespace

TEST_CASE("ntt: the fast transform of the oracle is the definition") {
    for (const Field field : {Field::bls12_377_fp, Field::bn254_fr, Field::goldilocks, Field::koalabear}) {
        const Modulus m(field);
        std::mt19937_64 source(1);
        std::vector<Big> x(16);
        for (Big& value : x) value = m.random(source);
        const Big w = big_of(weft::ntt_root(field, 5)), g = m.random(source);
        CHECK(forward_transform(m, x, w, g, 32) == slow_transform(m, x, w, g, 32));
    }
}

TEST_CASE("ntt: every size to 2^16") {
    on_device([](weft::Backend& backend) {
        for (std::uint32_t log_size = 1; log_size <= 16; ++log_size)
            one_way(backend, Modulus(Field::babybear), log_size, log_size % 2 == 0 ? 1 : 3);
        for (std::uint32_t log_size = 1; log_size <= 14; ++log_size)
            one_way(backend, Modulus(Field::goldilocks), log_size, log_size % 2 == 0 ? 3 : 1);
        for (std::uint32_t log_size = 1; log_size <= 11; ++log_size)
            one_way(backend, Modulus(Field::bn254_fr), log_size, log_size % 2 == 0 ? 1 : 3);
        for (std::uint32_t log_size = 1; log_size <= 10; ++log_size)
            one_way(backend, Modulus(Field::bls12_377_fp), log_size, log_size % 2 == 0 ? 3 : 1);
    });
}

TEST_CASE("ntt: two and three passes") {
    on_device([](weft::Backend& backend) {
        const auto passes = [&](Field field, std::uint32_t bits, std::size_t count) {
            const Modulus m(field);
            for (const std::uint32_t log_size : {2 * bits, 3 * bits})
                every_way(backend, m, log_size, count, {.tile_bits = 2 * bits, .pass_bits = bits});
        };
        passes(Field::babybear, 4, 9);  // on GPUs, an invocation transforms 4 bits
        passes(Field::goldilocks, 4, 3);
        passes(Field::bn254_fr, 2, 3);
        passes(Field::bls12_377_fp, 2, 2);
    });
}

// An explicit choice takes the shader of GPUs on a CPU, too.
TEST_CASE("ntt: the shaders that keep tiles in registers") {
    on_device([](weft::Backend& backend) {
        const weft::NttOptions narrow{.shader = weft::FieldShader::limbs32, .tile_bits = 9, .pass_bits = 6};
        const weft::NttOptions wide{.shader = weft::FieldShader::limbs64, .tile_bits = 9, .pass_bits = 6};
        // Two steps in each pass; an inverse transform has another root of order 16.
        for (const NttOrder order : {NttOrder::nn, NttOrder::nr, NttOrder::rn}) {
            const auto direction = order == NttOrder::nr ? NttDirection::inverse : NttDirection::forward;
            one_way(backend, Modulus(Field::koalabear), 11, 3, narrow, order, direction);
            one_way(backend, Modulus(Field::goldilocks), 11, 3, wide, order, direction);
        }
        // Shorter than the root of order 16.
        one_way(backend, Modulus(Field::babybear), 3, 3, {.shader = weft::FieldShader::limbs32});
        one_way(backend, Modulus(Field::goldilocks), 3, 3, {.shader = weft::FieldShader::limbs64});
    });
}
