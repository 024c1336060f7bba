// SPDX-License-Identifier: Apache-2.0
// Work that processes of several machines share through MPI. A rank drives one device, or several; only host
// memory is sent, so that every MPI library works.
//
// Example:
//     MPI_Init(nullptr, nullptr);
//     weft::mpi::Ranks ranks;
//     weft::Backend backend{ranks.config()};
//     const std::vector<float> x(500 * 6, 0.5f);  // the same on every rank
//     weft::mpi::kernel_matrix(ranks, backend, {}, x, "k.npy", {.samples = 500, .qubits = 6});
#pragma once

// The C++ functions that MPI has had long ago are not used.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <weft/array.hpp>
#include <weft/backend.hpp>
#include <weft/batch.hpp>
#include <weft/config.hpp>
#include <weft/devices.hpp>
#include <weft/job.hpp>
#include <weft/ops/kernel_matrix.hpp>
#include <weft/ops/kernel_ranks.hpp>
#include <weft/program.hpp>

namespace weft::mpi {

class RanksState;

struct RanksOptions {
    /// Seconds after which a rank that does not come to a common step counts as dead. Must exceed the time of
    /// a few tiles or jobs, because ranks come when they have finished theirs.
    double timeout_s = 600;
    /// How ranks write a file of K: through a mapping, or MPI-IO. A file must not be mapped on several
    /// machines. automatic: mapped if all ranks are on one machine.
    Choice map_files = Choice::automatic;
};

/// The ranks that work together. Move-only; belongs to the thread that may call MPI (MPI_THREAD_FUNNELED).
///
/// Its functions and those below are collective: all ranks call them in the same order. First they check that
/// all ranks pass the same shapes, options and inputs. If one rank fails, all ranks throw: that rank its own
/// error, the others an Error with the same code whose text begins with "rank N: ".
///
/// A rank that dies or hangs: MPI's starter ends the others, or they throw device_lost, with the ranks that
/// are missing, after RanksOptions::timeout_s. Call MPI_Abort then, because MPI_Finalize would wait.
class Ranks {
  public:
    /// MPI must be initialized, and be finalized after the last Ranks. Errors: driver - MPI reports an error;
    /// invalid_argument - a time limit that is not positive.
    explicit Ranks(MPI_Comm communicator = MPI_COMM_WORLD, const RanksOptions& options = {});
    Ranks(Ranks&&) noexcept;
    Ranks& operator=(Ranks&&) noexcept;
    ~Ranks();

    int rank() const;
    int size() const;
    int rank_on_node() const;  ///< among the ranks of this machine
    bool lost() const;         ///< a rank is missing: end with MPI_Abort

    /// Settings for the Backend of this rank. Ranks of a machine take in turns the devices that
    /// Config::device names, separated by commas; if it is empty or "all", the GPUs, or else the software
    /// device. Not collective.
    Config config(Config config = Config::from_env()) const;
    /// Settings for a Devices of this rank: the ranks of a machine divide the same list, in order. With more
    /// ranks than devices each has one, in turns. Not collective.
    std::vector<Config> configs(Config config = Config::from_env()) const;

    /// Calls `step` on every rank and waits for all. Errors: as above, if it throws on a rank.
    void together(const std::function<void()>& step);

  private:
    friend struct detail::Access;
    RanksState& state() const;

    std::unique_ptr<RanksState> state_;
};

/// What makes the work of a rank: a Backend, or a Devices that shares it. Refers to either.
class RankDevices {
  public:
    RankDevices(Backend& backend) : backend_(&backend) {}  // NOLINT(google-explicit-constructor)
    RankDevices(Devices& devices) : devices_(&devices) {}  // NOLINT(google-explicit-constructor)

    /// Returns use(backend) or use(devices).
    template <class Use>
    decltype(auto) visit(const Use& use) const {
        return devices_ != nullptr ? use(*devices_) : use(*backend_);
    }
    std::size_t count() const { return devices_ != nullptr ? devices_->size() : 1; }

  private:
    Backend* backend_ = nullptr;
    Devices* devices_ = nullptr;
};

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
/// Errors: as above; invalid_argument - a grid that the ranks do not fill, a block that is no multiple of 64
/// or larger than the plan's, a part of another size, Triangle::lower with Y.
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
