// SPDX-License-Identifier: Apache-2.0
// Tables of numbers as text: one row per line. Commas, semicolons, tabs or blanks separate the cells; the
// first of them in this order that occurs in the first line is the separator.
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

/// Every cell must be one decimal number of `type`, which must not be complex. Empty lines and lines that
/// begin with '#' are skipped, and a first line in which no cell is a number is a header. Errors:
/// std::invalid_argument - "line 3, column 2: what is wrong (got X, need Y)": a cell that is not such a
/// number, a row of another length, no rows.
TextTable parse_table(std::string_view text, ElementType type);

}  // namespace weft::tool
