// SPDX-License-Identifier: Apache-2.0
// How jobs are cut into chunks, and which way the bytes of a bundle go. Pure functions over plain data.
#pragma once

#include <cstdint>

#include "plan/work/batch_settings.hpp"
#include "plan/work/job_check.hpp"

namespace weft::core {

/// A bundle holds at most this many chunks.
inline constexpr std::size_t kMaxBundleChunks = 16;

/// The way of one bundle of chunks.
struct Route {
    Path path = Path::staged;
    bool copies = true;          // through the upload and download queues into device memory
    bool mapped_device = false;  // without copies: unpinned inputs are written into mapped device memory
    bool import = false;         // ordinary spans are imported rather than copied by the host
};

/// A chunk of a job: elements [first, first + count).
struct Chunk {
    std::uint64_t job = 0;  // sequence number
    std::uint64_t first = 0, count = 0;
};

/// `pinned`: every span of the bundle is page-locked already.
Route choose_route(const BatchSettings& settings, const DeviceSnapshot& device, std::uint64_t bundle_bytes,
                   bool pinned);

/// Elements that a chunk of this job may have, at least 1. `copies`: its bytes go through the transfer
/// queues.
std::uint64_t chunk_limit(const ProgramNeeds& program, const DeviceLimits& limits,
                          const BatchSettings& settings, const Job& job, bool copies);

/// Elements of the next chunk where upload, kernel and download overlap: at most `limit` and what is left of
/// the job. A batch begins and ends with small chunks, which fill and drain the pipeline sooner, and grows to
/// large ones between: never more than has been started before, nor than half of what remains.
std::uint64_t taper(std::uint64_t limit, std::uint64_t job_left, std::uint64_t element_bytes,
                    std::uint64_t started_bytes, std::uint64_t remaining_bytes);

/// Bytes up to which neighbouring chunks share a bundle: fewer submissions for small jobs, while enough
/// bundles remain to keep every slot busy.
std::uint64_t bundle_limit(const BatchSettings& settings);

}  // namespace weft::core
