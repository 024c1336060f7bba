// SPDX-License-Identifier: Apache-2.0
// A store without a device: processes that fill tiles and are killed at any moment.
#include "ops/kernel_matrix/tile_store.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <thread>

#include "support/error_text.hpp"
#include "support/scratch_folder.hpp"

namespace fs = std::filesystem;
using namespace weft::kernels;
using weft::Errc;
using weft::KernelMatrixShape;
using weft_test::check_error;
using weft_test::read_whole;
using weft_test::ScratchFolder;

namespace {

constexpr KernelMatrixShape kShape{200, 0, 3};
constexpr std::size_t kTiles = 10;  // of 64 rows and columns, on and below the diagonal
const StoreFacts kFacts{{"samples", "200"}, {"others", "0"}, {"type", "float32"}, {"scale", "1"}};

std::vector<StoreTile> tiles_of_64() {
    KernelMatrixPlan plan;
    plan.shape = kShape;
    plan.method = weft::KernelMatrixMethod::states;
    plan.states.tile = plan.states.block = 64;
    return store_tiles(plan, {.rows = 64});
}

float value_at(std::uint64_t i, std::uint64_t j) {
    return static_cast<float>(std::max(i, j) * 1000 + std::min(i, j));
}

struct Store : TileStore {
    explicit Store(const fs::path& file, const StoreFacts& facts = kFacts)
        : TileStore(file, kShape, weft::kFloat32, 1) {
        begin(facts, tiles_of_64());
    }
    void fill(std::size_t tile) {
        const KernelBlock b = tiles()[tile].block;
        auto* k = reinterpret_cast<float*>(values().data());
        for (std::uint64_t i = b.row; i < b.row + b.rows; ++i)
            for (std::uint64_t j = b.column; j < b.column + b.columns; ++j) {
                k[i * 200 + j] = value_at(i, j);
                k[j * 200 + i] = value_at(i, j);
            }
        put(tile);
    }
};

std::string whole_file() {
    std::string file = matrix_npy_header(kShape, weft::kFloat32);
    for (std::uint64_t i = 0; i < 200; ++i)
        for (std::uint64_t j = 0; j < 200; ++j) {
            const float value = value_at(i, j);
            file.append(reinterpret_cast<const char*>(&value), 4);
        }
    return file;
}

/// Runs `work` in a child process. Returns its pid.
template <class Work>
pid_t in_child(const Work& work) {
    const pid_t child = fork();
    if (child != 0) return child;
    try {
        work();
    } catch (...) {
        _exit(3);
    }
    _exit(0);
}

/// The exit code, or the negative number of the signal that ended it.
int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void flip_byte(const fs::path& file, std::uint64_t at) {
    std::fstream io(file, std::ios::in | std::ios::out | std::ios::binary);
    io.seekg(static_cast<std::streamoff>(at));
    const int byte = io.get();
    io.seekp(static_cast<std::streamoff>(at));
    io.put(static_cast<char>(byte ^ 0x40));
}

}  // namespace

TEST_CASE("K appears whole, and nothing stays beside it") {
    const ScratchFolder folder;
    const fs::path k = folder.write("k.npy", "what was there before");
    {
        Store store(k);
        CHECK(store.missing().size() == kTiles);
        check_error(Errc::invalid_argument, "10 missing tiles", [&] { store.finish(); });
        for (const std::size_t tile : store.missing()) store.fill(tile);
        CHECK(read_whole(k) == "what was there before");
        store.finish();
        CHECK(store.values().empty());
        check_error(Errc::invalid_argument, "finished", [&] { store.finish(); });
    }
    CHECK(read_whole(k) == whole_file());
    CHECK(folder.files().size() == 1);
}

TEST_CASE("after a kill at any moment the next process makes what is missing, and K is the same") {
    // In memory, where there is such a folder: elsewhere nearly all kills would find a process that waits for
    // the disk.
    const ScratchFolder folder(fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path());
    const fs::path k = folder.path() / "k.npy";
    const std::string want = whole_file();
    // Tiles made since K was begun, counted across processes.
    auto* const made = static_cast<std::uint32_t*>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    REQUIRE(made != MAP_FAILED);
    const auto work = [&] {
        Store store(k);
        for (const std::size_t tile : store.missing()) {
            ++*made;
            store.fill(tile);
        }
        store.finish();
    };
    std::mt19937 random(7);
    std::uniform_int_distribution<std::uint32_t> numbers_of_tiles(0, 4), microseconds(0, 200);
    std::uint32_t kills = 0, of_this_k = 0;
    while (kills < 100) {
        if (fs::exists(k) && !fs::exists(k.string() + ".tiles")) {  // a run came to its end before its kill
            CHECK(read_whole(k) == want);
            CHECK(*made >= kTiles);
            CHECK(*made <= kTiles + of_this_k);  // at most the tile under way is made again
            fs::remove(k);
            *made = of_this_k = 0;
        }
        // Some time after so many tiles, so that kills come in every step however busy the machine is.
        const std::uint32_t tiles = *made + numbers_of_tiles(random);
        const pid_t child = in_child(work);
        siginfo_t ended{};
        while (__atomic_load_n(made, __ATOMIC_RELAXED) < tiles && ended.si_pid == 0) {
            waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT);
            std::this_thread::yield();
        }
        std::this_thread::sleep_for(std::chrono::microseconds(microseconds(random)));
        kill(child, SIGKILL);
        const int end = wait_for(child);
        CHECK((end == 0 || end == -SIGKILL));
        if (end != -SIGKILL) continue;
        ++kills;
        ++of_this_k;
        if (fs::exists(k)) CHECK(read_whole(k) == want);  // the name belongs to a whole K alone
    }
    CHECK(wait_for(in_child(work)) == 0);
    CHECK(read_whole(k) == want);
    munmap(made, 4096);
}

TEST_CASE("a process that is killed between name and records has finished K") {
    const ScratchFolder folder;
    const fs::path k = folder.path() / "k.npy";
    {
        Store store(k);
        for (const std::size_t tile : store.missing()) store.fill(tile);
        fs::copy_file(k.string() + ".tiles", folder.path() / "kept");
        store.finish();
    }
    // The records as they were, with the number of the finished file.
    std::string records = read_whole(folder.path() / "kept");
    struct stat status {};
    REQUIRE(stat(k.c_str(), &status) == 0);
    const StoreRecord last{status.st_ino, mark_of(kTiles, status.st_ino)};
    std::memcpy(records.data() + records.size() - sizeof last, &last, sizeof last);
    folder.write("k.npy.tiles", records);
    Store store(k);
    CHECK(store.kept() == kTiles);
    CHECK(store.missing().empty());
    store.finish();
    CHECK(read_whole(k) == whole_file());
}

TEST_CASE("damaged tiles and damaged records are found and made again") {
    const ScratchFolder folder;
    const fs::path k = folder.path() / "k.npy";
    const std::size_t header = matrix_npy_header(kShape, weft::kFloat32).size();
    const auto fill_all = [&] {
        Store store(k);
        for (const std::size_t tile : store.missing()) store.fill(tile);
    };
    fill_all();
    flip_byte(k.string() + ".part", header + (100 * 200 + 10) * 4);   // tile (64, 0)
    flip_byte(k.string() + ".part", header + (130 * 200 + 199) * 4);  // the image of tile (192, 128)
    flip_byte(k.string() + ".part", 3);                               // the header is written anew
    {
        Store store(k);
        CHECK(store.kept() == kTiles - 2);
        CHECK(store.damaged() == 2);
        CHECK(store.missing().size() == 2);
        for (const std::size_t tile : store.missing()) store.fill(tile);
    }
    flip_byte(k.string() + ".tiles", fs::file_size(k.string() + ".tiles") - 2 * sizeof(StoreRecord) + 1);
    {
        Store store(k);
        CHECK(store.damaged() == 1);
        CHECK(store.missing() == std::vector<std::size_t>{kTiles - 1});
    }
    flip_byte(k.string() + ".tiles", 40);  // the header: nothing is known any more
    {
        Store store(k);
        CHECK(store.missing().size() == kTiles);
        for (const std::size_t tile : store.missing()) store.fill(tile);
    }
    fs::resize_file(k.string() + ".part", 1000);
    Store store(k);
    CHECK(store.missing().size() == kTiles);
    for (const std::size_t tile : store.missing()) store.fill(tile);
    store.finish();
    CHECK(read_whole(k) == whole_file());
}

TEST_CASE("another call is refused by name, and changes nothing") {
    const ScratchFolder folder;
    const fs::path k = folder.path() / "k.npy";
    { Store(k).fill(4); }
    const std::string part = read_whole(k.string() + ".part"), tiles = read_whole(k.string() + ".tiles");
    StoreFacts other = kFacts;
    other[3].value = "2";
    check_error(
        Errc::invalid_argument,
        "kernel_matrix: the tile store is of another scale (the store has 1, the call has 2); remove ",
        [&] { Store store(k, other); });
    check_error(Errc::invalid_argument, "another samples (the store has 200, the call has 100)", [&] {
        TileStore(k, {100, 0, 3}, weft::kFloat32, 1);
    });
    check_error(Errc::invalid_argument, "another type (the store has float32, the call has float64)",
                [&] { TileStore(k, kShape, weft::kFloat64, 1); });
    CHECK(read_whole(k.string() + ".part") == part);
    CHECK(read_whole(k.string() + ".tiles") == tiles);
    CHECK(Store(k).kept() == 1);
}

TEST_CASE("of two runs on one store the second is refused") {
    const ScratchFolder folder;
    const fs::path k = folder.path() / "k.npy";
    std::optional<Store> first(k);
    first->fill(0);
    check_error(Errc::io, "another KernelMatrixStore, of this process or another, has this K",
                [&] { Store second(k); });
    const pid_t child = in_child([&] { Store second(k); });
    CHECK(wait_for(child) == 3);
    first->fill(1);
    first.reset();
    CHECK(Store(k).kept() == 2);
}

TEST_CASE("files that are no store, folders and missing folders are refused") {
    const ScratchFolder folder;
    const fs::path k = folder.path() / "k.npy";
    folder.write("k.npy.tiles", "my notes");
    check_error(Errc::io, "it is no tile store", [&] { Store store(k); });
    check_error(Errc::invalid_argument, "KernelMatrixStore: no file (got an empty path, need one)",
                [] { Store store(""); });
    CHECK(read_whole(k.string() + ".tiles") == "my notes");
    {  // a file of another program, which nobody has asked to replace
        folder.write("other.npy.part", "my download");
        check_error(Errc::io, "is there without the records of a tile store",
                    [&] { Store store(folder.path() / "other.npy"); });
        CHECK(read_whole((folder.path() / "other.npy.part").string()) == "my download");
        fs::remove(folder.path() / "other.npy.part");
    }
    check_error(Errc::io, "cannot be written", [&] { Store store(folder.path()); });
    check_error(Errc::io, "cannot be written", [&] { Store store(folder.path() / "none" / "k.npy"); });
    check_error(Errc::io, "not a regular file", [&] { Store store("/dev/null"); });
    CHECK(folder.files().size() == 1);
}

TEST_CASE("a store that was only opened leaves nothing") {
    const ScratchFolder folder;
    { const TileStore store(folder.path() / "k.npy", kShape, weft::kFloat32, 1); }
    CHECK(folder.files().empty());
}

TEST_CASE("a disk that is too small ends a new store with the sizes, and an old one needs no room") {
    const ScratchFolder folder;
    const fs::path k = folder.path() / "k.npy";
    const auto limited = [&](const StoreFacts& facts) {
        const rlimit limit{100000, 100000};
        setrlimit(RLIMIT_FSIZE, &limit);
        try {
            Store store(k, facts);
            for (const std::size_t tile : store.missing()) store.fill(tile);
            store.finish();
        } catch (const weft::Error& error) {
            const std::string text = error.what();
            _exit(error.code() == Errc::io && text.find("no room for 160128 bytes") != text.npos ? 4 : 5);
        }
    };
    CHECK(wait_for(in_child([&] { limited(kFacts); })) == 4);
    CHECK(folder.files().empty());
    { Store(k).fill(7); }
    CHECK(wait_for(in_child([&] { limited(kFacts); })) == 0);
    CHECK(read_whole(k) == whole_file());
}

TEST_CASE("a link stays, and the file that it names is replaced with its permissions") {
    const ScratchFolder folder;
    const fs::path real = folder.write("real.npy", "old"), k = folder.path() / "k.npy";
    fs::permissions(real, fs::perms::owner_read | fs::perms::owner_write);
    fs::create_symlink("real.npy", k);
    Store store(k);
    for (const std::size_t tile : store.missing()) store.fill(tile);
    store.finish();
    CHECK(fs::is_symlink(k));
    CHECK(read_whole(real) == whole_file());
    CHECK(fs::status(real).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    CHECK(folder.files().size() == 2);
}
