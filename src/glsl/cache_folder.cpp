// SPDX-License-Identifier: Apache-2.0
#include "glsl/cache_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "base/cache_file.hpp"
#include "base/config_parse.hpp"
#include "glsl/source_file.hpp"

namespace weft::glsl {

namespace fs = std::filesystem;

namespace {

/// Only the two variables that matter here, so that others with illegal values do not stop a compilation.
std::optional<std::string> cache_variable(const char* name) {
    const std::string_view wanted = name;
    if (wanted != "WEFT_CACHE" && wanted != "WEFT_CACHE_DIR") return std::nullopt;
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

bool unchanged(const Dependency& dependency) {
    if (!dependency.present) {
        struct stat status {};
        return ::stat(dependency.path.c_str(), &status) != 0 &&
               (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG);
    }
    const core::FileRead file = core::read_file(dependency.path, kMaxSourceBytes);
    return file.refused.empty() && digest_of(file.bytes) == dependency.digest;
}

/// Other users cannot read the folders that are made here.
std::string make_folders(const fs::path& folder) {
    fs::path made;
    for (const fs::path& part : folder) {
        made /= part;
        if (::mkdir(made.c_str(), 0700) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
            return "cannot make folder " + made.string() + " (" + std::generic_category().message(errno) +
                   ")";
    }
    return {};
}

std::int64_t seconds(fs::file_time_type time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

Loaded load(const fs::path& folder, const Digest& key) {
    const fs::path file = folder / entry_file_name(key);
    const core::FileRead read = core::read_file(file, kMaxEntryBytes);
    if (read.absent()) return {};
    const auto refuse = [&](const std::string& reason) {
        return Loaded{{}, false, file.string() + ": " + reason};
    };
    if (!read.refused.empty()) return refuse(read.refused);
    if (!read.trusted) return refuse("can be written by other users");
    DecodedEntry decoded = decode_entry(key, std::as_bytes(std::span(read.bytes)));
    if (!decoded.refused.empty()) return refuse(decoded.refused);
    for (const Dependency& dependency : decoded.entry.dependencies)
        if (!unchanged(dependency)) return {{}, false, dependency.path.string() + " has changed"};
    ::utimensat(AT_FDCWD, file.c_str(), nullptr, 0);
    return {std::move(decoded.entry), true, {}};
}

}  // namespace

fs::path cache_folder(const GlslSource& source, std::string& note) {
    if (source.cache == false) return {};
    Config config;
    if (!source.cache || source.cache_dir.empty()) config = core::parse_config(cache_variable);
    if (!source.cache.value_or(config.cache)) return {};
    fs::path folder = source.cache_dir;
    if (folder.empty()) folder = config.cache_dir;
    if (folder.empty()) folder = core::default_cache_dir();
    if (folder.empty()) {
        note = "no cache folder: neither XDG_CACHE_HOME nor HOME is set";
        return {};
    }
    return folder / "glsl";
}

Loaded load_entry(const fs::path& folder, const Digest& key) noexcept {
    try {
        return load(folder, key);
    } catch (...) {
        return {};
    }
}

std::string store_entry(const fs::path& folder, const Digest& key, const Entry& entry) noexcept {
    try {
        const std::vector<std::byte> bytes = encode_entry(key, entry);
        if (bytes.size() > kMaxEntryBytes)
            return "too large to keep (" + std::to_string(bytes.size()) + " bytes)";
        if (std::string reason = make_folders(folder); !reason.empty()) return reason;
        std::string reason;
        if (!core::write_cache_file(folder / entry_file_name(key), bytes, &reason)) return reason;
        trim_folder(folder, kMaxCacheBytes, kMaxCacheEntries);
    } catch (...) {
        // Memory or the disk is full; the shader was compiled nevertheless.
    }
    return {};
}

void trim_folder(const fs::path& folder, std::uint64_t max_bytes, std::size_t max_entries) {
    std::vector<StoredFile> files;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        // Other processes trim as well, so a file may be gone by now.
        std::error_code gone;
        const std::uint64_t bytes = at->file_size(gone);
        const auto time = gone ? fs::file_time_type{} : at->last_write_time(gone);
        if (!gone) files.push_back({at->path().filename().string(), bytes, seconds(time)});
    }
    const std::int64_t now = seconds(fs::file_time_type::clock::now());
    for (const std::string& name : plan_eviction(std::move(files), now, max_bytes, max_entries)) {
        std::error_code ignored;
        fs::remove(folder / name, ignored);
    }
}

}  // namespace weft::glsl
