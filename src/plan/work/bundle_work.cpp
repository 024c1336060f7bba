// SPDX-License-Identifier: Apache-2.0
#include "plan/work/bundle_work.hpp"

#include <algorithm>
#include <cstring>

namespace weft::core {
namespace {

// Copies and kernels are fastest on ranges that start on a cache line. The user's own memory is used as it
// is.
constexpr std::uint64_t kLine = 64;

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

void need(AreaNeeds& needs, Area area, std::uint64_t bytes) {
    std::uint64_t& have = needs[static_cast<std::size_t>(area)];
    have = std::max(have, bytes);
}

}  // namespace

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
