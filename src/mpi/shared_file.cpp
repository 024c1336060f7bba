// SPDX-License-Identifier: Apache-2.0
#include "mpi/shared_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include <weft/error.hpp>

#include "base/file_io.hpp"
#include "ops/kernel_matrix/store_tiles.hpp"
#include "ops/kernel_matrix/tile_store.hpp"

namespace weft::mpi {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
    throw Error(Errc::io, "kernel_matrix: " + file.string() + ": cannot be written: " + what);
}

void check_file(int status, const fs::path& file) {
    if (status == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(status, text, &length);
    fail(file, std::string(text, static_cast<std::size_t>(length)));
}

}  // namespace

SharedFile::SharedFile(RanksState& ranks, const fs::path& file, const KernelMatrixShape& shape,
                       ElementType type)
    : ranks_(ranks), shape_(shape), type_(type) {
    std::error_code ignored;
    target_ = fs::weakly_canonical(fs::absolute(file, ignored), ignored);
    part_ = target_;
    part_ += ".mpi.part";
    values_at_ = kernels::matrix_npy_header(shape, type).size();
    try {
        ranks.together([&] {
            if (ranks.rank() == 0) make();
        });
        ranks.together([&] { ranks.maps_files() ? map() : open(); });
    } catch (...) {
        if (lock_.get() >= 0) unlink(part_.c_str());
        throw;
    }
}

void SharedFile::make() {
    if (target_.empty())
        throw Error(Errc::invalid_argument, "kernel_matrix: k: no file (got an empty path, need one)");
    if (fs::is_directory(target_)) fail(target_, "a folder, not a file");
    // What a run that was killed has left is begun anew; what another run writes is not touched.
    core::FileDescriptor file;
    int error = ESTALE;
    while (error == ESTALE) {
        file = core::FileDescriptor(::open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
        if (file.get() < 0) fail(part_, std::generic_category().message(errno));
        error = core::try_lock(file, part_);
    }
    if (error == EWOULDBLOCK)
        throw Error(Errc::io, "kernel_matrix: " + part_.string() +
                                  ": another run over ranks makes this K (need one at a time)");
    lock_ = std::move(file);
    if (ftruncate(lock_.get(), 0) != 0) fail(part_, std::generic_category().message(errno));
    const std::string header = kernels::matrix_npy_header(shape_, type_);
    kernels::reserve_file(lock_.get(), header.size() + shape_.values() * type_.bytes(), part_);
    if (pwrite(lock_.get(), header.data(), header.size(), 0) != static_cast<ssize_t>(header.size()))
        fail(part_, std::generic_category().message(errno));
}

void SharedFile::map() {
    const core::FileDescriptor file(::open(part_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (file.get() < 0) fail(part_, std::generic_category().message(errno));
    mapping_ = kernels::SharedMapping(file.get(), values_at_ + shape_.values() * type_.bytes(), part_);
}

void SharedFile::open() {
    // Of this rank alone: opening and closing with others would wait for one that died.
    check_file(MPI_File_open(MPI_COMM_SELF, part_.c_str(), MPI_MODE_WRONLY, MPI_INFO_NULL, &file_), part_);
}

SharedFile::~SharedFile() {
    if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
    if (!finished_ && lock_.get() >= 0) unlink(part_.c_str());
}

HostArray SharedFile::mapped() const noexcept {
    if (mapping_.bytes().empty()) return {nullptr, 0, type_};
    return {mapping_.bytes().data() + values_at_, shape_.values(), type_};
}

void SharedFile::write(const kernels::KernelBlock& block, const std::byte* values, std::uint64_t leading) {
    const std::scoped_lock lock(mutex_);
    const MPI_Datatype number = type_ == kFloat64 ? MPI_DOUBLE : MPI_FLOAT;
    const std::uint64_t unit = type_.bytes(), columns = shape_.columns();
    const auto put = [&](std::uint64_t row, std::uint64_t column, const std::byte* from,
                         std::uint64_t count) {
        const auto at = static_cast<MPI_Offset>(values_at_ + (row * columns + column) * unit);
        check_file(MPI_File_write_at(file_, at, from, static_cast<int>(count), number, MPI_STATUS_IGNORE),
                   part_);
    };
    // Whole rows that lie side by side are one write, of at most 64 MiB.
    constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
    const bool whole = leading == block.columns && block.columns == columns;
    const std::uint64_t together = whole ? std::max<std::uint64_t>(1, kMostBytes / (columns * unit)) : 1;
    for (std::uint64_t row = 0; row < block.rows; row += together) {
        const std::uint64_t rows = std::min(together, block.rows - row);
        put(block.row + row, block.column, values + row * leading * unit, rows * block.columns);
    }
}

void SharedFile::finish() {
    ranks_.together([&] {
        mapping_ = {};
        if (file_ == MPI_FILE_NULL) return;
        check_file(MPI_File_sync(file_), part_);
        check_file(MPI_File_close(&file_), part_);
    });
    ranks_.together([&] {
        if (ranks_.rank() == 0 && std::rename(part_.c_str(), target_.c_str()) != 0)
            fail(target_, std::generic_category().message(errno));
    });
    finished_ = true;
}

}  // namespace weft::mpi
