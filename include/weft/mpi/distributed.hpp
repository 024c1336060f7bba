// SPDX-License-Identifier: Apache-2.0
// Work that processes of several machines share through MPI: kernel matrices into one file, batches, and
// kernel operators.
//
// Example:
//     MPI_Init(nullptr, nullptr);
//     weft::mpi::Ranks ranks;
//     weft::Backend backend{ranks.config()};
//     const std::vector<float> x(500 * 6, 0.5f);  // the same on every rank
//     weft::mpi::kernel_matrix(ranks, backend, {}, x, "k.npy", {.samples = 500, .qubits = 6});
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include <weft/array.hpp>
#include <weft/batch.hpp>
#include <weft/job.hpp>
#include <weft/mpi/ranks.hpp>
#include <weft/ops/kernel_matrix.hpp>
#include <weft/ops/kernel_ranks.hpp>
#include <weft/program.hpp>

namespace weft::mpi {

/// kernel_matrix of features or states that are the same on every rank, into one .npy file that all ranks can
/// reach. `type` is that of K. Tiles are handed out by a shared counter, and every rank writes its own. K has
/// the bits of one process, and gets its name when it is whole; until then it is in FILE.mpi.part.
///
/// OpReport::items counts the pairs that this rank made. BatchOptions::progress reports the tiles that all
/// ranks have begun. Through MPI-IO (RanksOptions::map_files) the threads of several devices write one after
/// the other, which takes MPI_THREAD_SERIALIZED. Errors: as weft::kernel_matrix; invalid_argument - ranks
/// differ, the text names the first one and what differs; unsupported - MPI was initialized for one thread;
/// io - the file cannot be made or written.
OpReport kernel_matrix(Ranks& ranks, RankDevices devices, const KernelMatrixCircuit& circuit,
                       const ConstHostArray& x, const std::filesystem::path& k,
                       const KernelMatrixShape& shape, ElementType type = kFloat32,
                       const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Ranks& ranks, RankDevices devices, const KernelMatrixCircuit& circuit,
                       const ConstHostArray& x, const ConstHostArray& y, const std::filesystem::path& k,
                       const KernelMatrixShape& shape, ElementType type = kFloat32,
                       const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Ranks& ranks, RankDevices devices, const ConstHostArray& states,
                       const std::filesystem::path& k, const KernelMatrixShape& shape,
                       ElementType type = kFloat32, const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Ranks& ranks, RankDevices devices,
                       const weft::detail::GivenStates<ConstHostArray>& states, const ConstHostArray& others,
                       const std::filesystem::path& k, const KernelMatrixShape& shape,
                       ElementType type = kFloat32, const KernelMatrixHostOptions& options = {});

/// What a rank did of a batch.
struct RankBatch {
    std::vector<std::size_t> jobs;  ///< whose outputs are in this rank's memory, rising
    double wall_s = 0;              ///< from the first job to the last
};
/// run_batch of jobs that are described alike on every rank: the same number, and the same sizes. A shared
/// counter hands them out, and the rank that takes a job reads its inputs and writes its outputs. Options are
/// those of run_batch; progress reports the jobs that all ranks have begun.
RankBatch run_batch(Ranks& ranks, RankDevices devices, const Program& program, std::span<const Job> jobs,
                    const BatchOptions& options = {});

/// A KernelOperator on the devices of every rank, of features that are the same on every rank. Each rank
/// holds all samples, as <weft/ops/kernel_operator.hpp> has it. Errors: as KernelOperator; invalid_argument -
/// ranks differ.
KernelOperator kernel_operator(Ranks& ranks, RankDevices devices, const KernelMatrixCircuit& circuit,
                               const ConstHostArray& x, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options = {});
KernelOperator kernel_operator(Ranks& ranks, RankDevices devices, const KernelMatrixCircuit& circuit,
                               const ConstHostArray& x, const ConstHostArray& y,
                               const KernelMatrixShape& shape, const KernelOperatorOptions& options = {});
/// The same of states that are given.
KernelOperator kernel_operator(Ranks& ranks, RankDevices devices, const ConstHostArray& states,
                               const KernelMatrixShape& shape, const KernelOperatorOptions& options = {});
KernelOperator kernel_operator(Ranks& ranks, RankDevices devices,
                               const weft::detail::GivenStates<ConstHostArray>& states,
                               const ConstHostArray& others, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options = {});

/// kernel_apply, kernel_solve and kernel_eigen over ranks, with the operator that kernel_operator made on
/// each (<weft/ops/kernel_ranks.hpp>). Arrays are whole: inputs are the same on every rank, and so are
/// results. Results of 1, 2 and more ranks differ within the bound of docs/mpi.md. The first rank alone reads
/// and writes KernelSolveOptions::checkpoint. Errors: as those functions; invalid_argument - ranks differ.
OpReport kernel_apply(Ranks& ranks, RankDevices devices, const KernelOperator& k, const ConstHostArray& v,
                      const HostArray& out, const KernelApplyHostOptions& options = {});
KernelSolveReport kernel_solve(Ranks& ranks, RankDevices devices, const KernelOperator& k,
                               const ConstHostArray& y, const HostArray& alpha,
                               const KernelSolveOptions& options = {});
KernelEigenReport kernel_eigen(Ranks& ranks, RankDevices devices, const KernelOperator& k,
                               const HostArray& values, const HostArray& vectors,
                               const KernelEigenOptions& options = {});
/// kernel_predict over ranks: each predicts for its rows of `x_new`; `out` is whole on every rank.
OpReport kernel_predict(Ranks& ranks, RankDevices devices, const KernelMatrixCircuit& circuit,
                        const ConstHostArray& x_new, const ConstHostArray& x, const ConstHostArray& alpha,
                        const HostArray& out, const KernelMatrixShape& shape, const BatchOptions& batch = {});
/// The same of states that are given.
OpReport kernel_predict(Ranks& ranks, RankDevices devices, const ConstHostArray& states_new,
                        const ConstHostArray& states, const ConstHostArray& alpha, const HostArray& out,
                        const KernelMatrixShape& shape, const BatchOptions& batch = {});

}  // namespace weft::mpi
