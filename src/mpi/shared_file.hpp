// SPDX-License-Identifier: Apache-2.0
// A .npy file of K that all ranks write into, and that has its name when it is whole. Ranks of one machine
// map it, because the system lets one process at a time write into a file, but any number into its pages.
// Ranks of several machines write through MPI-IO, because each machine has pages of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>

#include "base/file_io.hpp"
#include "mpi/ranks_state.hpp"
#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops/kernel_matrix/tile_store.hpp"

namespace weft::mpi {

class SharedFile {
  public:
    /// Collective: the first rank makes the file and reserves its size. Errors: io, also if
    /// another run makes the same K.
    SharedFile(RanksState& ranks, const std::filesystem::path& file, const KernelMatrixShape& shape,
               ElementType type);
    /// The first rank removes a file that was not finished.
    ~SharedFile();
    SharedFile(const SharedFile&) = delete;
    SharedFile& operator=(const SharedFile&) = delete;

    /// K in the memory of this rank, where all ranks map the file; otherwise of size 0, and write() takes K.
    HostArray mapped() const noexcept;
    /// Rows of `values` are `leading` values apart. From any thread. Errors: io.
    void write(const kernels::KernelBlock& block, const std::byte* values, std::uint64_t leading);
    /// Collective: K gets its name. Errors: io.
    void finish();

  private:
    void make();
    void map();
    void open();

    RanksState& ranks_;
    KernelMatrixShape shape_;
    ElementType type_;
    std::filesystem::path target_, part_;
    core::FileDescriptor lock_;  // of the first rank, while it makes K
    std::uint64_t values_at_ = 0;
    kernels::SharedMapping mapping_;
    std::mutex mutex_;  // guards what follows, and calls of MPI
    MPI_File file_ = MPI_FILE_NULL;
    bool finished_ = false;
};

}  // namespace weft::mpi
