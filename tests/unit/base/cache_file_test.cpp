// SPDX-License-Identifier: Apache-2.0
#include "base/cache_file.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>

namespace fs = std::filesystem;
using namespace weft::core;
using Bytes = std::vector<std::byte>;

namespace {

constexpr std::size_t kOurHeader = 60;

CacheIdentity some_device() {
    CacheIdentity identity{0x10de, 0x2330, 0x12345678, {}};
    for (std::size_t i = 0; i < 16; ++i) identity.cache_uuid[i] = static_cast<std::uint8_t>(0xa0 + i);
    return identity;
}

/// The cache that a driver of this device would return: 32 bytes of header, then its data.
Bytes driver_blob(const CacheIdentity& identity, std::size_t bytes, std::uint8_t fill) {
    Bytes blob(32 + bytes, std::byte{fill});
    const std::uint32_t words[4] = {32, 1, identity.vendor_id, identity.device_id};
    for (std::size_t i = 0; i < 16; ++i) {
        blob[i] = static_cast<std::byte>((words[i / 4] >> (8 * (i % 4))) & 0xff);
        blob[16 + i] = std::byte{identity.cache_uuid[i]};
    }
    return blob;
}

bool accepted(const CacheIdentity& identity, std::span<const std::byte> file) {
    const DecodedCache decoded = decode_cache(identity, file);
    CHECK(decoded.payload.empty() != decoded.refused.empty());
    return decoded.refused.empty();
}

/// A temporary folder, which is removed at the end.
struct Folder {
    fs::path path;
    Folder() {
        std::string name = (fs::temp_directory_path() / "weft_cache_XXXXXX").string();
        path = ::mkdtemp(name.data());
    }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(path), fs::directory_iterator()));
    }
};

/// Of a cache that is accepted as far as the file goes.
Bytes content(const fs::path& file) {
    const FileRead read = read_cache_file(file);
    CHECK(read.refused == "");
    const auto bytes = std::as_bytes(std::span(read.bytes));
    return {bytes.begin(), bytes.end()};
}

class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old;
        value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
    }
    ~Variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
    std::optional<std::string> old_;
};

}  // namespace

TEST_CASE("an encoded cache is decoded unchanged") {
    const CacheIdentity me = some_device();
    const Bytes payload = driver_blob(me, 100, 0x5a);
    const Bytes file = encode_cache(me, payload);
    REQUIRE(file.size() == kOurHeader + payload.size());
    const DecodedCache decoded = decode_cache(me, file);
    CHECK(decoded.refused == "");
    CHECK(std::equal(decoded.payload.begin(), decoded.payload.end(), payload.begin(), payload.end()));
    CHECK(decoded.payload.data() == file.data() + kOurHeader);
}

TEST_CASE("the layout on disk is the documented one") {
    CacheIdentity me;
    me.vendor_id = 0x04030201;
    const std::byte letter{'a'};
    const Bytes file = encode_cache(me, {&letter, 1});
    REQUIRE(file.size() == kOurHeader + 1);
    const std::uint8_t start[] = {'w', 'e', 'f',           't', 'p', 'c', '\r', '\n', 1, 0,
                                  0,   0,   sizeof(void*), 0,   0,   0,   1,    2,    3, 4};
    for (std::size_t i = 0; i < sizeof start; ++i) CHECK(file[i] == std::byte{start[i]});
    CHECK(file[44] == std::byte{1});  // payload length
    // Published FNV-1a 64 of "a": af63dc4c8601ec8c.
    const std::uint8_t hash[] = {0x8c, 0xec, 0x01, 0x86, 0x4c, 0xdc, 0x63, 0xaf};
    for (std::size_t i = 0; i < sizeof hash; ++i) CHECK(file[52 + i] == std::byte{hash[i]});
}

TEST_CASE("a file cut or lengthened anywhere is refused") {
    const CacheIdentity me = some_device();
    Bytes file = encode_cache(me, driver_blob(me, 40, 1));
    REQUIRE(accepted(me, file));
    for (std::size_t length = 0; length < file.size(); ++length)
        CHECK_FALSE(accepted(me, std::span(file).first(length)));
    file.push_back(std::byte{0});
    CHECK_FALSE(accepted(me, file));
}

TEST_CASE("a file with any one bit of any byte changed is refused") {
    const CacheIdentity me = some_device();
    Bytes file = encode_cache(me, driver_blob(me, 40, 1));
    for (std::byte& byte : file) {
        for (int bit = 0; bit < 8; ++bit) {
            byte ^= std::byte{1} << bit;
            CHECK_FALSE(accepted(me, file));
            byte ^= std::byte{1} << bit;
        }
        byte = ~byte;
        CHECK_FALSE(accepted(me, file));
        byte = ~byte;
    }
    CHECK(accepted(me, file));
}

TEST_CASE("a cache of another device, driver or UUID is refused") {
    const CacheIdentity me = some_device();
    const Bytes file = encode_cache(me, driver_blob(me, 8, 1));
    CacheIdentity others[4] = {me, me, me, me};
    ++others[0].vendor_id;
    ++others[1].device_id;
    ++others[2].driver_version;
    ++others[3].cache_uuid[15];
    for (const CacheIdentity& other : others) {
        CHECK(decode_cache(other, file).refused == "belongs to another device or driver");
        CHECK(cache_file_name(other) != cache_file_name(me));
    }
    CHECK(cache_file_name(me) == cache_file_name(some_device()));
    CHECK(fs::path(cache_file_name(me)).filename() == cache_file_name(me));
}

TEST_CASE("a payload with a wrong driver header is refused although the checksum is right") {
    const CacheIdentity me = some_device();
    const struct {
        std::size_t at;
        std::uint8_t value;
    } damage[] = {{0, 31}, {0, 200}, {3, 0x80}, {4, 0}, {4, 2}, {8, 0}, {12, 0}, {31, 0}};
    for (const auto& d : damage) {
        Bytes payload = driver_blob(me, 16, 3);
        payload[d.at] = std::byte{d.value};
        CAPTURE(d.at);
        CHECK_FALSE(accepted(me, encode_cache(me, payload)));
    }
    const Bytes payload = driver_blob(me, 0, 0);
    CHECK(accepted(me, encode_cache(me, payload)));
    CHECK_FALSE(accepted(me, encode_cache(me, std::span(payload).first(31))));
    CHECK_FALSE(accepted(me, encode_cache(me, {})));
}

TEST_CASE("a cache that another user can have written is refused") {
    const Folder folder;
    const fs::path file = folder.path / "c.cache";
    REQUIRE(write_cache_file(file, Bytes(10, std::byte{1}), nullptr));
    CHECK((fs::status(file).permissions() & fs::perms::mask) ==
          (fs::perms::owner_read | fs::perms::owner_write));
    for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
        fs::permissions(file, others, fs::perm_options::add);
        const FileRead read = read_cache_file(file);
        CHECK(read.refused.find("can be written by other users") == 0);
        CHECK(read.bytes.empty());
        fs::permissions(file, others, fs::perm_options::remove);
        CHECK(read_cache_file(file).refused.empty());
    }
    if (::geteuid() != 0) return;  // only root gives files away
    REQUIRE(::chown(file.c_str(), 65534, 65534) == 0);
    CHECK_FALSE(read_cache_file(file).refused.empty());
    // The next save replaces it by a file of this user.
    REQUIRE(write_cache_file(file, Bytes(10, std::byte{2}), nullptr));
    CHECK(content(file) == Bytes(10, std::byte{2}));
}

TEST_CASE("caches that were half written long ago are removed, those of other files and of now are not") {
    const Folder folder;
    const fs::path file = folder.path / "c.cache";
    for (const char* name : {"c.cache.abcdef", "c.cache.ABCDEF", "c.cache.more", "d.cache.abcdef"})
        std::ofstream(folder.path / name) << "x";
    for (const char* name : {"c.cache.abcdef", "c.cache.more", "d.cache.abcdef"})
        fs::last_write_time(folder.path / name, fs::file_time_type::clock::now() - std::chrono::hours(2));
    REQUIRE(write_cache_file(file, Bytes(10, std::byte{1}), nullptr));
    CHECK_FALSE(fs::exists(folder.path / "c.cache.abcdef"));
    CHECK(folder.files() == 4);
}

TEST_CASE("files are written whole, replaced, and read back") {
    const Folder folder;
    const fs::path file = folder.path / "a" / "b" / "c.cache";
    const Bytes first(1000, std::byte{1}), second(10, std::byte{2});
    std::string reason = "untouched";
    CHECK_FALSE(read_cache_file(file).refused.empty());
    CHECK(write_cache_file(file, first, &reason));
    CHECK(content(file) == first);
    CHECK(write_cache_file(file, second, nullptr));
    CHECK(content(file) == second);
    CHECK(write_cache_file(file, {}, &reason));
    CHECK(content(file) == Bytes{});
    CHECK(reason == "untouched");
    CHECK(std::distance(fs::directory_iterator(file.parent_path()), fs::directory_iterator()) == 1);
}

TEST_CASE("if nothing can be written there is a reason and no file is left") {
    const Folder folder;
    const fs::path plain = folder.path / "plain";
    std::ofstream(plain) << "x";
    const fs::path taken = folder.path / "taken";
    fs::create_directories(taken / "full");
    const Bytes bytes(10, std::byte{1});
    for (const fs::path& target : {plain / "below" / "c.cache", plain / "c.cache", taken}) {
        std::string reason;
        CHECK_FALSE(write_cache_file(target, bytes, &reason));
        CAPTURE(reason);
        CHECK(reason.find(target.parent_path().filename().string()) != std::string::npos);
        CHECK_FALSE(write_cache_file(target, bytes, nullptr));
        CHECK_FALSE(read_cache_file(target).refused.empty());
    }
    CHECK(folder.files() == 2);
    if (::geteuid() == 0) return;  // root writes everywhere
    fs::permissions(taken, fs::perms::owner_read | fs::perms::owner_exec);
    CHECK_FALSE(write_cache_file(taken / "c.cache", bytes, nullptr));
    fs::permissions(taken, fs::perms::owner_all);
}

TEST_CASE("a file beyond the largest size counts as absent and is never written") {
    const Folder folder;
    const fs::path file = folder.path / "large.cache";
    std::ofstream(file) << "x";
    fs::resize_file(file, kMaxCacheBytes + kOurHeader + 1);  // sparse
    CHECK_FALSE(read_cache_file(file).refused.empty());
    // Only the size decides; the bytes are never read.
    const std::byte one{};
    std::string reason;
    CHECK_FALSE(
        write_cache_file(folder.path / "new.cache", {&one, kMaxCacheBytes + kOurHeader + 1}, &reason));
    CHECK(reason.find("too large") != std::string::npos);
    CHECK(folder.files() == 1);
}

TEST_CASE("two processes that write simultaneously leave one complete file") {
    const Folder folder;
    const fs::path file = folder.path / "c.cache";
    const CacheIdentity me = some_device();
    const Bytes payloads[2] = {driver_blob(me, 30000, 1), driver_blob(me, 70000, 2)};
    const Bytes files[2] = {encode_cache(me, payloads[0]), encode_cache(me, payloads[1])};
    REQUIRE(write_cache_file(file, files[0], nullptr));
    pid_t children[2];
    for (std::size_t who = 0; who < 2; ++who) {
        children[who] = ::fork();
        REQUIRE(children[who] >= 0);
        if (children[who] != 0) continue;
        bool good = true;
        for (int i = 0; i < 50; ++i) good = write_cache_file(file, files[who], nullptr) && good;
        ::_exit(good ? 0 : 1);
    }
    std::size_t running = 2, looks = 0;
    while (running > 0 || looks == 0) {
        const Bytes seen = content(file);
        REQUIRE((seen == files[0] || seen == files[1]));
        REQUIRE(accepted(me, seen));
        ++looks;
        int status = 0;
        if (running > 0 && ::waitpid(-1, &status, WNOHANG) > 0) {
            CHECK(WIFEXITED(status));
            CHECK(WEXITSTATUS(status) == 0);
            --running;
        }
    }
    CHECK(folder.files() == 1);
}

TEST_CASE("the folder is the user's cache folder, never a relative one") {
    const struct {
        const char *cache, *home;
        const char* expected;
    } cases[] = {
        {"/x/cache", "/home/u", "/x/cache/weft"},
        {nullptr, "/home/u", "/home/u/.cache/weft"},
        {"", "/home/u", "/home/u/.cache/weft"},
        {"here", "/home/u", "/home/u/.cache/weft"},
        {nullptr, nullptr, ""},
        {nullptr, "", ""},
        {nullptr, "here", ""},
    };
    for (const auto& c : cases) {
        const Variable cache("XDG_CACHE_HOME", c.cache), home("HOME", c.home);
        CHECK(default_cache_dir() == fs::path(c.expected));
    }
}
