// SPDX-License-Identifier: Apache-2.0
// How a batch is cut up and which way its bytes go. Pure functions over plain data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weft/batch.hpp>

#include "plan/device/device_plan.hpp"

namespace weft::core {

inline constexpr std::size_t kMaxBundleChunks = 16;

/// What a program asks of its jobs.
struct ProgramNeeds {
    std::span<const Binding> bindings;
    std::uint32_t push_constant_bytes = 0;
    std::uint32_t elements_per_workgroup = 1;
    std::uint32_t max_workgroups = 0;
    const char* name = "";
    bool folds = false;  // workgroups may go on along y
    std::uint32_t workgroups_per_element = 1;
};

/// BatchOptions with every blank filled in.
struct BatchSettings {
    BatchMode mode = BatchMode::pipelined;
    Path path = Path::automatic;
    bool split = false;
    bool stage_times = false;
    std::uint32_t slots = 3;
    std::uint64_t chunk_elements = 0;
    bool chunk_exact = false;
    std::uint64_t chunk_bytes = 0;  // not 0: cut by it instead, as exactly
    std::uint64_t total_bytes = 0;  // of the jobs known so far; decides how small chunks may be
    TransferPlan transfer;

    bool cuts_exactly() const { return chunk_exact || chunk_bytes != 0; }
};

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

std::uint64_t job_bytes_in(const Job& job);
std::uint64_t job_bytes_out(const Job& job);

/// Errors: invalid_argument - options out of range; unsupported - a path the device cannot take.
BatchSettings settle_options(const DevicePlan& plan, const DeviceSnapshot& device, const BatchOptions& options,
                      std::uint64_t total_bytes);

/// Errors as documented at run_batch; the text names job and span.
void check_job(const ProgramNeeds& program, const DeviceLimits& limits, const Job& job, std::uint64_t index);

/// Memory of a job, for finding overlaps between jobs.
struct JobSpan {
    std::uintptr_t begin = 0, end = 0;
    std::uint64_t job = 0;
    bool written = false;
};
void append_spans(const Job& job, std::uint64_t index, std::vector<JobSpan>& spans);
/// Refuses two spans of different jobs that share memory one of them writes, and spans of one job that
/// overlap where they are not the same. `spans` is sorted on return.
void check_overlaps(std::vector<JobSpan>& spans);

/// `pinned`: every span of the bundle is page-locked already.
Route choose_route(const BatchSettings& settings, const DeviceSnapshot& device, std::uint64_t bundle_bytes,
                   bool pinned);

/// Elements a chunk of this job may have, at least 1. `copies`: through the transfer queues; `pinned`:
/// without staging.
std::uint64_t chunk_limit(const ProgramNeeds& program, const DeviceLimits& limits,
                          const BatchSettings& settings, const Job& job, bool copies);

/// Elements of the next chunk where upload, kernel and download overlap: at most `limit` and what is left of
/// the job. A batch begins and ends with small chunks, which fill and drain the pipeline sooner, and grows to
/// large ones between: never more than has been started before, nor than half of what remains.
std::uint64_t taper(std::uint64_t limit, std::uint64_t job_left, std::uint64_t element_bytes,
                    std::uint64_t started_bytes, std::uint64_t remaining_bytes);

/// Bytes up to which neighbouring chunks share a bundle: fewer submissions for small jobs, while enough bundles
/// remain to keep every slot busy.
std::uint64_t workgroup_limit(const BatchSettings& settings);

}  // namespace weft::core
