// SPDX-License-Identifier: Apache-2.0
// Calls that the backends of a Devices share. Includes nothing of Vulkan, so that the op families can use it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include <weft/batch.hpp>
#include <weft/devices.hpp>
#include <weft/program.hpp>

#include "devices/shared_call.hpp"

namespace weft::core {

/// Where settings that are the same for all devices, and their number of threads, are read.
inline Backend& first_backend(Backend& backend) {
    return backend;
}
/// The first that is not lost. Errors: device_lost.
Backend& first_backend(Devices& devices);

/// One Program for all devices that are not lost. Errors: what `make` throws; device_lost.
Program program_for_all(Devices& devices, const std::function<Program(Backend& backend)>& make);

/// run_batch whose progress counts units() of each job instead of jobs, and of a job that is done in part the
/// same part of them.
using UnitsOf = std::function<std::uint64_t(std::size_t job)>;
BatchReport run_counted(Backend& backend, const Program& program, std::span<const Job> jobs,
                        const BatchOptions& options, const UnitsOf& units);
BatchReport run_counted(Devices& devices, const Program& program, std::span<const Job> jobs,
                        const BatchOptions& options, const UnitsOf& units);

/// Does a share on a backend and returns what it did. Called on the device's own thread, for one share after
/// the other.
using ShareWorker = std::function<OpReport(Backend& backend, const Share& share, ShareWatch& watch)>;
using SharedCall = SharedCallOf<ShareWorker>;

/// Returns the sum of what the devices did. Errors: as of any devices.
OpReport run_shares(Devices& devices, const SharedCall& call);

}  // namespace weft::core
