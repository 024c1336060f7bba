// SPDX-License-Identifier: Apache-2.0
// A Backend and its pipeline cache on disk: cold, warm, damaged, unwritable, shared.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <weft/weft.hpp>

#include "support/child_process.hpp"
#include "support/gpu_fixture.hpp"
#include "support/scratch_folder.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::Program;
namespace fs = std::filesystem;

namespace {

weft::Config config_of(const ScratchFolder& folder) {
    weft::Config c = weft::Config::from_env();
    c.cache = true;
    c.cache_dir = folder.path();
    return c;
}

void write(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

/// Makes and destroys a backend: returns the state of the cache that it found, and checks that its pipelines
/// are right.
std::string live(const weft::Config& config, std::uint64_t* loaded = nullptr) {
    std::string state;
    on_device(
        [&](weft::Backend& backend) {
            state = backend.pipelines().disk_state;
            if (loaded != nullptr) *loaded = backend.pipelines().disk_bytes_loaded;
            const Program program(backend, kAffine);
            AffineWork work({1000});
            weft::run_batch(backend, program, work.jobs);
            CHECK(work.right());
            check_usable(backend);
        },
        config);
    return state;
}

}  // namespace

TEST_CASE("cache: absent, then saved at destruction and loaded") {
    const ScratchFolder folder;
    std::uint64_t loaded = 1;
    const std::string first = live(config_of(folder), &loaded);
    if (first.empty()) return;  // no device
    CHECK(first == "absent");
    CHECK(loaded == 0);
    REQUIRE(folder.files().size() == 1);
    CHECK(live(config_of(folder), &loaded) == "loaded");
    CHECK(loaded > 0);
    CHECK(loaded < fs::file_size(folder.files()[0]));
    CHECK(folder.files().size() == 1);
}

TEST_CASE("cache: damaged, truncated and foreign files are a miss with the reason, then replaced") {
    const ScratchFolder folder;
    if (live(config_of(folder)).empty()) return;
    const fs::path file = folder.files().at(0);
    const std::string good = read_whole(file);
    const auto flipped = [&](std::size_t at) {
        std::string bytes = good;
        bytes[at] = static_cast<char>(bytes[at] ^ 1);
        return bytes;
    };
    const std::pair<std::string, const char*> cases[] = {
        {"", "truncated"},
        {good.substr(0, 7), "truncated"},
        {good.substr(0, good.size() - 1), "length"},
        {good + "x", "length"},
        {flipped(0), "not a pipeline cache"},
        {flipped(8), "version"},
        {flipped(16), "another device"},
        {flipped(good.size() - 1), "checksum"},
        {std::string(1000, '\xff'), "not a pipeline cache"},
    };
    for (const auto& [bytes, reason] : cases) {
        CAPTURE(reason);
        write(file, bytes);
        std::uint64_t loaded = 1;
        CHECK(live(config_of(folder), &loaded).find(reason) != std::string::npos);
        CHECK(loaded == 0);
        CHECK(live(config_of(folder)) == "loaded");
    }
}

TEST_CASE("cache: a folder that cannot be made or written is no error") {
    const ScratchFolder folder;
    const fs::path regular = folder.path() / "file";
    write(regular, "not a folder");
    weft::Config config = config_of(folder);
    config.cache_dir = regular / "below";
    on_device(
        [](weft::Backend& backend) {
            CHECK(backend.pipelines().disk_state == "absent");
            const Program program(backend, kAffine);
            CHECK_FALSE(backend.save_pipeline_cache());
            check_usable(backend);
        },
        config);
    CHECK(read_whole(regular) == "not a folder");
}

TEST_CASE("cache: a folder with the name of the file is a miss") {
    const ScratchFolder folder;
    if (live(config_of(folder)).empty()) return;
    const fs::path file = folder.files().at(0);
    fs::remove(file);
    fs::create_directory(file);
    CHECK(live(config_of(folder)) == "a folder, not a file");
    CHECK(fs::is_directory(file));
    CHECK(folder.files().size() == 1);  // no temporary file is left
}

TEST_CASE("cache: off writes nothing") {
    const ScratchFolder folder;
    weft::Config config = config_of(folder);
    config.cache = false;
    on_device(
        [](weft::Backend& backend) {
            const Program program(backend, kAffine);
            CHECK(backend.pipelines().disk_state == "off");
            CHECK_FALSE(backend.save_pipeline_cache());
        },
        config);
    CHECK(folder.files().empty());
}

TEST_CASE("cache: two backends save one after the other and keep each other's pipelines") {
    const ScratchFolder folder;
    std::optional<weft::Backend> first = make_backend(config_of(folder));
    if (!first) return;
    weft::Backend second(config_of(folder));
    const Program mine(*first, kAffine), other(second, kSlow), third(second, kInPlace);
    CHECK(first->save_pipeline_cache());
    const auto alone = fs::file_size(folder.files().at(0));
    CHECK(second.save_pipeline_cache());
    const auto both = fs::file_size(folder.files().at(0));
    // Some drivers keep no pipelines in their caches; then both sizes are those of an empty cache.
    constexpr std::uintmax_t kEmpty = 100;
    if (alone > kEmpty)
        CHECK(both > alone);
    else
        CHECK(both == alone);
    CHECK(first->save_pipeline_cache());  // there is nothing new, so the file does not change
    CHECK(fs::file_size(folder.files().at(0)) == both);
}

TEST_CASE("child: saves the cache") {
    weft::Config config = weft::Config::from_env();
    config.validation = weft::Validation::off;
    for (int round = 0; round < 5; ++round) {
        const std::string state = live(config);
        CAPTURE(state);
        CHECK((state == "loaded" || state == "absent"));
    }
}

TEST_CASE("cache: processes that save in parallel leave a complete file") {
    const ScratchFolder folder;
    std::vector<pid_t> children;
    for (int i = 0; i < 3; ++i)
        children.push_back(
            start_case("child: saves the cache", {{"WEFT_CACHE_DIR", folder.path().string()}}));
    for (const pid_t child : children) CHECK(await_exit(child) == 0);
    if (folder.files().empty()) return;  // no device
    CHECK(folder.files().size() == 1);
    CHECK(live(config_of(folder)) == "loaded");
}
