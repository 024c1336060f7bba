// SPDX-License-Identifier: Apache-2.0
#include "plan/work/bundle.hpp"

#include <algorithm>
#include <cstring>

#include "plan/work/chunk_bounds.hpp"

namespace weft::core {
namespace {

// Copies and kernels are fastest on ranges that start at a cache line. The user's own memory is used where it
// lies.
constexpr std::uint64_t kLine = 64;

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

void need(AreaNeeds& needs, Area area, std::uint64_t bytes) {
    std::uint64_t& have = needs[static_cast<std::size_t>(area)];
    have = std::max(have, bytes);
}

/// The largest chunk not above `limit` that cuts a job into equal chunks, so that no sliver is left at the
/// end. Whole multiples of 64 elements keep the chunks of any element size aligned.
std::uint64_t even_chunks(std::uint64_t elements, std::uint64_t limit) {
    constexpr std::uint64_t kMultiple = 64;
    if (elements <= limit || limit < kMultiple) return limit;
    const std::uint64_t whole = limit / kMultiple * kMultiple;
    const std::uint64_t chunks = (elements + whole - 1) / whole;
    const std::uint64_t even = (elements + chunks - 1) / chunks;
    return (even + kMultiple - 1) / kMultiple * kMultiple;
}

}  // namespace

Route choose_route(const BatchSettings& settings, const DeviceSnapshot& device, std::uint64_t bundle_bytes,
                   bool pinned) {
    const TransferPlan& t = settings.transfer;
    const bool small = bundle_bytes <= t.small_bytes;
    const char* const reason = settings.path != Path::automatic ? "set by the call"
                               : small                          ? "for small jobs"
                               : pinned                         ? "for large jobs in page-locked memory"
                                                                : "for large jobs in ordinary memory";
    Path path = settings.path;
    if (path == Path::automatic) path = small ? t.small : pinned ? t.large_pinned : t.large_ordinary;
    const bool unified = has_unified_memory(device);
    switch (path) {
        case Path::direct:
            return {path, false, !unified, false, reason};
        case Path::host:
            return {path, false, false, false, reason};
        case Path::imported:
            return {path, !unified, false, true, reason};
        case Path::automatic:
        case Path::staged:
            break;
    }
    return {Path::staged, true, false, false, reason};
}

std::uint64_t chunk_limit(const ProgramNeeds& program, const DeviceLimits& limits,
                          const BatchSettings& settings, const Job& job, bool copies) {
    std::uint64_t limit = settings.chunk_elements;
    const std::uint64_t bytes = job_bytes_in(job) + job_bytes_out(job);
    if (settings.chunk_bytes != 0 && bytes != 0)
        limit = std::clamp<std::uint64_t>(
            settings.chunk_bytes / std::max<std::uint64_t>(1, bytes / job.elements), 1, 0xffffffffu);
    if (copies && !settings.cuts_exactly() && settings.mode == BatchMode::pipelined && bytes != 0) {
        // Each hand-over from one queue to another leaves a gap on the bus, so chunks are large. taper()
        // makes the first and the last of a batch small.
        constexpr std::uint64_t kChunkBytes = std::uint64_t{48} << 20;
        const std::uint64_t target = std::max(kChunkBytes, settings.total_bytes / 64);
        limit = std::min(limit, target / std::max<std::uint64_t>(1, bytes / job.elements));
    }
    limit = std::min(std::max<std::uint64_t>(1, limit), most_chunk_elements(program, limits, job));
    return settings.cuts_exactly() ? limit : even_chunks(job.elements, limit);
}

std::uint64_t taper(std::uint64_t limit, std::uint64_t job_left, std::uint64_t element_bytes,
                    std::uint64_t started_bytes, std::uint64_t remaining_bytes) {
    constexpr std::uint64_t kLeastBytes = std::uint64_t{12} << 20, kMultiple = 64;
    if (element_bytes == 0) return std::min(limit, job_left);
    const std::uint64_t bytes = std::max(kLeastBytes, std::min(started_bytes, remaining_bytes / 2));
    std::uint64_t count = std::max<std::uint64_t>(1, bytes / element_bytes);
    if (count > kMultiple) count = count / kMultiple * kMultiple;
    count = std::min({count, limit, job_left});
    // Two halves are better than a whole chunk and a sliver.
    if (count < job_left && job_left - count < count / 2) {
        const std::uint64_t half = ((job_left + 1) / 2 + kMultiple - 1) / kMultiple * kMultiple;
        count = std::min(half, count);
    }
    return count;
}

std::uint64_t bundle_limit(const BatchSettings& settings) {
    if (settings.mode == BatchMode::sequential) return 0;
    return std::min(settings.transfer.bundle_bytes, settings.total_bytes / 4);
}

ByteSlice slice(std::uint64_t span_bytes, bool broadcast, std::uint64_t elements, const Chunk& chunk) {
    if (broadcast) return {0, span_bytes};
    const std::uint64_t stride = span_bytes / elements;
    return {stride * chunk.first, stride * chunk.count};
}

bool BundleLayout::bindable(const HostRange& range, std::uint64_t bytes) const {
    // Shaders read whole words; a tail of less than four bytes is bound only where weft owns the padding.
    return range.buffer != nullptr && range.offset % bind_alignment_ == 0 && bytes % 4 == 0;
}

BundleLayout::Placement BundleLayout::place(const Binding& binding, const Chunk& chunk,
                                            const ChunkSpans& spans, const Route& route, std::size_t in,
                                            std::size_t out) {
    const bool reads = binding.access != Access::write, writes = binding.access != Access::read;
    const Job& job = *spans.job;
    Placement p;
    if (reads) p.in = slice(job.inputs[in].bytes, job.inputs[in].broadcast, job.elements, chunk);
    if (writes) p.out = slice(job.outputs[out].bytes, false, job.elements, chunk);
    if (!route.copies) {
        const bool same = !reads || !writes || job.inputs[in].data == job.outputs[out].data;
        p.kernel_is_user = same && (!reads || bindable(spans.inputs[in], p.in.bytes)) &&
                           (!writes || bindable(spans.outputs[out], p.out.bytes));
    }
    if (reads) {
        p.in_offset = in_;
        in_ = align_up(in_ + p.in.bytes, std::max(kLine, bind_alignment_));
    }
    if (writes) {
        p.out_offset = out_;
        out_ = align_up(out_ + p.out.bytes, std::max(kLine, bind_alignment_));
    }
    p.kernel_area = route.copies ? (writes ? Area::device_out : Area::device_in)
                    : writes     ? Area::host_out
                                 : (route.mapped_device ? Area::mapped_in : Area::host_in);
    return p;
}

void BundleLayout::measure(const Chunk& chunk, const ChunkSpans& spans, const Route& route,
                           AreaNeeds& needs) {
    std::size_t in = 0, out = 0;
    for (const Binding& binding : program_.bindings) {
        const bool reads = binding.access != Access::write, writes = binding.access != Access::read;
        const Placement p = place(binding, chunk, spans, route, in, out);
        if (!p.kernel_is_user)
            need(needs, p.kernel_area, writes ? p.out_offset + p.out.bytes : p.in_offset + p.in.bytes);
        if (route.copies) {
            if (reads && !spans.inputs[in].buffer) need(needs, Area::host_in, p.in_offset + p.in.bytes);
            if (writes && !spans.outputs[out].buffer) need(needs, Area::host_out, p.out_offset + p.out.bytes);
        }
        in += reads ? 1u : 0u;
        out += writes ? 1u : 0u;
    }
}

void BundleLayout::write(const Chunk& chunk, const ChunkSpans& spans, const Route& route, const Areas& areas,
                         Bundle& work) {
    const auto area = [&](Area a) { return areas[static_cast<std::size_t>(a)]; };
    const Job& job = *spans.job;
    ChunkDispatch& w = work.chunks.emplace_back();
    w.chunk = chunk;
    std::size_t in = 0, out = 0;
    for (const Binding& binding : program_.bindings) {
        const bool reads = binding.access != Access::write, writes = binding.access != Access::read;
        const Placement p = place(binding, chunk, spans, route, in, out);
        const std::uint64_t kernel_offset = writes ? p.out_offset : p.in_offset;
        const HostRange* user = writes ? &spans.outputs[out] : &spans.inputs[in];
        const BufferObject* kernel = p.kernel_is_user ? user->buffer.get() : area(p.kernel_area).buffer;
        w.bound[w.bound_count++] = {kernel, binding.binding, p.kernel_is_user ? user->offset : kernel_offset,
                                    writes ? p.out.bytes : p.in.bytes};
        if (p.kernel_is_user) work.keep_alive.push_back(user->buffer);
        if (reads && !p.kernel_is_user) {
            const auto* source = static_cast<const std::byte*>(job.inputs[in].data) + p.in.offset;
            const HostRange& pinned = spans.inputs[in];
            if (!route.copies) {
                work.copies_in.push_back({area(p.kernel_area).mapped + kernel_offset, source, p.in.bytes});
            } else if (pinned.buffer) {
                work.uploads.push_back(
                    {pinned.buffer.get(), pinned.offset, kernel, kernel_offset, p.in.bytes});
                work.keep_alive.push_back(pinned.buffer);
            } else {
                work.copies_in.push_back({area(Area::host_in).mapped + p.in_offset, source, p.in.bytes});
                work.uploads.push_back(
                    {area(Area::host_in).buffer, p.in_offset, kernel, kernel_offset, p.in.bytes});
            }
        }
        if (writes && !p.kernel_is_user) {
            auto* target = static_cast<std::byte*>(job.outputs[out].data) + p.out.offset;
            const HostRange& pinned = spans.outputs[out];
            if (!route.copies) {
                work.copies_out.push_back({target, area(Area::host_out).mapped + p.out_offset, p.out.bytes});
            } else if (pinned.buffer) {
                work.downloads.push_back(
                    {kernel, kernel_offset, pinned.buffer.get(), pinned.offset, p.out.bytes});
                work.keep_alive.push_back(pinned.buffer);
            } else {
                work.downloads.push_back(
                    {kernel, kernel_offset, area(Area::host_out).buffer, p.out_offset, p.out.bytes});
                work.copies_out.push_back({target, area(Area::host_out).mapped + p.out_offset, p.out.bytes});
            }
        }
        work.bytes += p.in.bytes + p.out.bytes;
        in += reads ? 1u : 0u;
        out += writes ? 1u : 0u;
    }
    w.workgroups = {};
    w.push_bytes = program_.push_constant_bytes;
    fill_push_constants(w.push, w.push_bytes, static_cast<std::uint32_t>(chunk.count),
                        static_cast<std::uint32_t>(chunk.first), job.parameters);
}

void fill_push_constants(std::array<std::byte, 256>& push, std::uint32_t bytes, std::uint32_t count,
                         std::uint32_t first, const Parameters& parameters) {
    std::memcpy(push.data(), &count, std::min<std::size_t>(4, bytes));
    if (bytes >= 8) std::memcpy(push.data() + 4, &first, 4);
    const auto given = parameters.bytes();
    if (bytes > 8) std::memcpy(push.data() + 8, given.data(), std::min<std::size_t>(bytes - 8, given.size()));
}

}  // namespace weft::core
