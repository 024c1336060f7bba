// SPDX-License-Identifier: Apache-2.0
#include "ops/lattice/lattice_resident.hpp"

#include <array>
#include <string>

#include <weft/error.hpp>

#include "base/refusal.hpp"
#include "ops/lattice/lattice_check.hpp"

namespace weft::kernels {
namespace {

constexpr const char* kInner = "lattice_inner";

// The device counts vectors in 32 bits.
void require_countable(const char* function, std::size_t vectors) {
    if (vectors > ~0u - 64)
        core::refuse(function,
                     "too many vectors (got " + std::to_string(vectors) + ", need fewer than 2^32 - 64)");
}

void check_table(const LatticeTable& table, const LatticeCode& code, std::size_t tiles) {
    check_lattice_code(kInner, code);
    if (table.lattice() != code.lattice || table.q() != code.q)
        core::refuse(kInner, std::string("the table is of another code (got ") + to_string(table.lattice()) +
                                 ", q = " + std::to_string(table.q()) + ", need " + to_string(code.lattice) +
                                 ", q = " + std::to_string(code.q) + ")");
    if (code.max_retries != 0)
        core::refuse(kInner, "vectors with retries differ in scale (got max_retries " +
                                 std::to_string(code.max_retries) + ", need 0)");
    if (code.dither_seed) core::refuse(kInner, "the dither is not in the table (got a seed, need none)");
    double weight = 0, power = 1;
    for (std::uint32_t m = 0; m < code.levels; ++m, power *= code.q) weight += power;
    const double each = weight * weight * table.largest();
    if (each * static_cast<double>(tiles) >= 2147483648.0)
        core::refuse(kInner, "the sum of a row may not fit 32 bits (got " + std::to_string(tiles) +
                                 " vectors, need at most " +
                                 std::to_string(static_cast<std::size_t>(2147483647.0 / each)) +
                                 " with this code)");
}

// Vectors of a call whose shape has been checked; `status` is the size of its array.
ResidentVectors resident_vectors(const char* function, const LatticeCode& code, const LatticeShape& shape,
                                 std::size_t codes, std::size_t status) {
    const std::size_t vectors = shape.vectors(), block = block_vectors(code.lattice);
    require_countable(function, vectors);
    check_size(function, "codes", "words", codes, code_words(code, vectors));
    check_size(function, "status", "words", status, status_words(vectors));
    ResidentVectors r{shape, {}, vectors / block + (vectors % block != 0 ? 1 : 0)};
    r.shape.element_vectors = block;
    r.parameters = parameters_of(code, r.shape);
    r.parameters.layout.vectors = static_cast<std::uint32_t>(vectors);
    r.parameters.layout.code_words = static_cast<std::uint32_t>(codes);
    r.parameters.layout.status_words = static_cast<std::uint32_t>(status);
    return r;
}

}  // namespace

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

LatticeShape checked_shape(const char* function, const LatticeCode& code, std::size_t values,
                           std::size_t width) {
    check_lattice_code(function, code);
    const LatticeShape shape = lattice_shape(function, code.lattice, values, width);
    constexpr std::size_t kMostWidth = std::size_t{1} << 28;  // the device counts values of a row in 32 bits
    if (shape.width > kMostWidth)
        core::refuse(function, "rows are too wide (got " + std::to_string(shape.width) + ", need at most " +
                                   std::to_string(kMostWidth) + ")");
    return shape;
}

std::uint32_t checked_depth(const char* function, const LatticeCode& code, std::uint32_t depth) {
    if (depth > code.levels)
        core::refuse(function, "depth is out of range (got " + std::to_string(depth) +
                                   ", need at most levels = " + std::to_string(code.levels) + ")");
    return depth == 0 ? code.levels : depth;
}

ResidentVectors resident_encode(const LatticeCode& code, std::size_t values, std::size_t codes,
                                std::size_t status, const LatticeOptions& options) {
    const char* function = "lattice_encode";
    return resident_vectors(function, code, checked_shape(function, code, values, options.width), codes,
                            status);
}

ResidentVectors resident_quantize(const LatticeCode& code, const ResidentValues& x, const ResidentValues& y,
                                  std::size_t status, const LatticeOptions& options) {
    const char* function = "lattice_quantize";
    const LatticeShape shape = checked_shape(function, code, x.size, options.width);
    const ResidentVectors r =
        resident_vectors(function, code, shape, code_words(code, shape.vectors()), status);
    check_size(function, "y", "values", y.size, x.size);
    // If y overlapped x in part, the device would read what it has just written.
    const std::size_t distance = x.first > y.first ? x.first - y.first : y.first - x.first;
    if (x.memory == y.memory && distance != 0 && distance < x.size)
        core::refuse(function, "y overlaps x in part (got a distance of " + std::to_string(distance) +
                                   " values, need 0 or at least " + std::to_string(x.size) + ")");
    return r;
}

ResidentVectors resident_decode(const LatticeCode& code, std::size_t values, std::size_t codes,
                                std::optional<std::size_t> status, const LatticeDecodeOptions& options) {
    const char* function = "lattice_decode";
    const LatticeShape shape = checked_shape(function, code, values, options.width);
    ResidentVectors r =
        resident_vectors(function, code, shape, codes, status.value_or(status_words(shape.vectors())));
    r.parameters.layout.depth = checked_depth(function, code, options.depth);
    return r;
}

LatticeShape inner_shape(const LatticeTable& table, const LatticeCode& code, std::size_t rows,
                         std::size_t width) {
    LatticeShape shape;
    shape.rows = rows;
    shape.width = shape.given_width = width == 0 ? dimension(code.lattice) : width;
    shape.tiles = lattice_tiles(code.lattice, shape.width);
    check_table(table, code, shape.tiles);
    constexpr std::size_t kMostVectors = std::size_t{1} << 56;  // their codes can be counted in bytes
    if (rows > kMostVectors / shape.tiles)
        core::refuse(kInner, "too many vectors (got " + std::to_string(rows) + " rows of " +
                                 std::to_string(shape.tiles) + ", need at most 2^56)");
    set_elements(shape, code.lattice);
    return shape;
}

bool is_one_row(std::size_t got, std::size_t one, std::size_t rows, std::size_t all, const char* unit) {
    if (got == one && rows != 1) return true;
    check_size(kInner, "y", unit, got, all);
    return false;
}

InnerCall check_inner(const LatticeTable& table, const LatticeCode& code, std::span<const std::uint8_t> x,
                      std::span<const std::uint8_t> y, std::span<const float> out,
                      const LatticeHostOptions& options, std::uint32_t threads) {
    InnerCall call{inner_shape(table, code, out.size(), options.width)};
    const LatticeShape& shape = call.shape;
    const std::size_t need = code_bytes(code, shape.vectors()), one = code_bytes(code, shape.tiles);
    check_size(kInner, "x", "bytes", x.size(), need);
    call.single = is_one_row(y.size(), one, shape.rows, need, "bytes");
    const std::array<NamedSpan, 2> inputs{{{"x", x.data(), x.size()}, {"y", y.data(), y.size()}}};
    const std::array<NamedSpan, 1> outputs{{{"out", out.data(), out.size_bytes()}}};
    check_lattice_spans(kInner, inputs, outputs, false);
    if (options.check_values) {
        check_digits("lattice_inner: x", code, x, shape.vectors(), threads);
        check_digits("lattice_inner: y", code, y, call.single ? shape.tiles : shape.vectors(), threads);
    }
    return call;
}

bool check_inner_words(const LatticeCode& code, const LatticeShape& shape, std::size_t x, std::size_t y) {
    require_countable(kInner, shape.vectors());
    const std::size_t need = code_words(code, shape.vectors()), one = code_words(code, shape.tiles);
    check_size(kInner, "x", "words", x, need);
    return is_one_row(y, one, shape.rows, need, "words");
}

}  // namespace weft::kernels
