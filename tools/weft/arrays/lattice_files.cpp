// SPDX-License-Identifier: Apache-2.0
#include "arrays/lattice_files.hpp"

#include <algorithm>

namespace weft::tool {

Table table_of(const LatticeArguments& a, std::size_t rows, std::size_t width) {
    return {rows, width, lattice_tiles(a.code.lattice, width)};
}

Table values_of(const LatticeArguments& a, const ArrayInput& in) {
    const Shape& shape = in.shape();
    const std::uint64_t d = dimension(a.code.lattice), values = in.source().values();
    if (shape.size() != 2 || shape[1] == 0) {
        const std::string text = "wrong shape (got " + to_string(shape) + ", need (n, width), " +
                                 std::to_string(d) + " values a vector)";
        if (values == 0) in.refuse(text);
        if (shape.size() > 2) in.refuse(text, ".reshape(" + std::to_string(shape[0]) + ", -1)");
        in.refuse(text, values % d == 0 ? ".reshape(-1, " + std::to_string(d) + ")" : ".reshape(1, -1)");
    }
    return table_of(a, in.shape()[0], in.shape()[1]);
}

Shape codes_shape(const LatticeArguments& a, const Table& t) {
    const std::size_t d = dimension(a.code.lattice);
    if (a.code.packed) {
        const std::size_t row_bits = t.tiles * a.vector_bits();
        if (row_bits % 8 == 0) return {t.rows, row_bits / 8};
        return {code_bytes(a.code, t.vectors())};
    }
    if (t.width == d) return {t.rows, a.code.levels, d};
    return {t.rows, t.tiles, a.code.levels, d};
}

namespace {

// Packed codes have one or two axes, other codes three or four.
[[noreturn]] void refuse_codes(const LatticeArguments& a, const ArrayInput& in, const std::string& need) {
    const std::string text =
        "wrong shape (got " + to_string(in.shape()) + ", need " + need + " with these options)";
    const std::uint64_t one = std::uint64_t{a.code.levels} * dimension(a.code.lattice);
    const bool packed_shape = in.shape().size() < 3;
    if (!a.code.packed && packed_shape) in.refuse(text + "; packed codes need --packed");
    if (a.code.packed && !packed_shape) in.refuse(text + "; codes of a byte each need no --packed");
    if (!a.code.packed && in.source().values() != 0 && in.source().values() % one == 0)
        in.refuse(text, ".reshape(-1, " + std::to_string(a.code.levels) + ", " +
                            std::to_string(dimension(a.code.lattice)) + ")");
    in.refuse(text);
}

/// Packed codes on one axis do not show rows and width, so the options give them.
Table packed_flat(const LatticeArguments& a, const ArrayInput& in) {
    const Shape& s = in.shape();
    if (!a.rows) in.refuse("packed rows are no whole bytes here (got one axis, need --rows)");
    const Table t = table_of(a, *a.rows, a.width.value_or(dimension(a.code.lattice)));
    // A vector takes at least one bit. More vectors than bits are refused here, because the product below
    // would overflow.
    const bool few = t.rows == 0 || t.tiles <= s[0] * 8 / t.rows;
    const bool fits = few && code_bytes(a.code, t.vectors()) == s[0];
    if (!fits)
        in.refuse("--rows does not fit (got " + std::to_string(t.rows) + " rows of " +
                  std::to_string(t.tiles) + " vectors of " + std::to_string(a.vector_bits()) +
                  " bits, need the " + std::to_string(s[0]) + " bytes of the array)");
    return t;
}

/// Rows and vectors per row, as the shape shows them.
Table tiles_of_shape(const LatticeArguments& a, const ArrayInput& in) {
    const std::size_t d = dimension(a.code.lattice);
    const Shape& s = in.shape();
    if (a.code.packed) {
        if (s.size() != 2 || s[1] == 0 || s[1] * 8 % a.vector_bits() != 0)
            refuse_codes(a, in,
                         "(n, bytes of whole vectors of " + std::to_string(a.vector_bits()) + " bits)");
        return {s[0], 0, s[1] * 8 / a.vector_bits()};
    }
    if ((s.size() != 3 && s.size() != 4) || s[s.size() - 2] != a.code.levels || s.back() != d ||
        (s.size() == 4 && s[1] == 0)) {
        const std::string vector = std::to_string(a.code.levels) + ", " + std::to_string(d) + ")";
        refuse_codes(a, in, "(n, " + vector + " or (n, tiles, " + vector);
    }
    return {s[0], 0, s.size() == 4 ? s[1] : 1};
}

}  // namespace

Table coded_in(const LatticeArguments& a, const ArrayInput& in) {
    if (a.code.packed && in.shape().size() == 1) return packed_flat(a, in);
    const std::size_t d = dimension(a.code.lattice);
    const Table t = tiles_of_shape(a, in);
    if (a.rows && *a.rows != t.rows)
        in.refuse("--rows does not fit (got " + std::to_string(*a.rows) + ", need the " +
                  std::to_string(t.rows) + " of " + to_string(in.shape()) + ", or none)");
    const std::size_t width = a.width.value_or(t.tiles * d);
    if (lattice_tiles(a.code.lattice, width) != t.tiles)
        in.refuse("--width does not fit (got " + std::to_string(width) + ", need " +
                  std::to_string((t.tiles - 1) * d + 1) + " to " + std::to_string(t.tiles * d) + ")");
    return table_of(a, t.rows, width);
}

Shape scales_shape(const LatticeArguments& a, const Table& t) {
    if (t.width == dimension(a.code.lattice)) return {t.rows};
    return {t.rows, t.tiles};
}

void write_scales(const LatticeArguments& a, const Table& t, std::span<const std::uint8_t> status) {
    NpyOutput out(a.scales, kInt32, scales_shape(a, t));
    const std::span<std::int32_t> values = out.elements<std::int32_t>();
    for (std::size_t i = 0; i < status.size(); ++i) {
        const std::int32_t retries = status[i] & kLatticeRetries;
        values[i] = (status[i] & kLatticeUnresolved) != 0 ? -1 - retries : retries;
    }
    out.commit();
}

std::vector<std::uint8_t> read_scales(LatticeArguments& a, const Table& t) {
    static constexpr ElementType kTypes[] = {kInt32};
    ArrayInput in(a.scales, kTypes);
    const Shape wanted = scales_shape(a, t);
    const bool column =
        wanted.size() == 1 && in.shape() == Shape{wanted[0], 1};  // the shape that tables of text have
    if (in.shape() != wanted && !column) {
        const std::string text =
            "wrong shape (got " + to_string(in.shape()) + ", need " + to_string(wanted) + ")";
        if (in.source().values() != t.vectors()) in.refuse(text);
        in.refuse(text, ".reshape" + to_string(wanted));
    }
    const std::span<const std::int32_t> values = in.elements<std::int32_t>();
    const bool given = a.code.max_retries != 0;
    constexpr std::int32_t kMostRetries = 100;
    const std::int32_t most = given ? static_cast<std::int32_t>(a.code.max_retries) : kMostRetries;
    std::vector<std::uint8_t> status(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::int32_t v = values[i], retries = v < 0 ? -1 - v : v;
        if (retries > most)
            in.refuse("vector " + std::to_string(i) + " has too many retries (got " + std::to_string(v) +
                      ", need at most " + (given ? "--max-retries " : "") + std::to_string(most) + ")");
        a.code.max_retries = std::max(a.code.max_retries, static_cast<std::uint32_t>(retries));
        status[i] = static_cast<std::uint8_t>(retries | (v < 0 ? kLatticeUnresolved : 0));
    }
    in.require_unchanged();
    return status;
}

}  // namespace weft::tool
