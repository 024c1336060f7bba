// SPDX-License-Identifier: Apache-2.0
// A compiled shader as a file: its key, its contents, and which files are removed when there are too many.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/glsl.hpp>

#include "glsl/include_search.hpp"

namespace weft::glsl {

inline constexpr std::uint64_t kMaxEntryBytes = std::uint64_t{32} << 20;
inline constexpr std::uint64_t kMaxCacheBytes = std::uint64_t{64} << 20;
inline constexpr std::size_t kMaxCacheEntries = 4096;

/// A digest of everything that is known before includes are searched. `text` is the text of the source.
Digest cache_key(const GlslSource& source, const SearchRoots& roots, std::string_view text,
                 std::string_view compiler);

std::string entry_file_name(const Digest& key);

struct Entry {
    std::vector<Dependency> dependencies;
    std::string warnings;
    std::vector<std::uint32_t> words;
    bool operator==(const Entry&) const = default;
};

/// Layout (little-endian): 8 bytes magic "weftgl\r\n", u32 version, 16 bytes key, u64 payload length, 16
/// bytes digest of the payload, payload: u32 count of dependencies, each u8 present, 16 bytes digest, text;
/// text of warnings; u32 count of words, words. A text is u32 length and its bytes.
std::vector<std::byte> encode_entry(const Digest& key, const Entry& entry);

struct DecodedEntry {
    Entry entry;
    std::string refused;  // empty: usable
};
/// Accepts any bytes. Checks the digest before anything inside is read, and bounds as well.
DecodedEntry decode_entry(const Digest& key, std::span<const std::byte> file);

struct StoredFile {
    std::string name;
    std::uint64_t bytes = 0;
    std::int64_t used_s = 0;  // when it was last written or used, from any epoch
};
/// Names of files to remove, oldest first, so that the rest is within both limits. Files that are not entries
/// stay, except those that an interrupted process left half-written more than an hour ago.
std::vector<std::string> plan_eviction(std::vector<StoredFile> files, std::int64_t now_s,
                                       std::uint64_t max_bytes, std::size_t max_entries);

}  // namespace weft::glsl
