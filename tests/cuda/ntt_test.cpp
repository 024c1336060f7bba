// SPDX-License-Identifier: Apache-2.0
// Transforms in CUDA device memory of every size, by every kernel and plan, judged by the textbook transform;
// tables that are kept; refused options. The other cases are those of tests/conformance.
#include <weft/cuda/ntt.hpp>

#include <vector>

#include <weft/cuda/host.hpp>
#include <weft/weft.hpp>

#include "support/cuda_array.hpp"
#include "support/gpu_fixture.hpp"
#include "support/ntt_oracle.hpp"

namespace {

using namespace weft_test;
using weft::Field;
using weft::NttDirection;
using weft::NttLayout;
using weft::NttOrder;

template <class Limb>
bool transforms(const Modulus& m, const TransformBatch& batch, NttDirection direction,
                const weft::NttShape& shape, const weft::NttOptions& options) {
    const bool forward = direction == NttDirection::forward;
    const auto in = laid_out<Limb>(
        m, in_order(forward ? batch.x : batch.values, options.order == NttOrder::rn, shape.log_size),
        shape.layout);
    const auto want = laid_out<Limb>(
        m, in_order(forward ? batch.values : batch.x, options.order == NttOrder::nr, shape.log_size),
        shape.layout);
    const CudaStream stream;
    const CudaArray<Limb> source(in), target(in.size());
    weft::cuda::ntt(stream, m.info().field, direction, source.span(), target.span(), shape, options);
    stream.wait();
    return target.download() == want && source.download() == in;
}

/// Both directions, all orders and layouts.
void every_way(Field field, std::uint32_t log_size, std::size_t count, weft::NttOptions options = {}) {
    const Modulus m(field);
    const TransformBatch batch = transform_batch(m, log_size, count);
    for (const NttOrder order : {NttOrder::nn, NttOrder::nr, NttOrder::rn})
        for (const NttLayout layout : {NttLayout::rows, NttLayout::columns})
            for (const NttDirection direction : {NttDirection::forward, NttDirection::inverse}) {
                if (count == 1 && layout == NttLayout::columns) continue;
                INFO(weft::to_string(field)
                     << ", 2^" << log_size << ", batch " << count << ", " << weft::to_string(order) << ", "
                     << weft::to_string(direction) << ", " << weft::to_string(layout) << ", tile_bits "
                     << options.tile_bits << ", pass_bits " << options.pass_bits);
                options.order = order;
                const weft::NttShape shape{.log_size = log_size, .batch = count, .layout = layout};
                const bool right = m.info().limb_bytes == 4
                                       ? transforms<std::uint32_t>(m, batch, direction, shape, options)
                                       : transforms<std::uint64_t>(m, batch, direction, shape, options);
                CHECK(right);
            }
}

}  // namespace

TEST_CASE("ntt: every size to 2^16 on CUDA") {
    for (std::uint32_t log_size = 1; log_size <= 16; ++log_size) {
        every_way(Field::babybear, log_size, log_size % 2 == 0 ? 1 : 3);
        if (log_size <= 14) every_way(Field::goldilocks, log_size, log_size % 2 == 0 ? 3 : 1);
        if (log_size <= 12) every_way(Field::bn254_fr, log_size, log_size % 2 == 0 ? 1 : 3);
        if (log_size <= 11) every_way(Field::bls12_377_fp, log_size, log_size % 2 == 0 ? 3 : 1);
    }
}

// Batches fill the largest tiles, which have kernels of their own for each length.
TEST_CASE("ntt: batches of short transforms on CUDA") {
    for (std::uint32_t log_size = 1; log_size <= 12; ++log_size) {
        every_way(Field::koalabear, log_size, (std::size_t{1} << (13 - log_size)) + 1);
        every_way(Field::goldilocks, log_size, (std::size_t{1} << (13 - log_size)) + 1);
    }
}

TEST_CASE("ntt: tiles and passes of every size on CUDA") {
    for (const auto& [field, least, most, fewest, longest] :
         {std::tuple{Field::babybear, 5u, 12u, 4u, 12u}, std::tuple{Field::goldilocks, 5u, 11u, 4u, 9u},
          std::tuple{Field::bn254_fr, 3u, 10u, 2u, 10u}, std::tuple{Field::bls12_377_fp, 3u, 9u, 2u, 9u}})
        for (std::uint32_t tile = least; tile <= most; ++tile)
            for (std::uint32_t pass = fewest; pass <= std::min(tile, longest); pass += 2)
                every_way(field, 10, 2, {.tile_bits = tile, .pass_bits = pass});
}

TEST_CASE("ntt: NttOptions::shader does not apply on CUDA") {
    const std::vector<std::uint64_t> values(2);
    check_error(weft::Errc::invalid_argument, "NttOptions::shader", [&] {
        weft::cuda::ntt(nullptr, Field::goldilocks, NttDirection::forward,
                        weft::cuda::DeviceSpan<const std::uint64_t>{values.data(), 2},
                        weft::cuda::DeviceSpan<std::uint64_t>{const_cast<std::uint64_t*>(values.data()), 2},
                        {.log_size = 1}, {.shader = weft::FieldShader::limbs32});
    });
}
