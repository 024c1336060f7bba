// SPDX-License-Identifier: Apache-2.0
// Files as they are on disk: only whole, ordinary ones, whatever a path leads to.
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
    bool trusted = false;  ///< only this user or the system's can have written it

    bool absent() const;
};

/// Never blocks on pipes and devices, which are refused. Errors are in the result.
FileRead read_file(const std::filesystem::path& file, std::uint64_t max_bytes);

/// The same for a source: at most kMaxSourceBytes, text, and without the mark that some editors put before
/// UTF-8.
FileRead read_source(const std::filesystem::path& file);

/// Why `text` cannot be a source; empty: it can. A byte-order mark is removed.
std::string refuse_text(std::string& text);

}  // namespace weft::glsl
