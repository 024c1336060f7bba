// SPDX-License-Identifier: Apache-2.0
// The files of weft lattice: arrays of values, codes and retries, and how their shapes follow from each
// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "cli/device_options.hpp"
#include "arrays/npy.hpp"

namespace weft::tool {

struct LatticeArguments {
    LatticeCode code;
    std::string in, out, scales;
    std::optional<std::size_t> width, rows;  ///< of what is decoded, where its shape leaves them open
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

/// Rows and values a row of an array.
struct Table {
    std::size_t rows = 0, width = 0, tiles = 0;
    std::size_t vectors() const { return rows * tiles; }
};

Table table_of(const LatticeArguments& a, std::size_t rows, std::size_t width);
Table values_of(const LatticeArguments& a, NpyInput& in);
Shape codes_shape(const LatticeArguments& a, const Table& t);

/// The rows that an array of codes holds. Those whose packed rows are no whole bytes must be told.
Table coded_in(const LatticeArguments& a, const NpyInput& in);

/// The file of retry counts: -1 - T where the vector overloads after T retries nevertheless.
Shape scales_shape(const LatticeArguments& a, const Table& t);
void write_scales(const LatticeArguments& a, const Table& t, std::span<const std::uint8_t> status);
/// Without --max-retries the largest count of the file becomes code.max_retries.
std::vector<std::uint8_t> read_scales(LatticeArguments& a, const Table& t);

}  // namespace weft::tool
