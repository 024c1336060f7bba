// SPDX-License-Identifier: Apache-2.0
// Compiled shaders on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "glsl/cache_entry.hpp"

namespace weft::glsl {

/// Where the results of `source` go; empty: nowhere. `note` says why where it was not asked for.
/// Errors: invalid_argument - variable WEFT_CACHE has a value that is not legal.
std::filesystem::path cache_folder(const GlslSource& source, std::string& note);

struct Loaded {
    Entry entry;
    bool hit = false;
    std::string note;  // why an entry that is there is of no use
};
/// An entry whose dependencies are as they were. It becomes the newest.
Loaded load_entry(const std::filesystem::path& folder, const Digest& key) noexcept;

/// Written whole or not at all, for this user alone; then the folder is brought within its limits. Text: why
/// it failed.
std::string store_entry(const std::filesystem::path& folder, const Digest& key, const Entry& entry) noexcept;

/// Removes what plan_eviction names.
void trim_folder(const std::filesystem::path& folder, std::uint64_t max_bytes, std::size_t max_entries);

}  // namespace weft::glsl
