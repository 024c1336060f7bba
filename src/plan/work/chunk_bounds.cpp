// SPDX-License-Identifier: Apache-2.0
#include "plan/work/chunk_bounds.hpp"

#include <algorithm>

#include "base/whole_numbers.hpp"
#include "plan/work/dispatch_plan.hpp"

namespace weft::core {
namespace {

/// How many elements the spans of one direction allow: a binding has a largest range, and all spans share one
/// buffer of the slot.
class DirectionLimit {
  public:
    DirectionLimit(const DeviceLimits& limits, std::uint64_t elements)
        : limits_(limits), elements_(elements) {}
    void add(std::uint64_t bytes, bool broadcast) {
        fixed_ += std::max<std::uint64_t>(64, limits_.storage_buffer_offset_alignment);
        if (broadcast) {
            fixed_ += bytes;
        } else if (const std::uint64_t stride = bytes / elements_; stride != 0) {
            stride_ += stride;
            limit_ = std::min(limit_, limits_.max_storage_buffer_range / stride);
        }
    }
    std::uint64_t elements() const {
        if (stride_ == 0) return limit_;
        const std::uint64_t room = limits_.max_buffer_bytes - std::min(limits_.max_buffer_bytes, fixed_);
        return std::min(limit_, room / stride_);
    }

  private:
    const DeviceLimits& limits_;
    std::uint64_t elements_, fixed_ = 0, stride_ = 0, limit_ = ~std::uint64_t{0};
};

}  // namespace

bool ChunkBounds::can_cut(std::uint64_t elements) const {
    return elements >= least && divide_up(elements, most) <= elements / least;
}

std::uint64_t most_chunk_elements(const ProgramNeeds& program, const DeviceLimits& limits, const Job& job) {
    std::uint64_t most = ~std::uint64_t{0};
    if (program.max_workgroups == 0) {
        const WorkgroupRule rule{program.elements_per_workgroup, 0, program.folds};
        // Elements are counted in 32 bits, so larger numbers of workgroups make no difference.
        most =
            std::max<std::uint64_t>(1, std::min<std::uint64_t>(most_workgroups(rule, limits), 0xffffffffu) /
                                           program.workgroups_per_element) *
            program.elements_per_workgroup;
    }
    // Indices of the last workgroup must not pass 32 bits either.
    if (job.elements > std::uint64_t{1} << 31) most = std::min(most, std::uint64_t{1} << 31);
    DirectionLimit in(limits, job.elements), out(limits, job.elements);
    for (const InputSpan& span : job.inputs) in.add(span.bytes, span.broadcast);
    for (const OutputSpan& span : job.outputs) out.add(span.bytes, false);
    return std::max<std::uint64_t>(1, std::min({most, in.elements(), out.elements()}));
}

ChunkBounds chunk_bounds(const ProgramNeeds& program, const DeviceLimits& limits, const Job& job) {
    ChunkBounds bounds{1, most_chunk_elements(program, limits, job)};
    const auto hold = [&](const Binding& binding, std::uint64_t bytes) {
        if (const std::uint64_t stride = bytes / job.elements; stride != 0)
            bounds.least = std::max(bounds.least, divide_up(binding.least_bytes, stride));
    };
    std::size_t in = 0, out = 0;
    for (const Binding& binding : program.bindings) {
        if (binding.access != Access::write) {
            if (!job.inputs[in].broadcast) hold(binding, job.inputs[in].bytes);
            ++in;
        }
        if (binding.access != Access::read) hold(binding, job.outputs[out++].bytes);
    }
    return bounds;
}

std::uint64_t cut_chunk(std::uint64_t left, std::uint64_t wanted, const ChunkBounds& bounds) {
    const std::uint64_t count = std::min({std::max(wanted, bounds.least), bounds.most, left});
    if (count == left || bounds.can_cut(left - count)) return count;
    return divide_up(left, divide_up(left, bounds.most));
}

}  // namespace weft::core
