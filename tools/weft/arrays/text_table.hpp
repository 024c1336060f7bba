// SPDX-License-Identifier: Apache-2.0
// Tables of numbers as text: a line a row. Commas, semicolons, tabs or blanks separate the cells, whichever
// of them is found first in this order in the first line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <weft/array.hpp>

namespace weft::tool {

struct TextTable {
    std::uint64_t rows = 0, columns = 0;
    std::vector<std::byte> values;  ///< row-major
};

/// Whole cells are numbers, decimal, of `type`, which is no complex one. Empty lines and those that begin
/// with
/// '#' are skipped, and a first line in which no cell is a number is a header. Errors: std::invalid_argument
/// - "line 3, column 2: what is wrong (got X, need Y)": a cell that is no such number, a row of another
/// length, no row.
TextTable parse_table(std::string_view text, ElementType type);

}  // namespace weft::tool
