// SPDX-License-Identifier: Apache-2.0
// The pipeline cache on disk: our header, length and checksum around the driver's blob. A driver may crash on
// a damaged blob, so it gets a blob only after these functions have found it complete and made by this
// driver.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/file_io.hpp"

namespace weft::core {

/// The device and driver that a cache belongs to. Any difference is a miss.
struct CacheIdentity {
    std::uint32_t vendor_id = 0, device_id = 0, driver_version = 0;
    std::array<std::uint8_t, 16> cache_uuid{};
    bool operator==(const CacheIdentity&) const = default;
};

inline constexpr std::size_t kMaxCacheBytes = std::size_t{256} << 20;

/// There is one file for each device, driver and cache UUID.
std::string cache_file_name(const CacheIdentity& identity);

/// Header + payload. Layout (little-endian): 8 bytes magic "weftpc\r\n", u32 version, u32 sizeof(void*),
/// identity, u64 payload length, u64 FNV-1a of the payload, payload.
std::vector<std::byte> encode_cache(const CacheIdentity& identity, std::span<const std::byte> payload);

/// The payload inside `file`, or why it is not used. Also checks the driver's own 32-byte header inside the
/// payload (length >= 32, version 1, vendor, device, cache UUID).
struct DecodedCache {
    std::span<const std::byte> payload;  // into `file`; empty when refused
    std::string refused;                 // empty: usable
};
DecodedCache decode_cache(const CacheIdentity& identity, std::span<const std::byte> file);

/// The whole file. A cache decides what a driver is fed and how the engine works, so one that another user
/// can have written is refused, as is one that is larger than kMaxCacheBytes and the header. Never throws.
FileRead read_cache_file(const std::filesystem::path& file) noexcept;

/// Replaces `file` as NewFile does, for this user alone; makes missing folders. Returns false and sets
/// `reason` if a step fails. Never throws.
bool write_cache_file(const std::filesystem::path& file, std::span<const std::byte> bytes,
                      std::string* reason) noexcept;

/// The folder that is used where Config names none: $XDG_CACHE_HOME/weft, else $HOME/.cache/weft, else empty
/// (cache off).
std::filesystem::path default_cache_dir();

}  // namespace weft::core
