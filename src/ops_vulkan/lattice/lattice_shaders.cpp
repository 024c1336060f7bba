// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/lattice/lattice_shaders.hpp"

namespace weft::kernels {
namespace {

constexpr std::uint32_t kEncode2[] = {
#include "shaders/lattice_encode_2.spv.inc"
};
constexpr std::uint32_t kEncode2Rows[] = {
#include "shaders/lattice_encode_2_rows.spv.inc"
};
constexpr std::uint32_t kEncode4[] = {
#include "shaders/lattice_encode_4.spv.inc"
};
constexpr std::uint32_t kEncode4Rows[] = {
#include "shaders/lattice_encode_4_rows.spv.inc"
};
constexpr std::uint32_t kEncode8[] = {
#include "shaders/lattice_encode_8.spv.inc"
};
constexpr std::uint32_t kEncode8Rows[] = {
#include "shaders/lattice_encode_8_rows.spv.inc"
};
constexpr std::uint32_t kDecode2[] = {
#include "shaders/lattice_decode_2.spv.inc"
};
constexpr std::uint32_t kDecode2Rows[] = {
#include "shaders/lattice_decode_2_rows.spv.inc"
};
constexpr std::uint32_t kDecode4[] = {
#include "shaders/lattice_decode_4.spv.inc"
};
constexpr std::uint32_t kDecode4Rows[] = {
#include "shaders/lattice_decode_4_rows.spv.inc"
};
constexpr std::uint32_t kDecode8[] = {
#include "shaders/lattice_decode_8.spv.inc"
};
constexpr std::uint32_t kDecode8Rows[] = {
#include "shaders/lattice_decode_8_rows.spv.inc"
};
constexpr std::uint32_t kQuantize2[] = {
#include "shaders/lattice_quantize_2.spv.inc"
};
constexpr std::uint32_t kQuantize2Rows[] = {
#include "shaders/lattice_quantize_2_rows.spv.inc"
};
constexpr std::uint32_t kQuantize4[] = {
#include "shaders/lattice_quantize_4.spv.inc"
};
constexpr std::uint32_t kQuantize4Rows[] = {
#include "shaders/lattice_quantize_4_rows.spv.inc"
};
constexpr std::uint32_t kQuantize8[] = {
#include "shaders/lattice_quantize_8.spv.inc"
};
constexpr std::uint32_t kQuantize8Rows[] = {
#include "shaders/lattice_quantize_8_rows.spv.inc"
};

using Words = std::span<const std::uint32_t>;

// By operation, lattice, and whether rows end within a vector.
constexpr Words kWords[3][3][2] = {
    {{kEncode2, kEncode2Rows}, {kEncode4, kEncode4Rows}, {kEncode8, kEncode8Rows}},
    {{kDecode2, kDecode2Rows}, {kDecode4, kDecode4Rows}, {kDecode8, kDecode8Rows}},
    {{kQuantize2, kQuantize2Rows}, {kQuantize4, kQuantize4Rows}, {kQuantize8, kQuantize8Rows}},
};

}  // namespace

const char* function_of(LatticeOp op) noexcept {
    switch (op) {
        case LatticeOp::encode:
            return "lattice_encode";
        case LatticeOp::decode:
            return "lattice_decode";
        case LatticeOp::quantize:
            return "lattice_quantize";
    }
    return "lattice";
}

std::span<const std::uint32_t> lattice_words(LatticeOp op, Lattice lattice, bool ragged) {
    return kWords[static_cast<int>(op)][static_cast<int>(lattice)][ragged ? 1 : 0];
}

}  // namespace weft::kernels
