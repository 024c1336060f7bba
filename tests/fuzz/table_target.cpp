// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a table of text, for every type. What is accepted is written as text and read again.
#include <charconv>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "arrays/npy.hpp"
#include "arrays/text_table.hpp"
#include "fuzz/target.hpp"

using namespace weft_fuzz;
using weft::tool::TextTable;

namespace {

template <class T>
void append(std::string& text, const std::byte* at) {
    T value{};
    std::memcpy(&value, at, sizeof value);
    char digits[64];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

std::string written(const TextTable& table, weft::ElementType type) {
    std::string text;
    for (std::size_t i = 0; i < table.rows * table.columns; ++i) {
        const std::byte* at = table.values.data() + i * type.bytes();
        if (type == weft::kFloat32) append<float>(text, at);
        if (type == weft::kFloat64) append<double>(text, at);
        if (type == weft::kUint8) append<std::uint8_t>(text, at);
        if (type == weft::kUint32) append<std::uint32_t>(text, at);
        if (type == weft::kUint64) append<std::uint64_t>(text, at);
        if (type == weft::kInt64) append<std::int64_t>(text, at);
        text += (i + 1) % table.columns == 0 ? '\n' : ',';
    }
    return text;
}

/// No rows: the text was refused.
TextTable read(std::string_view text, weft::ElementType type) {
    try {
        return weft::tool::parse_table(text, type);
    } catch (const std::invalid_argument& error) {
        require(std::strlen(error.what()) < 300, "a refusal is a line");
        return {};
    }
}

void judge(std::string_view input, weft::ElementType type) {
    const TextTable table = read(input, type);
    require(table.values.size() == table.rows * table.columns * type.bytes(), "as many as its shape says");
    require(table.values.size() <= 8 * (input.size() + 1), "a value takes a character at least");
    if (table.rows == 0) return;
    const std::string text = written(table, type);
    const TextTable again = read(text, type);
    require(again.rows == table.rows && again.columns == table.columns, "the same shape");
    if (text.find("nan") == std::string::npos)  // whose bits the text does not hold
        require(again.values == table.values, "the same values");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    for (const weft::ElementType type :
         {weft::kFloat32, weft::kFloat64, weft::kUint8, weft::kUint32, weft::kUint64, weft::kInt64})
        judge(text_of(data, size), type);
    return 0;
}
