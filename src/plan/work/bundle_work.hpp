// SPDX-License-Identifier: Apache-2.0
// A bundle: the chunks that travel together, and where each of their bytes is at every stage.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "plan/work/batch_plan.hpp"
#include "host/copy_workers.hpp"
#include "plan/work/workgroup_plan.hpp"
#include "plan/work/host_range.hpp"

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

/// Reused from bundle to bundle, so that its vectors keep their capacity.
struct Bundle {
    Route route;
    std::vector<ChunkDispatch> chunks;
    std::vector<CopyRegion> uploads, downloads;
    std::vector<HostCopy> copies_in, copies_out;
    std::vector<std::shared_ptr<BufferObject>> keep_alive;  // page-locked memory of the user
    std::uint64_t bytes = 0;
    std::uint32_t download_groups = 0;  // workgroups of the copy shader; 0: downloads by the copy engine

    void clear() {
        chunks.clear();
        uploads.clear();
        downloads.clear();
        copies_in.clear();
        copies_out.clear();
        keep_alive.clear();
        bytes = 0;
        download_groups = 0;
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

/// An area as it exists: its buffer and, where the host reaches it, its bytes.
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
    std::array<HostRange, kMaxJobSpans> inputs,
        outputs;            // page-locked ranges of the chunk; empty: ordinary memory
    bool pinned = false;    // all of them are page-locked
    bool imported = false;  // one of them is the user's own memory, imported
};

/// The block a shader finds: count, first, then the caller's parameters, as far as it is long.
void fill_push_constants(std::array<std::byte, 256>& push, std::uint32_t bytes, std::uint32_t count,
                         std::uint32_t first, const Parameters& parameters);

/// Slice of a job's span that belongs to a chunk.
struct ByteSlice {
    std::uint64_t offset = 0, bytes = 0;
};
ByteSlice slice(std::uint64_t span_bytes, bool broadcast, std::uint64_t elements, const Chunk& chunk);

/// First pass, before memory is there: what each area must hold. `offset` of the chunks is implied by their
/// order.
class BundleLayout {
  public:
    /// `bind_alignment`: what a bound offset must be a multiple of, a power of two.
    BundleLayout(const ProgramNeeds& program, std::uint64_t bind_alignment)
        : program_(program), bind_alignment_(bind_alignment) {}

    /// Adds a chunk's needs; `write` turns the same walk into work once the areas exist.
    void measure(const Chunk& chunk, const ChunkSpans& spans, const Route& route, AreaNeeds& needs);
    void write(const Chunk& chunk, const ChunkSpans& spans, const Route& route, const Areas& areas,
               Bundle& work);
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
