// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_matrix/tile_store.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <weft/error.hpp>

namespace weft::kernels {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& file, const std::string& what, int error) {
    throw Error(
        Errc::io,
        "kernel_matrix: " + file.string() + ": " + what + ": " + std::generic_category().message(error),
        error);
}

struct stat status_of(const core::FileDescriptor& file, const fs::path& path) {
    struct stat status {};
    if (fstat(file.get(), &status) != 0) fail(path, "cannot be read", errno);
    return status;
}

core::FileDescriptor open_file(const fs::path& path, int flags) {
    // A pipe must not block, and a link of another user must not lead elsewhere.
    core::FileDescriptor file(
        ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | flags, 0666));
    if (file.get() < 0) {
        if (errno == ENOENT && (flags & O_CREAT) == 0) return file;
        fail(path, "cannot be written", errno);
    }
    if (!S_ISREG(status_of(file, path).st_mode))
        throw Error(Errc::io, "kernel_matrix: " + path.string() + ": cannot be written: not a regular file");
    return file;
}

void clear(const core::FileDescriptor& file, const fs::path& path) {
    if (ftruncate(file.get(), 0) != 0) fail(path, "cannot be written", errno);
}

fs::path with_ending(fs::path path, const char* ending) {
    path += ending;
    return path;
}

fs::path resolved(const fs::path& path) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(fs::absolute(path, error), error);
    return error ? path : real;
}

}  // namespace

void reserve_file(int file, std::uint64_t bytes, const fs::path& path) {
    const core::NoWriteSignals quiet;
    // Some file systems reserve by writing, and would fill the disk before they report that it is too small.
    struct statvfs disk {};
    if (fstatvfs(file, &disk) == 0 && disk.f_blocks != 0) {
        const std::uint64_t room =
            std::uint64_t{geteuid() == 0 ? disk.f_bfree : disk.f_bavail} * disk.f_frsize;
        if (bytes > room)
            throw Error(Errc::io,
                        "kernel_matrix: " + path.string() + ": no room on the disk (got " +
                            std::to_string(room) + " bytes, need " + std::to_string(bytes) + ")",
                        ENOSPC);
    }
    if (const int error = posix_fallocate(file, 0, static_cast<off_t>(bytes)); error != 0)
        fail(path, "no room for " + std::to_string(bytes) + " bytes", error);
}

SharedMapping::SharedMapping(int file, std::uint64_t bytes, const fs::path& path) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) fail(path, "cannot be mapped", errno);
    bytes_ = {static_cast<std::byte*>(memory), bytes};
}

SharedMapping::~SharedMapping() {
    if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

TileStore::TileStore(const fs::path& file, const KernelMatrixShape& shape, ElementType type,
                     std::uint64_t tile_bytes)
    : shape_(shape),
      type_(type),
      tile_bytes_(tile_bytes),
      npy_(matrix_npy_header(shape, type)),
      target_(resolved(file)),
      part_(with_ending(target_, ".part")),
      file_of_records_(with_ending(target_, ".tiles")) {
    if (file.empty())
        throw Error(Errc::invalid_argument, "KernelMatrixStore: no file (got an empty path, need one)");
    std::error_code ignored;
    if (fs::is_directory(target_, ignored)) fail(file, "cannot be written", EISDIR);
    if (fs::exists(target_, ignored) && !fs::is_regular_file(target_, ignored))
        throw Error(Errc::io,
                    "kernel_matrix: " + target_.string() + ": cannot be written: not a regular file");
    open_records();
    require(file_facts(shape, type));
}

TileStore::~TileStore() {
    // Nobody else has the lock, so the file that this object made and never used is still its own.
    if (fresh_) unlink(file_of_records_.c_str());
}

void TileStore::open_records() {
    std::error_code ignored;
    for (;;) {
        const bool of_store = fs::exists(file_of_records_, ignored);
        // Whoever makes FILE.part has made the records before.
        if (!of_store && fs::exists(part_, ignored))
            throw Error(Errc::io, "kernel_matrix: " + part_.string() +
                                      ": is there without the records of a tile store, " +
                                      file_of_records_.string() + " (remove it or name another K)");
        lock_ = open_file(file_of_records_, O_CREAT);
        const int error = core::try_lock(lock_, file_of_records_);
        if (error == 0) break;
        if (error == EWOULDBLOCK)
            throw Error(Errc::io,
                        "kernel_matrix: " + file_of_records_.string() +
                            ": another KernelMatrixStore, of this process or another, has this K (need one "
                            "at a time)",
                        EWOULDBLOCK);
        // Another process may have finished, and removed the file.
        if (error != ESTALE) fail(file_of_records_, "cannot be locked", error);
    }
    const auto size = static_cast<std::uint64_t>(status_of(lock_, file_of_records_).st_size);
    fresh_ = size == 0;
    if (fresh_) return;
    const SharedMapping file(lock_.get(), size, file_of_records_);
    DecodedStore decoded = decode_store(file.bytes());
    if (decoded.foreign)
        throw Error(Errc::io, "kernel_matrix: " + file_of_records_.string() + ": " + decoded.refused +
                                  " (remove it or name another K)");
    if (!decoded.refused.empty()) return;  // damaged: every tile is made again
    header_ = std::move(decoded.header);
    records_at_ = decoded.records_at;
    std::memcpy(&last_, file.bytes().data() + size - sizeof last_, sizeof last_);
}

void TileStore::refuse_another(const std::string& what) const {
    throw Error(Errc::invalid_argument, "kernel_matrix: the tile store is of another " + what + "; remove " +
                                            part_.string() + " and " + file_of_records_.string() +
                                            " to begin again");
}

void TileStore::require(std::span<const StoreFact> facts) const {
    if (!has_facts()) return;
    if (const std::string what = facts_differ(header_.facts, facts); !what.empty()) refuse_another(what);
}

bool TileStore::renamed_already() const {
    struct stat there {};
    return last_.mark == mark_of(header_.tiles, last_.sum) && stat(target_.c_str(), &there) == 0 &&
           there.st_ino == last_.sum && static_cast<std::uint64_t>(there.st_size) == value_bytes();
}

void TileStore::begin(StoreFacts facts, std::vector<StoreTile> tiles) {
    require(facts);
    const bool continues = has_facts() && header_.tiles == tiles.size();
    tiles_ = std::move(tiles);
    // The process was killed when K had its name and the records were still there.
    if (continues && renamed_already()) std::rename(target_.c_str(), part_.c_str());
    values_file_ = open_file(part_, 0);
    if (continues && values_file_.get() >= 0 &&
        static_cast<std::uint64_t>(status_of(values_file_, part_).st_size) == value_bytes()) {
        values_ = SharedMapping(values_file_.get(), value_bytes(), part_);
        records_map_ = SharedMapping(lock_.get(), store_bytes(records_at_, header_.tiles), file_of_records_);
        std::memcpy(values_.bytes().data(), npy_.data(), npy_.size());
        judge_tiles();
        return;
    }
    header_ = {std::move(facts), tiles_.size()};
    make_anew();
}

void TileStore::make_anew() {
    const bool own_part = values_file_.get() < 0;
    try {
        clear(lock_, file_of_records_);  // from here on nothing is claimed about the values
        if (own_part) values_file_ = open_file(part_, O_CREAT);
        clear(values_file_, part_);
        reserve_file(values_file_.get(), value_bytes(), part_);
        values_ = SharedMapping(values_file_.get(), value_bytes(), part_);
        std::memcpy(values_.bytes().data(), npy_.data(), npy_.size());
        write_records();
        fresh_ = false;
    } catch (...) {
        // Nothing is lost: there was nothing to continue.
        values_ = {};
        values_file_ = {};
        tiles_.clear();
        header_ = {};
        unlink(part_.c_str());
        fresh_ = true;
        throw;
    }
}

void TileStore::write_records() {
    const std::vector<std::byte> header = encode_store(header_);
    records_at_ = header.size();
    const std::uint64_t bytes = store_bytes(records_at_, header_.tiles);
    reserve_file(lock_.get(), bytes, file_of_records_);
    records_map_ = SharedMapping(lock_.get(), bytes, file_of_records_);
    std::memcpy(records_map_.bytes().data(), header.data(), header.size());
}

std::span<StoreRecord> TileStore::records() const noexcept {
    // Mapped memory begins at a page, and headers are whole records.
    return {reinterpret_cast<StoreRecord*>(records_map_.bytes().data() + records_at_), tiles_.size() + 1};
}

std::span<std::byte> TileStore::values() const noexcept {
    return values_.bytes().empty() ? std::span<std::byte>() : values_.bytes().subspan(npy_.size());
}

std::uint64_t TileStore::sum_of(const StoreTile& tile) const noexcept {
    ContentSum sum;
    const std::uint64_t unit = type_.bytes(), leading = shape_.columns();
    const auto add = [&](const KernelBlock& block) {
        for (std::uint64_t row = 0; row < block.rows; ++row)
            sum.add(
                values().subspan(((block.row + row) * leading + block.column) * unit, block.columns * unit));
    };
    const KernelBlock& b = tile.block;
    add(b);
    if (tile.mirrored) add({b.column, b.columns, b.row, b.rows});
    return sum.value();
}

void TileStore::judge_tiles() {
    const std::span<StoreRecord> all = records();
    all.back() = {};
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
        if (all[i].mark != mark_of(i, all[i].sum)) {
            damaged_ += all[i].mark != 0;
            all[i] = {};
        } else if (sum_of(tiles_[i]) != all[i].sum) {
            ++damaged_;
            all[i] = {};
        } else {
            ++kept_;
        }
    }
}

std::vector<std::size_t> TileStore::missing() const {
    std::vector<std::size_t> missing;
    const std::span<StoreRecord> all = records();
    for (std::size_t i = 0; i < tiles_.size(); ++i)
        if (all[i].mark == 0) missing.push_back(i);
    return missing;
}

void TileStore::put(std::size_t tile) noexcept {
    StoreRecord& record = records()[tile];
    record.sum = sum_of(tiles_[tile]);
    // A killed process leaves what it has stored in the mapping; the mark must not come before the rest.
    std::atomic_ref(record.mark).store(mark_of(tile, record.sum), std::memory_order_release);
}

void TileStore::finish() {
    if (begun() && values().empty())
        throw Error(Errc::invalid_argument,
                    "kernel_matrix: the tile store is finished (need one call of finish)");
    if (!begun() || !missing().empty())
        throw Error(Errc::invalid_argument,
                    "kernel_matrix: the tile store is not complete (got " +
                        (begun() ? std::to_string(missing().size()) + " missing tiles" : "no tiles") +
                        "; call kernel_matrix with it first)");
    const struct stat status = status_of(values_file_, part_);
    records().back() = {status.st_ino, mark_of(tiles_.size(), status.st_ino)};
    if (fdatasync(values_file_.get()) != 0) fail(part_, "cannot be written", errno);
    struct stat old {};
    if (stat(target_.c_str(), &old) == 0) {  // the new file keeps owner and permissions, where it may
        static_cast<void>(fchown(values_file_.get(), old.st_uid, old.st_gid) == 0);
        static_cast<void>(fchmod(values_file_.get(), old.st_mode & 0777));
    }
    if (std::rename(part_.c_str(), target_.c_str()) != 0) fail(target_, "cannot be replaced", errno);
    unlink(file_of_records_.c_str());
    values_ = {};
    records_map_ = {};
    values_file_ = {};
}

}  // namespace weft::kernels
