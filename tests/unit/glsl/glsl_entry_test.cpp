// SPDX-License-Identifier: Apache-2.0
// Compiled shaders as bytes: no compiler and no disk.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/bytes.hpp"
#include "glsl/cache_entry.hpp"

using namespace weft::glsl;
using Bytes = std::vector<std::byte>;

namespace {

const Digest kKey = digest_of("key");

Entry some_entry() {
    return {{{"/a/b.glsl", true, digest_of("text")}, {"/c/b.glsl", false, {}}},
            "a:1: warning: odd",
            {0x07230203, 0x00010500, 1, 2, 0, 0xdeadbeef}};
}

bool accepted(std::span<const std::byte> file, const Digest& key = kKey) {
    const DecodedEntry decoded = decode_entry(key, file);
    CHECK(decoded.entry.words.empty() != decoded.refused.empty());
    return decoded.refused.empty();
}

/// Changes the payload by `change` and writes the matching digest.
Bytes forged(const std::function<void(Bytes& payload)>& change) {
    constexpr std::size_t kHeader = 52;
    Bytes file = encode_entry(kKey, some_entry());
    Bytes payload(file.begin() + kHeader, file.end());
    change(payload);
    file.resize(kHeader);
    const std::uint64_t length = payload.size();
    for (std::size_t i = 0; i < 8; ++i) file[28 + i] = static_cast<std::byte>((length >> (8 * i)) & 0xff);
    const Digest digest = Hasher{}.bytes(payload).digest();
    std::transform(digest.begin(), digest.end(), file.begin() + 36,
                   [](std::uint8_t b) { return std::byte{b}; });
    file.insert(file.end(), payload.begin(), payload.end());
    return file;
}

std::string name_of(char letter) {
    return std::string(32, letter) + ".spv.cache";
}

}  // namespace

TEST_CASE("glsl digest: published values of FNV-1a with 128 bits") {
    CHECK(weft::core::hex(digest_of("")) == "6c62272e07bb014262b821756295c58d");
    CHECK(weft::core::hex(digest_of("a")) == "d228cb696f1a8caf78912b704e4a8964");
    CHECK(weft::core::hex(digest_of("foobar")) == "343e1662793c64bf6f0d3597ba446f18");
}

TEST_CASE("glsl entry: is decoded unchanged") {
    const Bytes file = encode_entry(kKey, some_entry());
    const DecodedEntry decoded = decode_entry(kKey, file);
    CHECK(decoded.refused == "");
    CHECK(decoded.entry == some_entry());
    CHECK(file[0] == std::byte{'w'});
    CHECK(file[8] == std::byte{2});
}

TEST_CASE("glsl entry: one that is cut, lengthened, changed anywhere or of another key is refused") {
    Bytes file = encode_entry(kKey, some_entry());
    for (std::size_t length = 0; length < file.size(); ++length)
        CHECK_FALSE(accepted(std::span(file).first(length)));
    for (std::size_t at = 0; at < file.size(); ++at) {
        file[at] ^= std::byte{0x10};
        CHECK_FALSE(accepted(file));
        file[at] ^= std::byte{0x10};
    }
    CHECK(accepted(file));
    CHECK_FALSE(accepted(file, digest_of("another key")));
    file.push_back(std::byte{0});
    CHECK_FALSE(accepted(file));
}

TEST_CASE("glsl entry: parts that do not fit are refused even with a right digest") {
    CHECK(accepted(forged([](Bytes&) {})));
    const std::function<void(Bytes&)> changes[] = {
        [](Bytes& p) { p.clear(); },
        [](Bytes& p) { p.resize(3); },
        [](Bytes& p) { std::fill_n(p.begin(), 4, std::byte{0xff}); },         // count of dependencies
        [](Bytes& p) { std::fill_n(p.begin() + 21, 4, std::byte{0xff}); },    // length of the first path
        [](Bytes& p) { p.resize(p.size() - 4); },                             // a word is missing
        [](Bytes& p) { p.push_back(std::byte{0}); },                          // one byte too many
        [](Bytes& p) { std::fill(p.end() - 24, p.end() - 20, std::byte{}); }  // magic of SPIR-V
    };
    for (std::size_t i = 0; i < std::size(changes); ++i) {
        CAPTURE(i);
        CHECK_FALSE(accepted(forged(changes[i])));
    }
}

TEST_CASE("glsl key: everything that can change a result changes it") {
    const SearchRoots roots{"a.comp", "/work", "", true, {"inc"}};
    const weft::GlslSource plain{.file = "a.comp", .include_dirs = {"inc"}, .macros = {{"N", "12"}}};
    std::set<Digest> keys;
    std::size_t made = 0;
    const auto add = [&](const weft::GlslSource& source, const SearchRoots& at, std::string_view text,
                         std::string_view compiler) {
        keys.insert(cache_key(source, at, text, compiler));
        CHECK(keys.size() == ++made);
    };
    add(plain, roots, "text", "1");
    add(plain, roots, "texts", "1");
    add(plain, roots, "text", "2");
    const auto with = [&](auto change) {
        weft::GlslSource source = plain;
        SearchRoots at = roots;
        change(source, at);
        add(source, at, "text", "1");
    };
    with([](auto& s, auto&) { s.macros = {{"N", "1"}}; });
    with([](auto& s, auto&) { s.macros = {{"N1", "2"}}; });
    with([](auto& s, auto&) { s.macros.push_back({"M", ""}); });
    with([](auto& s, auto&) { s.macros.clear(); });
    with([](auto& s, auto&) { s.optimization = weft::GlslOptimization::none; });
    with([](auto& s, auto&) { s.optimization = weft::GlslOptimization::size; });
    with([](auto& s, auto&) { s.debug_info = true; });
    with([](auto& s, auto&) { s.warnings_as_errors = true; });
    with([](auto&, auto& at) { at.name = "b.comp"; });
    with([](auto&, auto& at) { at.working = "/other"; });
    with([](auto&, auto& at) { at.has_folder = false; });
    with([](auto&, auto& at) { at.source_folder = "shaders"; });
    with([](auto&, auto& at) { at.include_dirs = {"in", "c"}; });
    with([](auto&, auto& at) { at.include_dirs = {}; });
    CHECK(cache_key(plain, roots, "text", "1") == *keys.find(cache_key(plain, roots, "text", "1")));
}

TEST_CASE("glsl key: the working folder counts only where a path starts there") {
    const auto key = [](const SearchRoots& roots) { return cache_key({}, roots, "text", "1"); };
    SearchRoots roots{"shader", "/work", "", false, {"/inc"}};
    SearchRoots elsewhere = roots;
    elsewhere.working = "/other";
    CHECK(key(roots) == key(elsewhere));
    roots.has_folder = elsewhere.has_folder = true;
    roots.source_folder = elsewhere.source_folder = "/shaders";
    CHECK(key(roots) == key(elsewhere));
    roots.include_dirs = elsewhere.include_dirs = {"inc"};
    CHECK(key(roots) != key(elsewhere));
}

TEST_CASE("glsl eviction: oldest first, until both limits hold, and no other files") {
    const std::vector<StoredFile> files{{name_of('a'), 40, 30},
                                        {name_of('b'), 30, 10},
                                        {name_of('c'), 20, 20},
                                        {"README", 1000, 0},
                                        {name_of('d') + "x", 1000, 0}};
    using Names = std::vector<std::string>;
    CHECK(plan_eviction(files, 100, 90, 3) == Names{});
    CHECK(plan_eviction(files, 100, 89, 3) == Names{name_of('b')});
    CHECK(plan_eviction(files, 100, 59, 3) == Names{name_of('b'), name_of('c')});
    CHECK(plan_eviction(files, 100, 90, 1) == Names{name_of('b'), name_of('c')});
    CHECK(plan_eviction(files, 100, 0, 3) == Names{name_of('b'), name_of('c'), name_of('a')});
    CHECK(plan_eviction({}, 100, 0, 0) == Names{});
}

TEST_CASE("glsl eviction: incomplete files are removed after an hour, not before") {
    const std::string half = name_of('a') + ".Xy12zZ";
    CHECK(plan_eviction({{half, 10, 1000}}, 1000 + 3600, 100, 10).empty());
    CHECK(plan_eviction({{half, 10, 1000}}, 1000 + 3601, 100, 10) == std::vector<std::string>{half});
    CHECK(plan_eviction({{name_of('a') + "-Xy12zZ", 10, 0}}, 100000, 100, 10).empty());
}
