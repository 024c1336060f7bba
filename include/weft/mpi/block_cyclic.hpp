// SPDX-License-Identifier: Apache-2.0
// Kernel matrices into arrays that ranks hold in parts, as ScaLAPACK has it.
//
// Example:
//     MPI_Init(nullptr, nullptr);
//     weft::mpi::Ranks ranks;
//     const weft::mpi::BlockCyclic layout{.grid_rows = 1, .grid_columns = ranks.size()};
//     const auto part = weft::mpi::local_part(layout, ranks.rank(), {.samples = 5000, .qubits = 6});
#pragma once

#include <array>
#include <cstdint>

#include <weft/array.hpp>
#include <weft/mpi/ranks.hpp>
#include <weft/ops/kernel_matrix.hpp>

namespace weft::mpi {

/// A matrix that is cut into square blocks, which are dealt to a grid of ranks in turns, as ScaLAPACK has it.
/// Rank r is in row r / grid_columns and column r % grid_columns of the grid.
struct BlockCyclic {
    int grid_rows = 1, grid_columns = 1;  ///< their product is the number of ranks
    std::uint32_t block = 256;            ///< rows and columns of a block, a multiple of 64
};
/// The part of a rank: column-major, and `rows` is the distance of its columns.
struct LocalPart {
    std::uint64_t rows = 0, columns = 0;
    std::uint64_t values() const noexcept { return rows * columns; }
};
/// Errors: invalid_argument - a grid of no ranks, a rank that it has not, a block of no rows.
LocalPart local_part(const BlockCyclic& layout, int rank, const KernelMatrixShape& shape);
/// ScaLAPACK's descriptor of K on that rank, for its pdpotrf and others. `context` is that of BLACS, of a
/// grid in row-major order. Errors: as above; also if K has 2^31 rows or columns, or more.
std::array<int, 9> scalapack_descriptor(const BlockCyclic& layout, int rank, const KernelMatrixShape& shape,
                                        int context);

enum class Triangle {
    both,
    lower,  ///< of a square K: blocks above the diagonal are left as they are, and are not computed
};

/// kernel_matrix of features or states that are the same on every rank into local arrays: `k` is the part of
/// this rank, float32 or float64. Every rank makes its own blocks, so nothing is sent; of a square K with
/// both triangles each value is computed twice. Values are those of one process, bit for bit. Closed forms
/// are computed in whole rows, of which a rank keeps its own columns.
///
/// Errors: as weft::kernel_matrix; invalid_argument - ranks differ, a grid that the ranks do not fill, a
/// block that is no multiple of 64 or larger than the plan's, a part of another size, Triangle::lower with Y.
OpReport kernel_matrix(Ranks& ranks, RankDevices devices, const KernelMatrixCircuit& circuit,
                       const ConstHostArray& x, const BlockCyclic& layout, const HostArray& k,
                       const KernelMatrixShape& shape, Triangle triangle = Triangle::both,
                       const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Ranks& ranks, RankDevices devices, const KernelMatrixCircuit& circuit,
                       const ConstHostArray& x, const ConstHostArray& y, const BlockCyclic& layout,
                       const HostArray& k, const KernelMatrixShape& shape, Triangle triangle = Triangle::both,
                       const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Ranks& ranks, RankDevices devices, const ConstHostArray& states,
                       const BlockCyclic& layout, const HostArray& k, const KernelMatrixShape& shape,
                       Triangle triangle = Triangle::both, const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Ranks& ranks, RankDevices devices,
                       const weft::detail::GivenStates<ConstHostArray>& states, const ConstHostArray& others,
                       const BlockCyclic& layout, const HostArray& k, const KernelMatrixShape& shape,
                       Triangle triangle = Triangle::both, const KernelMatrixHostOptions& options = {});

}  // namespace weft::mpi
