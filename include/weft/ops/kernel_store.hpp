// SPDX-License-Identifier: Apache-2.0
// Kernel matrices that go to a .npy file tile by tile, and continue where a run that was killed has ended.
//
// Example:
//     weft::Backend backend;
//     const std::vector<float> x(500 * 6, 0.5f);  // [samples, qubits], radians
//     const weft::KernelMatrixShape shape{.samples = 500, .qubits = 6};
//     weft::KernelMatrixStore k{"k.npy", shape};
//     weft::kernel_matrix(backend, {}, x, k, shape);  // makes the tiles that are missing
//     k.finish();                                     // k.npy is there
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include <weft/array.hpp>
#include <weft/batch.hpp>
#include <weft/ops/kernel_matrix.hpp>

namespace weft {

namespace kernels {
class TileStore;
}

struct KernelMatrixStoreOptions {
    /// About the size of a tile of a new store, which is what a kill may lose on each device. Tiles have 64
    /// rows or more.
    std::uint64_t tile_bytes = std::uint64_t{128} << 20;
};

/// K in a file that survives the process. K grows in FILE.part, with the size that it will have, and
/// FILE.tiles has a checksum of each finished tile and what the tiles were made from. finish() gives K its
/// name and removes FILE.tiles. Move-only; belongs to one thread at a time.
///
/// A process may be killed at any moment: the next one, with the same call, makes the missing tiles alone,
/// and K has the same bits as without interruption. Tiles with another checksum are made again. Errors
/// leave the store as it is.
class KernelMatrixStore {
  public:
    /// Opens the store of that K, or makes one. `type` is float32 or float64. Errors: invalid_argument -
    /// shape or type, also if those of the store are others; io - another object, of any process, has the
    /// store open, FILE.part is there without FILE.tiles, or files cannot be made there.
    explicit KernelMatrixStore(const std::filesystem::path& file, const KernelMatrixShape& shape,
                               ElementType type = kFloat32, const KernelMatrixStoreOptions& options = {});
    KernelMatrixStore(KernelMatrixStore&&) noexcept;
    KernelMatrixStore& operator=(KernelMatrixStore&&) noexcept;
    /// Keeps the finished tiles for a later run.
    ~KernelMatrixStore();

    /// Numbers of tiles: of K, those which kernel_matrix found whole, and those which it found damaged. 0
    /// before that call.
    std::uint64_t tiles() const noexcept;
    std::uint64_t kept() const noexcept;
    std::uint64_t damaged() const noexcept;

    /// K in the mapped file; whole after kernel_matrix. Empty before that call and after finish().
    HostArray values() const noexcept;
    /// Errors: invalid_argument - K is not whole; io.
    void finish();

  private:
    friend struct detail::Access;
    kernels::TileStore& state() const;  ///< Errors: invalid_argument - moved from.

    std::unique_ptr<kernels::TileStore> store_;
};

/// kernel_matrix of features or states in host memory into a store. OpReport::items counts the pairs that
/// this call made, and so does progress. Errors: as kernel_matrix; invalid_argument - the store has tiles of
/// another X, Y, circuit or option, or of another device, driver or version of weft: the text names it; io -
/// there is no room on the disk, which is found before any tile is made.
OpReport kernel_matrix(Backend& backend, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       KernelMatrixStore& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Backend& backend, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const ConstHostArray& y, KernelMatrixStore& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Backend& backend, const ConstHostArray& states, KernelMatrixStore& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Backend& backend, const detail::GivenStates<ConstHostArray>& states,
                       const ConstHostArray& others, KernelMatrixStore& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});
/// On several devices, which must be of one kind.
OpReport kernel_matrix(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       KernelMatrixStore& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const ConstHostArray& y, KernelMatrixStore& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Devices& devices, const ConstHostArray& states, KernelMatrixStore& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Devices& devices, const detail::GivenStates<ConstHostArray>& states,
                       const ConstHostArray& others, KernelMatrixStore& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});

}  // namespace weft
