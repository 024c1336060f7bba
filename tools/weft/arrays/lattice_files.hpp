// SPDX-License-Identifier: Apache-2.0
// The files of weft lattice: arrays of values, codes and retries, and how each shape follows from the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "arrays/array_input.hpp"
#include "arrays/npy.hpp"
#include "device/device_options.hpp"

namespace weft::tool {

struct LatticeArguments {
    LatticeCode code;
    std::string in, out, scales;
    std::optional<std::size_t> width, rows;  ///< of what is decoded, if its shape does not show them
    std::uint32_t depth = 0, steps = 40;
    std::uint64_t seed = 0;
    bool dither = false, json = false;
    DeviceOptions device;

    LatticeCode full_code() const {
        LatticeCode c = code;
        if (dither) c.dither_seed = seed;
        return c;
    }
    std::size_t vector_bits() const {
        return std::size_t{digit_bits(code)} * code.levels * dimension(code.lattice);
    }
};

/// Rows of an array, and values per row.
struct Table {
    std::size_t rows = 0, width = 0, tiles = 0;
    std::size_t vectors() const { return rows * tiles; }
};

Table table_of(const LatticeArguments& a, std::size_t rows, std::size_t width);
Table values_of(const LatticeArguments& a, const ArrayInput& in);
Shape codes_shape(const LatticeArguments& a, const Table& t);

/// The rows that an array of codes holds. If packed rows are not whole bytes, --rows must give their number.
Table coded_in(const LatticeArguments& a, const ArrayInput& in);

/// The file of retry counts: -1 - T for a vector that still overloads after T retries.
Shape scales_shape(const LatticeArguments& a, const Table& t);
void write_scales(const LatticeArguments& a, const Table& t, std::span<const std::uint8_t> status);
/// Without --max-retries, the largest count in the file becomes code.max_retries.
std::vector<std::uint8_t> read_scales(LatticeArguments& a, const Table& t);

}  // namespace weft::tool
