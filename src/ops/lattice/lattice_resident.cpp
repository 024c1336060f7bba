// SPDX-License-Identifier: Apache-2.0
#include "ops/lattice/lattice_resident.hpp"

#include <string>

#include <weft/error.hpp>

#include "ops/lattice/lattice_check.hpp"

namespace weft::kernels {

LatticeParameters parameters_of(const LatticeCode& code, const LatticeShape& shape) {
    constexpr std::uint32_t kNone = ~0u;  // no padding
    LatticeParameters p{};
    p.settings = lattice_settings(code);
    p.layout.element_vectors = static_cast<std::uint32_t>(shape.element_vectors);
    p.layout.vectors = p.layout.code_words = p.layout.status_words = kNone;
    p.layout.width = static_cast<std::uint32_t>(shape.width);
    p.layout.tiles = static_cast<std::uint32_t>(shape.tiles);
    p.layout.depth = code.levels;
    return p;
}

// Rows are counted in 32 bits on the device.
LatticeShape checked_shape(const char* function, const LatticeCode& code, std::size_t values,
                           std::size_t width) {
    check_lattice_code(function, code);
    const LatticeShape shape = lattice_shape(function, code.lattice, values, width);
    constexpr std::size_t kMostWidth = std::size_t{1} << 28;
    if (shape.width > kMostWidth)
        throw Error(Errc::invalid_argument, std::string(function) + ": rows are too wide (got " +
                                                std::to_string(shape.width) + ", need at most " +
                                                std::to_string(kMostWidth) + ")");
    return shape;
}

std::uint32_t checked_depth(const char* function, const LatticeCode& code, std::uint32_t depth) {
    if (depth > code.levels)
        throw Error(Errc::invalid_argument,
                    std::string(function) + ": depth is out of range (got " + std::to_string(depth) +
                        ", need at most levels = " + std::to_string(code.levels) + ")");
    return depth == 0 ? code.levels : depth;
}

// The device counts vectors in 32 bits.
ResidentVectors resident_vectors(const char* function, const LatticeCode& code, std::size_t values,
                                 std::size_t width, std::size_t codes, std::size_t status) {
    ResidentVectors r;
    r.shape = checked_shape(function, code, values, width);
    const std::size_t vectors = r.shape.vectors(), block = block_vectors(code.lattice);
    if (vectors > ~0u - 64)
        throw Error(Errc::invalid_argument, std::string(function) + ": too many vectors (got " +
                                                std::to_string(vectors) + ", need fewer than 2^32 - 64)");
    check_size(function, "codes", "words", codes, code_words(code, vectors));
    check_size(function, "status", "words", status, status_words(vectors));
    r.shape.element_vectors = block;
    r.parameters = parameters_of(code, r.shape);
    r.parameters.layout.vectors = static_cast<std::uint32_t>(vectors);
    r.parameters.layout.code_words = static_cast<std::uint32_t>(codes);
    r.parameters.layout.status_words = static_cast<std::uint32_t>(status);
    r.elements = vectors / block + (vectors % block != 0 ? 1 : 0);
    return r;
}

void check_lattice_overlap(const char* function, bool same, std::size_t x, std::size_t y,
                           std::size_t values) {
    // The device would read what it has just written.
    const std::size_t distance = x > y ? x - y : y - x;
    if (same && distance != 0 && distance < values)
        throw Error(Errc::invalid_argument, std::string(function) +
                                                ": y overlaps x in part (got a distance of " +
                                                std::to_string(distance) + " values, need 0 or at least " +
                                                std::to_string(values) + ")");
}

}  // namespace weft::kernels
