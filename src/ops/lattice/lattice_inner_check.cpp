// SPDX-License-Identifier: Apache-2.0
#include "ops/lattice/lattice_inner_check.hpp"

#include <string>

#include <weft/error.hpp>

#include "ops/lattice/lattice_check.hpp"

namespace weft::kernels {
namespace {

constexpr const char* kFunction = "lattice_inner";

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Errc::invalid_argument, std::string(kFunction) + ": " + what);
}

void check_table(const LatticeTable& table, const LatticeCode& code, std::size_t tiles) {
    check_lattice_code(kFunction, code);
    if (table.lattice() != code.lattice || table.q() != code.q)
        refuse(std::string("the table is of another code (got ") + to_string(table.lattice()) +
               ", q = " + std::to_string(table.q()) + ", need " + to_string(code.lattice) +
               ", q = " + std::to_string(code.q) + ")");
    if (code.max_retries != 0)
        refuse("vectors with retries differ in scale (got max_retries " + std::to_string(code.max_retries) +
               ", need 0)");
    if (code.dither_seed) refuse("the dither is not in the table (got a seed, need none)");
    double weight = 0, power = 1;
    for (std::uint32_t m = 0; m < code.levels; ++m, power *= code.q) weight += power;
    const double each = weight * weight * table.largest();
    if (each * static_cast<double>(tiles) >= 2147483648.0)
        refuse("the sum of a row may not fit 32 bits (got " + std::to_string(tiles) +
               " vectors, need at most " + std::to_string(static_cast<std::size_t>(2147483647.0 / each)) +
               " with this code)");
}

}  // namespace

LatticeShape inner_shape(const LatticeTable& table, const LatticeCode& code, std::size_t rows,
                         std::size_t width) {
    LatticeShape shape;
    shape.rows = rows;
    shape.width = shape.given_width = width == 0 ? dimension(code.lattice) : width;
    shape.tiles = lattice_tiles(code.lattice, shape.width);
    check_table(table, code, shape.tiles);
    constexpr std::size_t kMostVectors = std::size_t{1} << 56;  // their codes can be counted in bytes
    if (rows > kMostVectors / shape.tiles)
        refuse("too many vectors (got " + std::to_string(rows) + " rows of " + std::to_string(shape.tiles) +
               ", need at most 2^56)");
    set_elements(shape, code.lattice);
    return shape;
}

bool is_one_row(std::size_t got, std::size_t one, std::size_t rows, std::size_t all, const char* unit) {
    if (got == one && rows != 1) return true;
    check_size(kFunction, "y", unit, got, all);
    return false;
}

bool check_inner_words(const LatticeCode& code, const LatticeShape& shape, std::size_t x, std::size_t y) {
    if (shape.vectors() > ~0u - 64)
        refuse("too many vectors (got " + std::to_string(shape.vectors()) + ", need fewer than 2^32 - 64)");
    const std::size_t need = code_words(code, shape.vectors()), one = code_words(code, shape.tiles);
    check_size(kFunction, "x", "words", x, need);
    return is_one_row(y, one, shape.rows, need, "words");
}

}  // namespace weft::kernels
