// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/lattice/lattice_shaders.hpp"

#include "shaders/lattice.spv.hpp"

namespace weft::kernels {

std::span<const std::uint32_t> lattice_words(LatticeOp op, Lattice lattice, bool ragged) {
    using namespace spirv;
    // By operation, lattice, and whether rows end within a vector.
    static constexpr std::span<const std::uint32_t> kWords[3][3][2] = {
        {{lattice_encode_2, lattice_encode_2_rows},
         {lattice_encode_4, lattice_encode_4_rows},
         {lattice_encode_8, lattice_encode_8_rows}},
        {{lattice_decode_2, lattice_decode_2_rows},
         {lattice_decode_4, lattice_decode_4_rows},
         {lattice_decode_8, lattice_decode_8_rows}},
        {{lattice_quantize_2, lattice_quantize_2_rows},
         {lattice_quantize_4, lattice_quantize_4_rows},
         {lattice_quantize_8, lattice_quantize_8_rows}},
    };
    return kWords[static_cast<int>(op)][static_cast<int>(lattice)][ragged ? 1 : 0];
}

}  // namespace weft::kernels
