// SPDX-License-Identifier: Apache-2.0
#include "base/cache_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
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

bool write_all(int file, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
}

std::string system_text(int error) {
    return std::generic_category().message(error);
}

/// Returns why it failed; empty: it did not.
std::string write_and_rename(const std::filesystem::path& target, std::span<const std::byte> bytes) {
    if (target.has_parent_path()) {
        std::error_code error;
        std::filesystem::create_directories(target.parent_path(), error);
        if (error)
            return "cannot make folder " + target.parent_path().string() + " (" + error.message() + ")";
    }
    // Each call has a name of its own, so that no two threads or processes write the same temporary file.
    std::string temporary = target.string() + ".XXXXXX";
    const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
    if (file < 0) return "cannot create " + temporary + " (" + system_text(errno) + ")";
    std::string reason;
    if (!write_all(file, bytes)) reason = "cannot write " + temporary + " (" + system_text(errno) + ")";
    if (::close(file) != 0 && reason.empty())
        reason = "cannot close " + temporary + " (" + system_text(errno) + ")";
    if (reason.empty() && std::rename(temporary.c_str(), target.c_str()) != 0)
        reason = "cannot rename to " + target.string() + " (" + system_text(errno) + ")";
    if (!reason.empty()) ::unlink(temporary.c_str());
    return reason;
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

std::optional<std::vector<std::byte>> read_cache_file(const std::filesystem::path& file) noexcept {
    try {
        std::error_code error;
        if (!std::filesystem::is_regular_file(file, error) || error) return std::nullopt;
        std::ifstream in(file, std::ios::binary | std::ios::ate);
        // Taken from the opened file: another process may put a file of another size there at any time.
        const std::streamoff size = in ? std::streamoff{in.tellg()} : -1;
        if (size < 0 || static_cast<std::uint64_t>(size) > kMaxCacheBytes + kHeaderBytes) return std::nullopt;
        std::vector<std::byte> bytes(static_cast<std::size_t>(size));
        in.seekg(0);
        in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
        bytes.resize(static_cast<std::size_t>(in.gcount()));
        return bytes;
    } catch (...) {
        return std::nullopt;
    }
}

bool write_cache_file(const std::filesystem::path& file, std::span<const std::byte> bytes,
                      std::string* reason) noexcept {
    try {
        std::string failure = bytes.size() > kMaxCacheBytes + kHeaderBytes
                                  ? "cache of " + std::to_string(bytes.size()) + " bytes is too large"
                                  : write_and_rename(file, bytes);
        if (failure.empty()) return true;
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
