// SPDX-License-Identifier: Apache-2.0
#include "arrays/lattice_files.hpp"

#include <algorithm>

namespace weft::tool {

Table table_of(const LatticeArguments& a, std::size_t rows, std::size_t width) {
    return {rows, width, lattice_tiles(a.code.lattice, width)};
}

Table values_of(const LatticeArguments& a, NpyInput& in) {
    if (in.shape().size() != 2 || in.shape()[1] == 0)
        in.refuse("wrong shape (got " + to_string(in.shape()) + ", need (n, width), " +
                  std::to_string(dimension(a.code.lattice)) + " values a vector)");
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

[[noreturn]] void refuse_codes(const LatticeArguments& a, const NpyInput& in, const std::string& need) {
    in.refuse("wrong shape (got " + to_string(in.shape()) + ", need " + need + " with these options" +
              (a.code.packed ? ")" : "; packed codes need --packed)"));
}

/// Of packed codes on one axis, rows and width are what was told.
Table packed_flat(const LatticeArguments& a, const NpyInput& in) {
    const Shape& s = in.shape();
    if (!a.rows) in.refuse("packed rows are no whole bytes here (got one axis, need --rows)");
    const Table t = table_of(a, *a.rows, a.width.value_or(dimension(a.code.lattice)));
    // A vector has a bit at the least; what is more would overflow below.
    const bool few = t.rows == 0 || t.tiles <= s[0] * 8 / t.rows;
    const bool fits = few && code_bytes(a.code, t.vectors()) == s[0];
    if (!fits)
        in.refuse("--rows does not fit (got " + std::to_string(t.rows) + " rows of " +
                  std::to_string(t.tiles) + " vectors of " + std::to_string(a.vector_bits()) +
                  " bits, need the " + std::to_string(s[0]) + " bytes of the array)");
    return t;
}

/// Rows and vectors a row, as the shape tells.
Table tiles_of_shape(const LatticeArguments& a, const NpyInput& in) {
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

Table coded_in(const LatticeArguments& a, const NpyInput& in) {
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
    NpyOutput out(a.scales, kDescr<std::int32_t>, scales_shape(a, t), status.size() * sizeof(std::int32_t));
    const std::span<std::int32_t> values = out.elements<std::int32_t>();
    for (std::size_t i = 0; i < status.size(); ++i) {
        const std::int32_t retries = status[i] & kLatticeRetries;
        values[i] = (status[i] & kLatticeUnresolved) != 0 ? -1 - retries : retries;
    }
    out.commit();
}

std::vector<std::uint8_t> read_scales(LatticeArguments& a, const Table& t) {
    NpyInput in(a.scales);
    const std::span<const std::int32_t> values = in.elements<std::int32_t>();
    if (in.shape() != scales_shape(a, t))
        in.refuse("wrong shape (got " + to_string(in.shape()) + ", need " + to_string(scales_shape(a, t)) +
                  ")");
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
