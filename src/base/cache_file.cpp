// SPDX-License-Identifier: Apache-2.0
#include "base/cache_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "base/bytes.hpp"

namespace weft::core {

namespace {

constexpr std::string_view kMagic = "weftpc\r\n";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 8 + 4 + 4 + (3 * 4 + 16) + 8 + 8;
constexpr std::size_t kDriverHeaderBytes = 32;

std::uint64_t fnv1a(std::span<const std::byte> bytes) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const std::byte byte : bytes) hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3u;
    return hash;
}

/// Why the driver's own header does not fit this device; empty: it does.
std::string refuse_driver_header(const CacheIdentity& identity, std::span<const std::byte> payload) {
    if (payload.size() < kDriverHeaderBytes) return "payload is shorter than the driver's header";
    ByteReader reader(payload);
    const std::uint32_t length = reader.number32(), version = reader.number32();
    const std::uint32_t vendor = reader.number32(), device = reader.number32();
    if (length < kDriverHeaderBytes || length > payload.size())
        return "driver header has a length of " + std::to_string(length);
    if (version != 1) return "driver header has version " + std::to_string(version);
    if (vendor != identity.vendor_id || device != identity.device_id ||
        reader.sixteen() != identity.cache_uuid)
        return "driver header names another device or driver";
    return {};
}

/// Returns why it failed; empty: it did not.
std::string write_and_rename(const std::filesystem::path& target, std::span<const std::byte> bytes) {
    if (target.has_parent_path()) {
        std::error_code error;
        std::filesystem::create_directories(target.parent_path(), error);
        if (error)
            return "cannot make folder " + target.parent_path().string() + " (" + error.message() + ")";
    }
    NewFile file(target, 0600);
    file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return file.replace();
}

/// A process that was killed, on a file system where new files need names, leaves them.
void remove_half_written(const std::filesystem::path& target) {
    const std::string prefix = target.filename().string() + ".";
    std::error_code error, ignored;
    for (std::filesystem::directory_iterator at(target.parent_path(), error), end; !error && at != end;
         at.increment(error)) {
        const std::string name = at->path().filename().string();
        if (name.size() != prefix.size() + kRandomLetters || !name.starts_with(prefix)) continue;
        const auto written = at->last_write_time(ignored);
        if (!ignored && std::filesystem::file_time_type::clock::now() - written > std::chrono::hours(1))
            std::filesystem::remove(at->path(), ignored);
    }
}

}  // namespace

std::string cache_file_name(const CacheIdentity& identity) {
    std::array<char, 32> numbers{};
    std::snprintf(numbers.data(), numbers.size(), "%08x-%08x-%08x-", identity.vendor_id, identity.device_id,
                  identity.driver_version);
    return std::string("pipelines-") + numbers.data() + hex(identity.cache_uuid) + ".cache";
}

std::vector<std::byte> encode_cache(const CacheIdentity& identity, std::span<const std::byte> payload) {
    ByteWriter out;
    out.raw(std::as_bytes(std::span(kMagic)));
    for (const std::uint32_t number : {kVersion, static_cast<std::uint32_t>(sizeof(void*)),
                                       identity.vendor_id, identity.device_id, identity.driver_version})
        out.number(number, 4);
    out.raw(identity.cache_uuid);
    out.number(payload.size(), 8);
    out.number(fnv1a(payload), 8);
    out.raw(payload);
    return out.take();
}

DecodedCache decode_cache(const CacheIdentity& identity, std::span<const std::byte> file) {
    const auto refuse = [](std::string reason) { return DecodedCache{{}, std::move(reason)}; };
    if (file.size() < kHeaderBytes)
        return refuse("file is truncated (got " + std::to_string(file.size()) + " bytes, need at least " +
                      std::to_string(kHeaderBytes) + ")");
    ByteReader reader(file);
    if (!std::ranges::equal(reader.raw(kMagic.size()), std::as_bytes(std::span(kMagic))))
        return refuse("not a pipeline cache of weft");
    const std::uint32_t version = reader.number32();
    if (version != kVersion) return refuse("format version " + std::to_string(version));
    const std::uint32_t pointer_bytes = reader.number32();
    if (pointer_bytes != sizeof(void*))
        return refuse("written by a process with pointers of " + std::to_string(pointer_bytes) + " bytes");
    CacheIdentity owner;
    owner.vendor_id = reader.number32();
    owner.device_id = reader.number32();
    owner.driver_version = reader.number32();
    owner.cache_uuid = reader.sixteen();
    if (owner != identity) return refuse("belongs to another device or driver");
    const std::uint64_t length = reader.number(8), checksum = reader.number(8);
    const std::span<const std::byte> payload = reader.rest();
    if (length != payload.size() || length > kMaxCacheBytes)
        return refuse("wrong length (got " + std::to_string(payload.size()) + " bytes of payload, need " +
                      std::to_string(length) + ", at most " + std::to_string(kMaxCacheBytes) + ")");
    if (fnv1a(payload) != checksum) return refuse("damaged: checksum differs");
    if (std::string reason = refuse_driver_header(identity, payload); !reason.empty())
        return refuse(std::move(reason));
    return {payload, {}};
}

FileRead read_cache_file(const std::filesystem::path& file) noexcept {
    try {
        FileRead read = read_file(file, kMaxCacheBytes + kHeaderBytes);
        if (read.refused.empty() && !read.trusted) {
            read.bytes.clear();
            read.refused = "can be written by other users (need the owner " + std::to_string(::geteuid()) +
                           " or root, and no right to write for others)";
        }
        return read;
    } catch (...) {
        return {{}, "no memory for it", ENOMEM, false};
    }
}

bool write_cache_file(const std::filesystem::path& file, std::span<const std::byte> bytes,
                      std::string* reason) noexcept {
    try {
        std::string failure = bytes.size() > kMaxCacheBytes + kHeaderBytes
                                  ? "cache of " + std::to_string(bytes.size()) + " bytes is too large"
                                  : write_and_rename(file, bytes);
        if (failure.empty()) {
            remove_half_written(file);
            return true;
        }
        if (reason != nullptr) *reason = "write_cache_file: " + failure;
    } catch (...) {
        if (reason != nullptr) reason->clear();
    }
    return false;
}

std::filesystem::path default_cache_dir() {
    // Relative folders are ignored: a cache below the working folder of the process is not trusted.
    const auto folder = [](const char* variable) {
        const char* value = std::getenv(variable);
        std::filesystem::path path = value == nullptr ? "" : value;
        return path.is_absolute() ? path : std::filesystem::path();
    };
    if (const auto cache = folder("XDG_CACHE_HOME"); !cache.empty()) return cache / "weft";
    if (const auto home = folder("HOME"); !home.empty()) return home / ".cache" / "weft";
    return {};
}

}  // namespace weft::core
