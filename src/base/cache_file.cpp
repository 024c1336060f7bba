// SPDX-License-Identifier: Apache-2.0
#include "base/cache_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

namespace weft::core {

namespace {

constexpr std::array<std::uint8_t, 8> kMagic = {'w', 'e', 'f', 't', 'p', 'c', '\r', '\n'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 8 + 4 + 4 + (3 * 4 + 16) + 8 + 8;
constexpr std::size_t kDriverHeaderBytes = 32;

std::uint64_t fnv1a(std::span<const std::byte> bytes) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const std::byte byte : bytes) hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3u;
    return hash;
}

template <class Integer>
void put(std::vector<std::byte>& out, Integer value) {
    for (std::size_t i = 0; i < sizeof(Integer); ++i)
        out.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xff));
}

/// Takes values off the front; the caller has checked that the bytes are there.
class Reader {
  public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <class Integer>
    Integer take() {
        Integer value = 0;
        for (std::size_t i = 0; i < sizeof(Integer); ++i)
            value |= static_cast<Integer>(std::to_integer<Integer>(bytes_[i]) << (8 * i));
        bytes_ = bytes_.subspan(sizeof(Integer));
        return value;
    }

    template <std::size_t Count>
    std::array<std::uint8_t, Count> take_array() {
        std::array<std::uint8_t, Count> value{};
        std::memcpy(value.data(), bytes_.data(), Count);
        bytes_ = bytes_.subspan(Count);
        return value;
    }

  private:
    std::span<const std::byte> bytes_;
};

std::string hex(std::uint32_t value) {
    char text[9];
    std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(value));
    return text;
}

/// Why the driver's own header disagrees; empty: it is this device's.
std::string refuse_driver_header(const CacheIdentity& identity, std::span<const std::byte> payload) {
    if (payload.size() < kDriverHeaderBytes) return "payload is shorter than the driver's header";
    Reader reader(payload);
    const auto length = reader.take<std::uint32_t>();
    const auto version = reader.take<std::uint32_t>();
    const auto vendor = reader.take<std::uint32_t>();
    const auto device = reader.take<std::uint32_t>();
    if (length < kDriverHeaderBytes || length > payload.size())
        return "driver header has a length of " + std::to_string(length);
    if (version != 1) return "driver header has version " + std::to_string(version);
    if (vendor != identity.vendor_id || device != identity.device_id ||
        reader.take_array<16>() != identity.cache_uuid)
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

/// Empty on success.
std::string write_and_rename(const std::filesystem::path& target, std::span<const std::byte> bytes) {
    if (target.has_parent_path()) {
        std::error_code error;
        std::filesystem::create_directories(target.parent_path(), error);
        if (error)
            return "cannot make folder " + target.parent_path().string() + " (" + error.message() + ")";
    }
    // A fresh name each call, so that neither threads nor processes meet in one temporary file.
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
    std::string name = "pipelines-" + hex(identity.vendor_id) + "-" + hex(identity.device_id) + "-" +
                       hex(identity.driver_version) + "-";
    for (const std::uint8_t byte : identity.cache_uuid) name += hex(byte).substr(6);
    return name + ".cache";
}

std::vector<std::byte> encode_cache(const CacheIdentity& identity, std::span<const std::byte> payload) {
    std::vector<std::byte> out;
    out.reserve(kHeaderBytes + payload.size());
    for (const std::uint8_t byte : kMagic) put(out, byte);
    put(out, kVersion);
    put(out, static_cast<std::uint32_t>(sizeof(void*)));
    put(out, identity.vendor_id);
    put(out, identity.device_id);
    put(out, identity.driver_version);
    for (const std::uint8_t byte : identity.cache_uuid) put(out, byte);
    put(out, static_cast<std::uint64_t>(payload.size()));
    put(out, fnv1a(payload));
    out.insert(out.end(), payload.begin(), payload.end());
    return out;
}

DecodedCache decode_cache(const CacheIdentity& identity, std::span<const std::byte> file) {
    const auto refuse = [](std::string reason) { return DecodedCache{{}, std::move(reason)}; };
    if (file.size() < kHeaderBytes)
        return refuse("file is truncated (got " + std::to_string(file.size()) + " bytes, need at least " +
                      std::to_string(kHeaderBytes) + ")");
    Reader reader(file);
    if (reader.take_array<8>() != kMagic) return refuse("not a pipeline cache of weft");
    const auto version = reader.take<std::uint32_t>();
    if (version != kVersion) return refuse("format version " + std::to_string(version));
    const auto pointer_bytes = reader.take<std::uint32_t>();
    if (pointer_bytes != sizeof(void*))
        return refuse("written by a process with pointers of " + std::to_string(pointer_bytes) + " bytes");
    CacheIdentity owner;
    owner.vendor_id = reader.take<std::uint32_t>();
    owner.device_id = reader.take<std::uint32_t>();
    owner.driver_version = reader.take<std::uint32_t>();
    owner.cache_uuid = reader.take_array<16>();
    if (owner != identity) return refuse("belongs to another device or driver");
    const auto length = reader.take<std::uint64_t>();
    const auto checksum = reader.take<std::uint64_t>();
    const std::span<const std::byte> payload = file.subspan(kHeaderBytes);
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
        // The size of what was opened: another process may put a file of another size there at any time.
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
    // Relative folders are ignored: a cache read from wherever the process happens to run is not trusted.
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
