// SPDX-License-Identifier: Apache-2.0
#include "glsl/cache_entry.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes.hpp"

namespace weft::glsl {

namespace {

constexpr std::string_view kMagic = "weftgl\r\n";
constexpr std::uint32_t kFormatVersion = 2;
constexpr std::size_t kHeaderBytes = 8 + 4 + 16 + 8 + 16;
constexpr std::string_view kSuffix = ".spv.cache";
constexpr std::size_t kNameChars = 32 + kSuffix.size();
constexpr std::int64_t kHalfWrittenSeconds = 3600;
constexpr std::uint32_t kSpirvMagic = 0x07230203;
constexpr std::size_t kSpirvHeaderWords = 5;

Digest digest_of_bytes(std::span<const std::byte> bytes) {
    return Hasher{}.bytes(bytes).digest();
}

std::string refuse_words(const std::vector<std::uint32_t>& words) {
    if (words.size() < kSpirvHeaderWords || words[0] != kSpirvMagic) return "holds no SPIR-V";
    return {};
}

DecodedEntry decode_payload(std::span<const std::byte> payload) {
    core::ByteReader reader(payload);
    DecodedEntry decoded;
    for (std::uint64_t left = reader.number(4); left > 0 && reader.ok(); --left) {
        Dependency dependency;
        dependency.present = reader.number(1) != 0;
        dependency.digest = reader.sixteen();
        dependency.path = reader.text();
        decoded.entry.dependencies.push_back(std::move(dependency));
    }
    decoded.entry.warnings = reader.text();
    const std::uint64_t words = reader.number(4);
    if (reader.ok() && words * 4 == reader.rest().size()) {
        decoded.entry.words.reserve(static_cast<std::size_t>(words));
        while (!reader.rest().empty()) decoded.entry.words.push_back(reader.number32());
        decoded.refused = refuse_words(decoded.entry.words);
    } else {
        decoded.refused = "its parts do not fit";
    }
    return decoded;
}

bool depends_on_working_folder(const SearchRoots& roots) {
    return (roots.has_folder && roots.source_folder.is_relative()) ||
           std::ranges::any_of(roots.include_dirs, [](const auto& folder) { return folder.is_relative(); });
}

bool is_entry_name(std::string_view name) {
    return name.size() == kNameChars && name.ends_with(kSuffix);
}

/// A name that write_cache_file gives to a file that it has not renamed yet.
bool is_half_written_name(std::string_view name) {
    return name.size() == kNameChars + 7 && name[kNameChars] == '.' &&
           is_entry_name(name.substr(0, kNameChars));
}

}  // namespace

Digest cache_key(const GlslSource& source, const SearchRoots& roots, std::string_view text,
                 std::string_view compiler) {
    Hasher hasher;
    hasher.number(kFormatVersion).text(compiler).text(own_include_text());
    hasher.number(static_cast<std::uint64_t>(source.optimization))
        .number(source.debug_info)
        .number(source.warnings_as_errors);
    // Messages and debug information contain names, so the same text under another name gives another result.
    hasher.text(roots.name).text(roots.source_folder.native());
    if (depends_on_working_folder(roots)) hasher.text(roots.working.native());
    hasher.number(roots.has_folder).number(roots.include_dirs.size());
    for (const auto& folder : roots.include_dirs) hasher.text(folder.native());
    hasher.number(source.macros.size());
    for (const GlslMacro& macro : source.macros) hasher.text(macro.name).text(macro.value);
    return hasher.text(text).digest();
}

std::string entry_file_name(const Digest& key) {
    return core::hex(key) + std::string(kSuffix);
}

std::vector<std::byte> encode_entry(const Digest& key, const Entry& entry) {
    core::ByteWriter payload;
    payload.number(entry.dependencies.size(), 4);
    for (const Dependency& dependency : entry.dependencies) {
        payload.number(dependency.present ? 1 : 0, 1);
        payload.raw(dependency.digest);
        payload.text(dependency.path.native());
    }
    payload.text(entry.warnings);
    payload.number(entry.words.size(), 4);
    for (const std::uint32_t word : entry.words) payload.number(word, 4);
    const std::vector<std::byte> bytes = payload.take();
    core::ByteWriter file;
    file.raw(std::as_bytes(std::span(kMagic)));
    file.number(kFormatVersion, 4);
    file.raw(key);
    file.number(bytes.size(), 8);
    file.raw(digest_of_bytes(bytes));
    file.raw(bytes);
    return file.take();
}

DecodedEntry decode_entry(const Digest& key, std::span<const std::byte> file) {
    const auto refuse = [](std::string reason) { return DecodedEntry{{}, std::move(reason)}; };
    if (file.size() < kHeaderBytes) return refuse("truncated");
    core::ByteReader reader(file);
    if (!std::ranges::equal(reader.raw(kMagic.size()), std::as_bytes(std::span(kMagic))))
        return refuse("not a compiled shader of weft");
    if (const auto version = reader.number(4); version != kFormatVersion)
        return refuse("format version " + std::to_string(version));
    if (reader.sixteen() != key) return refuse("belongs to another source");
    if (reader.number(8) != file.size() - kHeaderBytes) return refuse("truncated");
    const Digest digest = reader.sixteen();
    if (digest != digest_of_bytes(reader.rest())) return refuse("damaged: checksum differs");
    DecodedEntry decoded = decode_payload(reader.rest());
    return decoded.refused.empty() ? decoded : refuse(decoded.refused);
}

std::vector<std::string> plan_eviction(std::vector<StoredFile> files, std::int64_t now_s,
                                       std::uint64_t max_bytes, std::size_t max_entries) {
    std::vector<std::string> evicted;
    std::erase_if(files, [&](const StoredFile& file) {
        if (is_half_written_name(file.name) && now_s - file.used_s > kHalfWrittenSeconds)
            evicted.push_back(file.name);
        return !is_entry_name(file.name);
    });
    std::ranges::sort(files, [](const StoredFile& a, const StoredFile& b) {
        return a.used_s != b.used_s ? a.used_s < b.used_s : a.name < b.name;
    });
    std::uint64_t bytes = 0;
    for (const StoredFile& file : files) bytes += file.bytes;
    std::size_t left = files.size();
    for (const StoredFile& file : files) {
        if (bytes <= max_bytes && left <= max_entries) break;
        evicted.push_back(file.name);
        bytes -= file.bytes;
        --left;
    }
    return evicted;
}

}  // namespace weft::glsl
