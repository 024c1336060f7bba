// SPDX-License-Identifier: Apache-2.0
// Compiled shaders on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "glsl/cache_entry.hpp"

namespace weft::glsl {

/// The folder for results of `source`; empty: none. `note` says why, unless the caller turned the cache off.
/// Errors: invalid_argument - variable WEFT_CACHE has a value that is not legal.
std::filesystem::path cache_folder(const GlslSource& source, std::string& note);

struct Loaded {
    Entry entry;
    bool hit = false;
    std::string note;  // why an existing entry cannot be used
};
/// An entry whose dependencies have not changed. It becomes the newest.
Loaded load_entry(const std::filesystem::path& folder, const Digest& key) noexcept;

/// Writes the whole entry or nothing, readable for this user alone, then trims the folder to its limits.
/// Returns why it failed; empty: it did not.
std::string store_entry(const std::filesystem::path& folder, const Digest& key, const Entry& entry) noexcept;

/// Removes what plan_eviction names.
void trim_folder(const std::filesystem::path& folder, std::uint64_t max_bytes, std::size_t max_entries);

}  // namespace weft::glsl
