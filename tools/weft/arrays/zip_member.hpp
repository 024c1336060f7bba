// SPDX-License-Identifier: Apache-2.0
// Members of zip archives, as numpy.savez and numpy.savez_compressed write them: stored or deflated.
// Format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tool {

/// Whether a file with these first bytes is a zip archive.
bool is_zip(std::string_view beginning);

/// A member: part of the archive if it is stored, otherwise inflated into its own memory.
struct ZipMember {
    std::string name;  ///< the name in NumPy, without ".npy"
    std::span<const std::byte> stored;
    std::vector<std::byte> inflated;
    std::span<const std::byte> bytes() const { return inflated.empty() ? stored : inflated; }
};

/// The member `name`, with or without ".npy"; an empty name means the only member. Error texts begin with
/// `path`. Errors: Failure with Exit::usage - no such member, several members but no name, damage (the
/// checksum is compared), encryption, another method of compression.
ZipMember read_member(std::span<const std::byte> archive, const std::string& name, const std::string& path);

}  // namespace weft::tool
