// SPDX-License-Identifier: Apache-2.0
#include "arrays/text_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>

#include "arrays/npy.hpp"

namespace weft::tool {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// Takes cells from the front of a line.
class Cells {
  public:
    Cells(std::string_view line, char separator) : rest_(line), separator_(separator) {}
    bool more() const { return !ended_; }
    std::string_view next() {
        const std::size_t end = separator_ == ' ' ? rest_.find_first_of(kBlanks) : rest_.find(separator_);
        const std::string_view cell = trimmed(rest_.substr(0, end));
        ended_ = end == std::string_view::npos;
        rest_ = ended_ ? std::string_view{} : rest_.substr(end + 1);
        if (separator_ == ' ') rest_ = trimmed(rest_);
        return cell;
    }

  private:
    std::string_view rest_;
    char separator_;
    bool ended_ = false;
};

char separator_of(std::string_view line) {
    for (const char c : {',', ';', '\t'})
        if (line.find(c) != std::string_view::npos) return c;
    return ' ';
}

template <class T>
std::errc parse(std::string_view cell, T& value) {
    if (cell.starts_with('+') && !cell.starts_with("+-")) cell.remove_prefix(1);
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if constexpr (std::is_floating_point_v<T>) {
        // from_chars reports numbers that are too small as out of range, although other parsers read them as
        // 0.
        if (error == std::errc::result_out_of_range) {
            const long double wide = std::strtold(std::string(cell).c_str(), nullptr);
            if (std::abs(wide) < 1) {
                value = static_cast<T>(wide);
                return std::errc{};
            }
        }
    }
    return error == std::errc{} && end != cell.data() + cell.size() ? std::errc::invalid_argument : error;
}

class TableParser {
  public:
    TableParser(std::string_view text, ElementType type) : text_(text), type_(type) {
        if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);  // a byte order mark
    }

    template <class T>
    TextTable parse_as() {
        while (!text_.empty()) {
            const std::string_view line = next_line();
            if (line.empty() || line.front() == '#') continue;
            if (separator_ == '\0') {
                separator_ = separator_of(line);
                if (is_header(line)) continue;
            }
            add_row<T>(line);
        }
        if (table_.rows == 0) throw std::invalid_argument("no values (need at least one row of numbers)");
        return std::move(table_);
    }

  private:
    // The line includes its end, so that an empty cell at the end of a line with tabs is found.
    std::string_view next_line() {
        const std::size_t end = text_.find('\n');
        std::string_view line = text_.substr(0, end);
        text_ = end == std::string_view::npos ? std::string_view{} : text_.substr(end + 1);
        ++number_;
        if (line.ends_with('\r')) line.remove_suffix(1);
        const std::string_view content = trimmed(line);
        return content.empty() || separator_of(line) != '\t' ? content : line;
    }
    bool is_header(std::string_view line) const {
        for (Cells cells(line, separator_); cells.more();) {
            double value = 0;
            if (parse(cells.next(), value) != std::errc::invalid_argument) return false;
        }
        return true;
    }
    template <class T>
    void add_row(std::string_view line) {
        std::uint64_t column = 0;
        for (Cells cells(line, separator_); cells.more(); ++column) {
            const std::string_view cell = cells.next();
            T value{};
            if (const std::errc error = parse(cell, value); error != std::errc{}) refuse(cell, column, error);
            const std::size_t at = table_.values.size();
            table_.values.resize(at + sizeof value);
            std::memcpy(table_.values.data() + at, &value, sizeof value);
        }
        if (table_.rows++ == 0) {
            table_.columns = column;
            first_line_ = number_;
        }
        if (column != table_.columns)
            throw std::invalid_argument("line " + std::to_string(number_) + ", column " +
                                        std::to_string(std::min(column, table_.columns) + 1) +
                                        ": a row of another length (got " + std::to_string(column) +
                                        " values, need the " + std::to_string(table_.columns) + " of line " +
                                        std::to_string(first_line_) + ")");
    }
    [[noreturn]] void refuse(std::string_view cell, std::uint64_t column, std::errc error) const {
        const bool range = error == std::errc::result_out_of_range;
        const bool whole = type_.kind != ElementKind::floating;
        throw std::invalid_argument("line " + std::to_string(number_) + ", column " +
                                    std::to_string(column + 1) + ": " +
                                    (range   ? "out of range"
                                     : whole ? "not a whole number"
                                             : "not a number") +
                                    " (got " + (cell.empty() ? "nothing" : std::string(cell.substr(0, 40))) +
                                    ", need " + weft::to_string(type_) + ")");
    }

    std::string_view text_;
    ElementType type_;
    TextTable table_;
    std::uint64_t number_ = 0, first_line_ = 0;
    char separator_ = '\0';
};

}  // namespace

TextTable parse_table(std::string_view text, ElementType type) {
    TableParser parser(text, type);
    if (type == kFloat32) return parser.parse_as<float>();
    if (type == kFloat64) return parser.parse_as<double>();
    if (type == kUint8) return parser.parse_as<std::uint8_t>();
    if (type == kUint32) return parser.parse_as<std::uint32_t>();
    if (type == kUint64) return parser.parse_as<std::uint64_t>();
    if (type == kInt32) return parser.parse_as<std::int32_t>();
    return parser.parse_as<std::int64_t>();
}

}  // namespace weft::tool
