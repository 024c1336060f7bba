// SPDX-License-Identifier: Apache-2.0
// Reads all rows of an array that a file's reader has accepted.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "arrays/array_source.hpp"
#include "cli/failure.hpp"
#include "fuzz/target.hpp"

namespace weft_fuzz {

inline constexpr weft::ElementType kAllTypes[] = {weft::kFloat64,     weft::kFloat32,   weft::kUint8,
                                                  weft::kUint32,      weft::kUint64,    weft::kInt64,
                                                  weft::tool::kInt32, weft::kComplex64, weft::kComplex128};

/// All values, read in two parts. A mapping must hold the same ones.
inline std::vector<std::byte> all_values(weft::tool::ArraySource& source) {
    require(source.values() <= std::size_t{1} << 24, "an accepted array is no larger than its file allows");
    const std::uint64_t half = source.rows() / 2, row = source.row_bytes();
    std::vector<std::byte> values(source.values() * source.type().bytes());
    source.read(0, half, values.data());
    source.read(half, source.rows() - half, values.data() + half * row);
    if (source.mapped() != nullptr && !values.empty())
        require(std::memcmp(source.mapped(), values.data(), values.size()) == 0, "mapped and read alike");
    return values;
}

/// Calls `open`, which returns a source, and reads everything. Nothing but a refusal of the input may be
/// thrown, and its text must say what the input is called.
template <class Open>
std::vector<std::byte> read_or_refuse(const Open& open) {
    try {
        return all_values(*open());
    } catch (const weft::tool::Failure& failure) {
        require(failure.exit() == weft::tool::Exit::usage, "bad input is wrong usage");
        require(std::string_view(failure.what()).starts_with("/proc/self/fd/"), failure.what());
        return {};
    }
}

}  // namespace weft_fuzz
