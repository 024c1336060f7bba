// SPDX-License-Identifier: Apache-2.0
// What a file or a text must be to be a shader's source.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/file_io.hpp"

namespace weft::glsl {

inline constexpr std::uint64_t kMaxSourceBytes = std::uint64_t{16} << 20;

/// core::read_file of a source: at most kMaxSourceBytes of text. A byte-order mark is removed.
core::FileRead read_source(const std::filesystem::path& file);

/// Why `text` cannot be a source; empty: it can. A byte-order mark is removed.
std::string refuse_text(std::string& text);

}  // namespace weft::glsl
