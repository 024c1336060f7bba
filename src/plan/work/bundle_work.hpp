// SPDX-License-Identifier: Apache-2.0
// A bundle: the chunks that travel together, and where each of their bytes is at every stage.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/copy_workers.hpp"
#include "plan/work/chunking.hpp"
#include "plan/work/host_range.hpp"
#include "plan/work/workgroup_plan.hpp"

namespace weft::core {

struct BoundRange {
    const BufferObject* buffer = nullptr;
    std::uint32_t binding = 0;
    std::uint64_t offset = 0, bytes = 0;
};

struct ChunkDispatch {
    Chunk chunk;
    WorkgroupGrid workgroups;
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
    const Job* first_job = nullptr;  // of chunks.front(), valid until that job is over
    std::vector<ChunkDispatch> chunks;
    std::vector<CopyRegion> uploads, downloads;
    std::vector<HostCopy> copies_in, copies_out;
    std::vector<std::shared_ptr<BufferObject>> keep_alive;  // page-locked memory of the user
    std::uint64_t bytes = 0;

    void clear() {
        chunks.clear();
        uploads.clear();
        downloads.clear();
        copies_in.clear();
        copies_out.clear();
        keep_alive.clear();
        first_job = nullptr;
        bytes = 0;
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

/// Where one chunk's spans are at this moment.
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

/// Lays the chunks of a bundle out in the areas of a slot, in their order. The first pass measures, before
/// there is memory; the second writes the work.
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
