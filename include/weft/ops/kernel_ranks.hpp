// SPDX-License-Identifier: Apache-2.0
// Kernel operators and solvers that several processes share, whatever carries their numbers: each makes its
// rows of every product and keeps its rows of all vectors. <weft/mpi/distributed.hpp> does it with MPI.
//
// Example:
//     weft::Backend backend;
//     const std::vector<float> x(500 * 6, 0.5f), v(500, 1.0f);    // the same in every process
//     std::vector<float> out(500);
//     const weft::KernelOperator k(backend, {}, x, {.samples = 500, .qubits = 6});
//     weft::kernel_apply(backend, k, weft::KernelRanks{}, v, out);  // one process, which needs no functions
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include <weft/ops/kernel_operator.hpp>
#include <weft/ops/kernel_solve.hpp>

namespace weft {

/// The processes that share a call. All make the same calls in the same order with the same arguments, which
/// nothing here checks, and so all reach the functions below in the same order. With one process they may be
/// empty.
struct KernelRanks {
    std::uint32_t rank = 0, size = 1;
    /// Adds up the numbers of all ranks, element by element. All ranks must get the same bits, because they
    /// decide by them.
    std::function<void(std::span<double> numbers)> sum;
    /// Completes `all` on every rank: rank r has filled in bytes[r] bytes, which lie after those of the ranks
    /// before it.
    std::function<void(std::span<std::byte> all, std::span<const std::uint64_t> bytes)> gather;
    /// Calls `step` on every rank. Throws on all if it throws on one, so that no rank waits in the functions
    /// above for one that has left.
    std::function<void(const std::function<void()>& step)> together;
};

/// Rows of a rank.
struct KernelRankRows {
    std::uint64_t first = 0, last = 0;
};
/// The rows of [0, rows) that a rank makes: consecutive over the ranks, a multiple of 64 except for the last.
/// With fewer than 64 rows for each, some ranks have none. Errors: invalid_argument - no such rank.
KernelRankRows kernel_rank_rows(std::uint64_t rows, std::uint32_t rank, std::uint32_t size);

/// kernel_apply over ranks: each makes its rows of the result, which then has all rows on every rank. `v` and
/// `out` are whole. A symmetric product makes both triangles, so that a value of K is made twice.
///
/// OpReport::items and `progress` count the pairs of this rank. Errors: as kernel_apply;
/// invalid_argument - a function of `ranks` is missing; what its functions throw.
OpReport kernel_apply(Backend& backend, const KernelOperator& k, const KernelRanks& ranks,
                      const ConstHostArray& v, const HostArray& out,
                      const KernelApplyHostOptions& options = {});
OpReport kernel_apply(Devices& devices, const KernelOperator& k, const KernelRanks& ranks,
                      const ConstHostArray& v, const HostArray& out,
                      const KernelApplyHostOptions& options = {});

/// kernel_solve over ranks: the preconditioner's memory and work, those of the vectors, and the products are
/// shared by rows. `y` and `alpha` are whole on every rank. Errors: as kernel_solve and above.
KernelSolveReport kernel_solve(Backend& backend, const KernelOperator& k, const KernelRanks& ranks,
                               const ConstHostArray& y, const HostArray& alpha,
                               const KernelSolveOptions& options = {});
KernelSolveReport kernel_solve(Devices& devices, const KernelOperator& k, const KernelRanks& ranks,
                               const ConstHostArray& y, const HostArray& alpha,
                               const KernelSolveOptions& options = {});

/// kernel_eigen over ranks, in the same way. `vectors` are whole on every rank.
KernelEigenReport kernel_eigen(Backend& backend, const KernelOperator& k, const KernelRanks& ranks,
                               const HostArray& values, const HostArray& vectors,
                               const KernelEigenOptions& options = {});
KernelEigenReport kernel_eigen(Devices& devices, const KernelOperator& k, const KernelRanks& ranks,
                               const HostArray& values, const HostArray& vectors,
                               const KernelEigenOptions& options = {});

}  // namespace weft
