// SPDX-License-Identifier: Apache-2.0
// Bundles: how jobs are cut into chunks, which of them travel together and which way, and where each of their
// bytes is at every stage. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/copy_workers.hpp"
#include "plan/work/batch_check.hpp"
#include "plan/work/dispatch_plan.hpp"
#include "plan/work/host_range.hpp"

namespace weft::core {

/// A bundle holds at most this many chunks.
inline constexpr std::size_t kMaxBundleChunks = 16;

/// How the bytes of one bundle travel.
struct Route {
    Path path = Path::staged;
    bool copies = true;          // through the upload and download queues into device memory
    bool mapped_device = false;  // without copies: unpinned inputs are written into mapped device memory
    bool import = false;         // ordinary spans are imported rather than copied by the host
    const char* reason = "";     // why this path, for the log
};

/// A chunk of a job: elements [first, first + count).
struct Chunk {
    std::uint64_t job = 0;  // sequence number
    std::uint64_t first = 0, count = 0;
};

/// `pinned`: every span of the bundle is page-locked already.
Route choose_route(const BatchSettings& settings, const DeviceSnapshot& device, std::uint64_t bundle_bytes,
                   bool pinned);

/// Elements that a chunk of this job is to have at most, at least 1. `copies`: its bytes go through the
/// transfer queues. A chunk has more only where cut_chunk() says so.
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

struct BoundRange {
    const BufferObject* buffer = nullptr;
    std::uint32_t binding = 0;
    std::uint64_t offset = 0, bytes = 0;
};

struct ChunkDispatch {
    Chunk chunk;
    WorkgroupGrid workgroups;
    std::uint64_t part_workgroups = 0;  // the dispatch is cut into parts of so many; 0: it is not cut
    std::uint32_t bound_count = 0;
    std::array<BoundRange, 2 * kMaxJobSpans> bound{};
    std::uint32_t push_bytes = 0;
    std::array<std::byte, 256> push{};
};

struct CopyRegion {
    const BufferObject* source = nullptr;
    std::uint64_t source_offset = 0;
    const BufferObject* target = nullptr;
    std::uint64_t target_offset = 0, bytes = 0;
};

/// How a bundle is submitted.
enum class SubmitMode : std::uint64_t {
    kernel_only,  // one submission: the kernel works on memory the host reaches
    fused,        // one submission: upload, kernel, download on the compute queue
    split,        // three submissions, ordered by timelines
};

inline SubmitMode submit_mode(const Route& route, bool split) {
    return !route.copies ? SubmitMode::kernel_only : split ? SubmitMode::split : SubmitMode::fused;
}

/// Reused from bundle to bundle, so that its vectors keep their capacity.
struct Bundle {
    Route route;
    SubmitMode submit = SubmitMode::fused;
    const Job* first_job = nullptr;  // of chunks.front(), valid until that job is done
    std::vector<ChunkDispatch> chunks;
    std::vector<CopyRegion> uploads, downloads;
    std::vector<HostCopy> copies_in, copies_out;
    std::vector<std::shared_ptr<BufferObject>> keep_alive;  // page-locked memory of the user
    std::uint64_t bytes = 0;
    double amount = 0;  // units of work of all dispatches

    void clear() {
        chunks.clear();
        uploads.clear();
        downloads.clear();
        copies_in.clear();
        copies_out.clear();
        keep_alive.clear();
        first_job = nullptr;
        bytes = 0;
        amount = 0;
    }
};

/// The memory areas of a slot.
enum class Area : std::uint32_t {
    host_in = 0,   // the host writes, the upload queue or the kernel reads
    host_out = 1,  // the download queue or the kernel writes, the host reads
    device_in = 2,
    device_out = 3,
    mapped_in = 4,  // device memory that the host writes through the BAR
};
inline constexpr std::size_t kAreas = 5;

/// The memory of an area: its buffer and, where the host reaches it, its bytes.
struct AreaMemory {
    const BufferObject* buffer = nullptr;
    std::byte* mapped = nullptr;
};
using Areas = std::array<AreaMemory, kAreas>;

/// Bytes a slot needs in each area for a bundle.
using AreaNeeds = std::array<std::uint64_t, kAreas>;

/// Where the spans of one chunk lie.
struct ChunkSpans {
    const Job* job = nullptr;
    std::array<HostRange, kMaxJobSpans> inputs, outputs;  // page-locked ranges; empty: ordinary memory
    bool pinned = false;                                  // all of them are page-locked
    bool imported = false;                                // one of them is the user's own memory, imported
};

/// A chunk that the next bundle will hold.
struct PlannedChunk {
    Chunk chunk;
    ChunkSpans spans;
};

/// Fills a shader's push-constant block of `bytes` bytes: count, first, then the caller's parameters.
void fill_push_constants(std::array<std::byte, 256>& push, std::uint32_t bytes, std::uint32_t count,
                         std::uint32_t first, const Parameters& parameters);

/// Slice of a job's span that belongs to a chunk.
struct ByteSlice {
    std::uint64_t offset = 0, bytes = 0;
};
ByteSlice slice(std::uint64_t span_bytes, bool broadcast, std::uint64_t elements, const Chunk& chunk);

/// Lays out the chunks of a bundle in the areas of a slot, one after the other. The first pass measures,
/// before there is memory; the second one writes the work.
class BundleLayout {
  public:
    /// Bound offsets are multiples of `bind_alignment`, a power of two.
    BundleLayout(const ProgramNeeds& program, std::uint64_t bind_alignment)
        : program_(program), bind_alignment_(bind_alignment) {}

    /// First pass: raises `needs` to what the areas must hold with this chunk.
    void measure(const Chunk& chunk, const ChunkSpans& spans, const Route& route, AreaNeeds& needs);
    /// Second pass: adds the chunk's copies and its dispatch to `work`.
    void write(const Chunk& chunk, const ChunkSpans& spans, const Route& route, const Areas& areas,
               Bundle& work);
    /// Before each pass.
    void restart() { in_ = out_ = 0; }

  private:
    /// How one binding of one chunk travels.
    struct Placement {
        Area kernel_area = Area::device_in;
        bool kernel_is_user = false;  // the kernel works on the user's page-locked memory
        std::uint64_t in_offset = 0, out_offset = 0;
        ByteSlice in, out;
    };
    Placement place(const Binding& binding, const Chunk& chunk, const ChunkSpans& spans, const Route& route,
                    std::size_t in, std::size_t out);
    bool bindable(const HostRange& range, std::uint64_t bytes) const;

    ProgramNeeds program_;
    std::uint64_t bind_alignment_;
    std::uint64_t in_ = 0, out_ = 0;
};

}  // namespace weft::core
