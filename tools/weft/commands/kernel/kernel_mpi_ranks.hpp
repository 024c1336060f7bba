// SPDX-License-Identifier: Apache-2.0
// What the commands over the ranks of mpirun share: the start and the end of MPI, errors, devices. Only in a
// build with MPI.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <weft/mpi/distributed.hpp>

#include "device/device_options.hpp"

namespace weft::tool {

/// Calls `work` between the start and the end of MPI. Errors: Failure on the rank where something is wrong,
/// with an empty text on the others. If a rank is missing, the process ends.
void over_ranks(const std::function<void(mpi::Ranks& ranks)>& work);

/// Calls `step` on all ranks; its Failures reach the other ranks too.
void told(mpi::Ranks& ranks, const std::function<void()>& step);

/// What this rank drives.
class RankTarget {
  public:
    RankTarget(const mpi::Ranks& ranks, const DeviceOptions& options);
    mpi::RankDevices devices();
    const DeviceInfo& device() { return first().device(); }
    Backend& first() { return several_ ? (*several_)[0] : *one_; }

  private:
    std::optional<Backend> one_;
    std::optional<Devices> several_;
};

}  // namespace weft::tool
