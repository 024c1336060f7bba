// SPDX-License-Identifier: Apache-2.0
// Compiled shaders that are kept on disk: hits, and everything that must be a miss.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <weft/glsl.hpp>

#include "glsl/cache_folder.hpp"
#include "glsl/shaderc_front.hpp"
#include "support/child_process.hpp"
#include "support/error_text.hpp"
#include "support/scratch_folder.hpp"

namespace fs = std::filesystem;
using namespace weft_test;
using weft::compile_glsl;
using weft::GlslSource;
using weft::SpirV;

namespace {

std::string storing(const std::string& value) {
    return "layout(local_size_x = 64) in;\nlayout(set = 0, binding = 0) buffer X { uint x[]; };\n"
           "void main() { x[gl_GlobalInvocationID.x] = " +
           value + "; }\n";
}

/// A source that includes value.glsl, which is in the second of two folders, and a separate cache.
struct Project {
    ScratchFolder folder;
    GlslSource source;

    Project() {
        folder.write("two/value.glsl", "#define VALUE 5u\n");
        fs::create_directories(folder.path() / "one");
        source.file = folder.write("a.comp", "#version 450\n#include \"value.glsl\"\n" + storing("VALUE"));
        source.include_dirs = {folder.path() / "one", folder.path() / "two"};
        source.cache = true;
        source.cache_dir = folder.path() / "cache";
    }
    std::vector<fs::path> entries() const {
        std::vector<fs::path> files;
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(source.cache_dir / "glsl", none))
            files.push_back(entry.path());
        return files;
    }
    /// Compiles twice: the first time is a miss with the given reason, the second one a hit with the same
    /// words.
    std::vector<std::uint32_t> misses_then_hits(const std::string& reason = "") const {
        const SpirV first = compile_glsl(source);
        CHECK_FALSE(first.from_cache);
        CAPTURE(first.cache_note);
        CHECK(
            (reason.empty() ? first.cache_note.empty() : first.cache_note.find(reason) != std::string::npos));
        const SpirV second = compile_glsl(source);
        CHECK(second.from_cache);
        CHECK(second.cache_note == "");
        CHECK(second.words == first.words);
        CHECK(second.name == first.name);
        CHECK(second.included == first.included);
        CHECK(second.warnings == first.warnings);
        return second.words;
    }
};

}  // namespace

TEST_CASE("glsl cache: the second time is a hit with everything the first one had") {
    Project project;
    project.source.text = "";
    project.folder.write(
        "a.comp",
        "#version 450\n#extension GL_no_such_thing : enable\n#include \"value.glsl\"\n" + storing("VALUE"));
    project.misses_then_hits();
    CHECK(compile_glsl(project.source).warnings != "");
    CHECK(compile_glsl(project.source).included ==
          std::vector<fs::path>{project.folder.path() / "two/value.glsl"});
    CHECK(project.entries().size() == 1);
}

TEST_CASE("glsl cache: everything that a result depends on is checked again") {
    Project project;
    const auto five = project.misses_then_hits();
    project.folder.write("two/value.glsl", "#define VALUE 6u\n");
    const auto six = project.misses_then_hits("two/value.glsl has changed");
    CHECK(six != five);
    // A new file that comes first in the order of folders is found although no other file changed.
    const fs::path first = project.folder.write("one/value.glsl", "#define VALUE 7u\n");
    const auto seven = project.misses_then_hits("one/value.glsl has changed");
    CHECK(seven != six);
    fs::remove(first);
    CHECK(project.misses_then_hits("has changed") == six);
    project.folder.write("a.comp", "#version 450\n" + storing("5u"));
    CHECK(project.misses_then_hits() == five);
}

TEST_CASE("glsl cache: different options have different results") {
    Project project;
    project.misses_then_hits();
    project.source.macros = {{"UNUSED", "1"}};
    project.misses_then_hits();
    project.source.optimization = weft::GlslOptimization::none;
    project.misses_then_hits();
    project.source.debug_info = true;
    project.misses_then_hits();
    CHECK(project.entries().size() == 4);
}

TEST_CASE("glsl cache: errors are not kept and are reported again") {
    Project project;
    project.folder.write("two/value.glsl", "#define VALUE nothing\n");
    for (int i = 0; i < 2; ++i)
        CHECK(error_text(weft::Errc::invalid_shader, [&] {
                  compile_glsl(project.source);
              }).find("'nothing'") != std::string::npos);
    CHECK(project.entries().empty());
}

TEST_CASE("glsl cache: damaged, foreign and unsafe entries are compiled again and replaced") {
    Project project;
    const auto words = project.misses_then_hits();
    REQUIRE(project.entries().size() == 1);
    const fs::path entry = project.entries()[0];
    const std::string good = read_whole(entry);
    const auto put = [&](std::string_view bytes) { std::ofstream(entry, std::ios::binary) << bytes; };

    put("");
    CHECK(project.misses_then_hits("truncated") == words);
    put(good.substr(0, good.size() / 2));
    CHECK(project.misses_then_hits("truncated") == words);
    std::string bad = good;
    bad[good.size() - 3] ^= 1;
    put(bad);
    CHECK(project.misses_then_hits("checksum") == words);
    put(std::string(1000, 'x'));
    CHECK(project.misses_then_hits("not a compiled shader") == words);
    fs::permissions(entry, fs::perms::others_write, fs::perm_options::add);
    CHECK(project.misses_then_hits("other users") == words);
    fs::remove(entry);
    REQUIRE(::mkfifo(entry.c_str(), 0600) == 0);
    CHECK(project.misses_then_hits("not an ordinary file") == words);
    fs::remove(entry);
    project.misses_then_hits();
    fs::resize_file(entry, (32u << 20) + 1);
    CHECK(project.misses_then_hits("too large") == words);
}

TEST_CASE("glsl cache: only this user can access folders and files") {
    Project project;
    project.misses_then_hits();
    const auto mode = [](const fs::path& path) {
        struct stat status {};
        REQUIRE(::stat(path.c_str(), &status) == 0);
        return status.st_mode & 07777;
    };
    CHECK(mode(project.source.cache_dir) == 0700);
    CHECK(mode(project.source.cache_dir / "glsl") == 0700);
    CHECK(mode(project.entries().at(0)) == 0600);
}

TEST_CASE("glsl cache: if nothing can be written the shader is still compiled") {
    Project project;
    project.source.cache_dir = project.folder.write("a_file", "x");
    for (int i = 0; i < 2; ++i) {
        const SpirV spirv = compile_glsl(project.source);
        CHECK_FALSE(spirv.words.empty());
        CHECK_FALSE(spirv.from_cache);
        CHECK(spirv.cache_note.find("a_file") != std::string::npos);
    }
}

TEST_CASE("glsl cache: off means neither read nor written") {
    Project project;
    project.misses_then_hits();
    project.source.cache = false;
    CHECK_FALSE(compile_glsl(project.source).from_cache);
    CHECK(project.entries().size() == 1);
    project.source.macros = {{"UNUSED", "1"}};
    compile_glsl(project.source);
    CHECK(project.entries().size() == 1);
}

TEST_CASE("glsl cache: a hit makes an entry the newest, and the oldest are evicted") {
    Project project;
    std::vector<fs::path> entries;
    for (const char* value : {"1", "2", "3"}) {
        project.source.macros = {{"UNUSED", value}};
        compile_glsl(project.source);
        for (const fs::path& file : project.entries())
            if (std::find(entries.begin(), entries.end(), file) == entries.end()) entries.push_back(file);
    }
    REQUIRE(entries.size() == 3);
    const auto now = fs::file_time_type::clock::now();
    for (std::size_t i = 0; i < 3; ++i)
        fs::last_write_time(entries[i], now - std::chrono::hours(30 - static_cast<int>(i)));
    project.source.macros = {{"UNUSED", "1"}};
    CHECK(compile_glsl(project.source).from_cache);
    weft::glsl::trim_folder(project.source.cache_dir / "glsl", weft::glsl::kMaxCacheBytes, 2);
    CHECK(fs::exists(entries[0]));
    CHECK_FALSE(fs::exists(entries[1]));
    CHECK(fs::exists(entries[2]));
    weft::glsl::trim_folder(project.source.cache_dir / "glsl", 0, 100);
    CHECK(project.entries().empty());
}

TEST_CASE("glsl cache: threads that compile and change the same entry always get the right words") {
    Project project;
    const auto words = compile_glsl(project.source).words;
    std::atomic<bool> stop{false};
    std::thread vandal([&] {
        for (int i = 0; !stop; ++i)
            for (const fs::path& entry : project.entries()) {
                std::error_code gone;
                if (i % 2 == 0) fs::remove(entry, gone);
                if (i % 2 == 1) fs::resize_file(entry, 60, gone);
            }
    });
    std::vector<int> right(4);
    std::vector<std::thread> threads;
    for (int& count : right)
        threads.emplace_back([&] {
            for (int round = 0; round < 30; ++round)
                count += compile_glsl(project.source).words == words ? 1 : 0;
        });
    for (std::thread& thread : threads) thread.join();
    stop = true;
    vandal.join();
    CHECK(right == std::vector<int>(4, 30));
}

TEST_CASE("child: glsl cache of a new process") {
    // The variables give the folder, the source that the parent compiled, and the expected result.
    const GlslSource source{.file = std::getenv("WEFT_TEST_FILE")};
    if (std::getenv("WEFT_TEST_REFUSED") != nullptr) {
        CHECK(error_text(weft::Errc::invalid_argument, [&] {
                  compile_glsl(source);
              }).find("WEFT_CACHE must") != std::string::npos);
        return;
    }
    const SpirV spirv = compile_glsl(source);
    CHECK(spirv.from_cache == (std::getenv("WEFT_TEST_HIT") != nullptr));
    CHECK(spirv.from_cache != weft::glsl::compiler_started());
}

TEST_CASE("glsl cache: the environment decides if nothing else does, and a hit starts no compiler") {
    const ScratchFolder folder;
    const std::string file = folder.write("a.comp", "#version 450\n" + storing("1u")).string();
    const std::string cache = (folder.path() / "cache").string();
    const auto run = [&](std::vector<std::pair<std::string, std::string>> variables) {
        variables.emplace_back("WEFT_TEST_FILE", file);
        return run_case("child: glsl cache of a new process", variables);
    };
    CHECK(run({{"WEFT_CACHE_DIR", cache}, {"WEFT_CACHE", "0"}}) == 0);
    CHECK_FALSE(fs::exists(cache));
    CHECK(run({{"WEFT_CACHE_DIR", cache}}) == 0);
    CHECK(run({{"WEFT_CACHE_DIR", cache}, {"WEFT_TEST_HIT", "1"}}) == 0);
    CHECK(run({{"WEFT_CACHE_DIR", cache}, {"WEFT_CACHE", "0"}}) == 0);
    CHECK(run({{"WEFT_CACHE_DIR", ""}, {"XDG_CACHE_HOME", cache}}) == 0);
    CHECK(fs::exists(cache + "/weft/glsl"));
    CHECK(run({{"WEFT_CACHE_DIR", cache}, {"WEFT_CACHE", "maybe"}, {"WEFT_TEST_REFUSED", "1"}}) == 0);
    // Invalid variables of the engine do not affect the compiler.
    CHECK(run({{"WEFT_CACHE_DIR", cache}, {"WEFT_SLOTS", "none"}, {"WEFT_TEST_HIT", "1"}}) == 0);
}

TEST_CASE("glsl cache: a child forked in the middle of compilations compiles too") {
    Project project;
    project.source.cache = false;
    const auto words = compile_glsl(project.source).words;
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
        threads.emplace_back([&] {
            while (!stop) compile_glsl(project.source);
        });
    std::vector<int> exits;
    for (int i = 0; i < 10; ++i) {
        const pid_t child = fork();
        if (child == 0) _exit(compile_glsl(project.source).words == words ? 0 : 1);
        exits.push_back(await_exit(child, std::chrono::seconds(30)));
    }
    stop = true;
    for (std::thread& thread : threads) thread.join();
    CHECK(exits == std::vector<int>(10, 0));
}
