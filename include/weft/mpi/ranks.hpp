// SPDX-License-Identifier: Apache-2.0
// The ranks of MPI that work together. A rank drives one device, or several; only host memory is sent, so
// that every MPI library works.
//
// Example:
//     MPI_Init(nullptr, nullptr);
//     weft::mpi::Ranks ranks;
//     weft::Backend backend{ranks.config()};
#pragma once

// The C++ functions that MPI has had long ago are not used.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <weft/backend.hpp>
#include <weft/config.hpp>
#include <weft/devices.hpp>

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
/// Its functions are collective, as are those of <weft/mpi/distributed.hpp> and <weft/mpi/block_cyclic.hpp>:
/// all ranks call them in the same order. First they check that all ranks pass the same shapes, options and
/// inputs. If one rank fails, all ranks throw: that rank its own error, the others an Error with the same
/// code whose text begins with "rank N: ".
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

}  // namespace weft::mpi
