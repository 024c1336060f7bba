// SPDX-License-Identifier: Apache-2.0
// Reads whole ordinary files, and refuses everything else that a path may lead to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace weft::glsl {

inline constexpr std::uint64_t kMaxSourceBytes = std::uint64_t{16} << 20;

struct FileRead {
    std::string bytes;
    std::string refused;   ///< empty: read
    int error = 0;         ///< errno, where the system refused
    bool trusted = false;  ///< only this user or root can have written it

    bool absent() const;
};

/// Never blocks: pipes and devices are refused. Errors are in the result.
FileRead read_file(const std::filesystem::path& file, std::uint64_t max_bytes);

/// The same for a source: at most kMaxSourceBytes of text. A byte-order mark is removed.
FileRead read_source(const std::filesystem::path& file);

/// Why `text` cannot be a source; empty: it can. A byte-order mark is removed.
std::string refuse_text(std::string& text);

}  // namespace weft::glsl
