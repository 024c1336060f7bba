// SPDX-License-Identifier: Apache-2.0
// The pipeline cache on disk with a driver that keeps pipelines: what is saved reaches the driver of the next
// start, and nothing else does.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fault/fixture.hpp"
#include "support/scratch_folder.hpp"

using namespace weft_test;
using weft_fault::FakeDriver;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

FakeDriver keeper() {
    return {.keep_pipelines = true, .cache_uuid = {{1, 2, 3}}, .driver_version = 7};
}

struct Start {
    std::string state, log;  // of the cache; lines at `info` and above
    std::uint64_t loaded = 0, compiled = 0;
    std::vector<std::string> given;  // to the driver, each call
    bool saved = true;
};

/// A backend on the device as described, which makes programs of these shaders and saves. `before_save` may
/// set failures.
Start start(
    const ScratchFolder& folder, const FakeDriver& fake,
    const std::vector<std::span<const std::uint32_t>>& shaders,
    const std::function<void()>& before_save = [] {}) {
    const Watchdog watchdog("start");
    control().reset();
    control().lie(fake);
    Start result;
    weft::Config config = fault_config();
    config.cache = true;
    config.cache_dir = folder.path();
    config.log_level = weft::LogLevel::info;
    config.log = [&](weft::LogLevel, std::string_view line) { result.log += std::string(line) + "\n"; };
    {
        weft::Backend backend(config);
        result.state = backend.pipelines().disk_state;
        result.loaded = backend.pipelines().disk_bytes_loaded;
        result.given = control().cache_data();
        for (const auto& shader : shaders) const weft::Program program(backend, shader);
        result.compiled = control().compiled();
        before_save();
        result.saved = backend.save_pipeline_cache();
    }
    check_nothing_left();
    control().reset();
    return result;
}

/// The payload behind weft's header.
std::string payload_of(const fs::path& file) {
    constexpr std::size_t kHeader = 8 + 4 + 4 + 3 * 4 + 16 + 8 + 8;
    return read_whole(file).substr(kHeader);
}

bool told(const Start& start, const std::string& reason) {
    return start.log.find("is not used: ") != std::string::npos &&
           start.log.find(reason) != std::string::npos;
}

}  // namespace

TEST_CASE("saved pipelines: the next start gives the driver what was saved, and compiles nothing") {
    const ScratchFolder folder;
    const Start first = start(folder, keeper(), {kAffine, kSlow});
    CHECK(first.state == "absent");
    CHECK(first.given == std::vector<std::string>{""});
    CHECK(first.compiled == 2);
    CHECK(first.saved);
    REQUIRE(folder.files().size() == 1);
    const std::string payload = payload_of(folder.files()[0]);
    CHECK(payload.size() == 32 + 2 * 8);
    const Start second = start(folder, keeper(), {kSlow, kAffine});
    CHECK(second.state == "loaded");
    CHECK(second.loaded == payload.size());
    CHECK(second.given == std::vector<std::string>{payload});
    CHECK(second.compiled == 0);
    const Start third = start(folder, keeper(), {kSlow, kInPlace});
    CHECK(third.compiled == 1);
    CHECK(payload_of(folder.files().at(0)).size() == 32 + 3 * 8);
    CHECK(start(folder, keeper(), {kAffine, kSlow, kInPlace}).compiled == 0);
}

TEST_CASE("saved pipelines: a file that is not this driver's, damaged or not ours is a miss that is told") {
    const ScratchFolder folder;
    start(folder, keeper(), {kAffine});
    const fs::path file = folder.files().at(0);
    const std::string good = read_whole(file);
    const auto changed = [&](std::size_t at) {
        std::string bytes = good;
        bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
        return bytes;
    };
    std::vector<std::pair<std::string, std::string>> cases = {
        {good.substr(0, good.size() - 8), "wrong length"}, {good.substr(0, 20), "truncated"}};
    for (std::size_t at = 0; at < good.size(); at += 5) cases.emplace_back(changed(at), "");
    for (const auto& [bytes, reason] : cases) {
        CAPTURE(reason);
        write(file, bytes);
        const Start miss = start(folder, keeper(), {kAffine});
        CHECK(told(miss, reason));
        CHECK(miss.loaded == 0);
        CHECK(miss.given == std::vector<std::string>{""});
        CHECK(miss.compiled == 1);
        CHECK(read_whole(file) == good);  // replaced
    }
    fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
    const Start shared = start(folder, keeper(), {kAffine});
    CHECK(told(shared, "can be written by other users"));
    CHECK(shared.given == std::vector<std::string>{""});
    CHECK(read_whole(file) == good);
    CHECK((fs::status(file).permissions() & fs::perms::others_write) == fs::perms::none);
    if (::geteuid() != 0) return;  // only root gives files away
    REQUIRE(::chown(file.c_str(), 65534, 65534) == 0);
    const Start foreign = start(folder, keeper(), {kAffine});
    CHECK(foreign.given == std::vector<std::string>{""});
    CHECK(start(folder, keeper(), {kAffine}).compiled == 0);
}

TEST_CASE("saved pipelines: another driver, version or UUID has a file of its own, and refuses this one") {
    FakeDriver other_uuid = keeper(), other_version = keeper(), other_vendor = keeper();
    other_uuid.cache_uuid = {{1, 2, 4}};
    other_version.driver_version = 8;
    other_vendor.vendor = 0x10de;
    for (const FakeDriver& other : {other_uuid, other_version, other_vendor}) {
        const ScratchFolder folder;
        start(folder, keeper(), {kAffine});
        const fs::path mine = folder.files().at(0);
        const std::string good = read_whole(mine);
        const Start first = start(folder, other, {kAffine});
        CHECK(first.state == "absent");
        CHECK(first.compiled == 1);
        REQUIRE(folder.files().size() == 2);
        for (const fs::path& file : folder.files())
            if (file != mine) fs::copy_file(mine, file, fs::copy_options::overwrite_existing);
        const Start second = start(folder, other, {kAffine});
        CHECK(told(second, "belongs to another device or driver"));
        CHECK(second.given == std::vector<std::string>{""});
        CHECK(read_whole(mine) == good);
        CHECK(start(folder, other, {kAffine}).state == "loaded");
    }
}

TEST_CASE("saved pipelines: a driver that refuses the data starts with an empty cache") {
    const ScratchFolder folder;
    start(folder, keeper(), {kAffine});
    const std::string good = read_whole(folder.files().at(0));
    const Watchdog watchdog("refused");
    control().reset();
    control().lie(keeper());
    control().fail({weft_fault::Calls::named, "vkCreatePipelineCache", 0, weft_fault::kInitializationFailed});
    weft::Config config = fault_config();
    config.cache = true;
    config.cache_dir = folder.path();
    {
        weft::Backend backend(config);
        control().fail_no_more();
        CHECK(backend.pipelines().disk_state == "refused by the driver");
        CHECK(backend.pipelines().disk_bytes_loaded == 0);
        const weft::Program program(backend, kAffine);
        CHECK(control().compiled() == 1);
    }
    check_nothing_left();
    control().reset();
    CHECK(read_whole(folder.files().at(0)) == good);
}

TEST_CASE("saved pipelines: a save replaces the file, or leaves it as it was") {
    const ScratchFolder folder;
    start(folder, keeper(), {kAffine});
    const fs::path file = folder.files().at(0);
    const std::string good = read_whole(file);
    for (const std::uint64_t index : {0u, 1u}) {  // the size, the data
        CAPTURE(index);
        const Start failed = start(folder, keeper(), {kSlow}, [&] {
            control().fail({weft_fault::Calls::named, "vkGetPipelineCacheData", index,
                            weft_fault::kOutOfHostMemory, true});
        });
        CHECK_FALSE(failed.saved);
        CHECK(read_whole(file) == good);
        CHECK(folder.files().size() == 1);
    }
    // Whoever has the old file open reads it to its end, because the new one is another file.
    const int open_file = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(open_file >= 0);
    CHECK(start(folder, keeper(), {kSlow}).saved);
    std::string old(good.size() + 1, '\0');
    CHECK(::pread(open_file, old.data(), old.size(), 0) == static_cast<ssize_t>(good.size()));
    old.resize(good.size());
    CHECK(old == good);
    struct stat before {
    }, after{};
    REQUIRE(::fstat(open_file, &before) == 0);
    REQUIRE(::stat(file.c_str(), &after) == 0);
    CHECK(before.st_ino != after.st_ino);
    ::close(open_file);
    CHECK(payload_of(file).size() == 32 + 2 * 8);
    CHECK(folder.files().size() == 1);
}

TEST_CASE("saved pipelines: of two backends the second one to save keeps what the first one saved") {
    const ScratchFolder folder;
    const Watchdog watchdog("two");
    control().reset();
    control().lie(keeper());
    weft::Config config = fault_config();
    config.cache = true;
    config.cache_dir = folder.path();
    {
        weft::Backend first(config), second(config);
        const weft::Program mine(first, kAffine), other(second, kSlow);
        CHECK(first.save_pipeline_cache());
        CHECK(second.save_pipeline_cache());
    }
    check_nothing_left();
    control().reset();
    CHECK(payload_of(folder.files().at(0)).size() == 32 + 2 * 8);
    CHECK(start(folder, keeper(), {kAffine, kSlow}).compiled == 0);
}
