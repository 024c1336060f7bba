// SPDX-License-Identifier: Apache-2.0
#include "plan/work/batch_plan.hpp"

#include <algorithm>
#include <string>

#include "base/enum_check.hpp"
#include "plan/work/workgroup_plan.hpp"
#include "plan/spirv/reflection.hpp"

namespace weft::core {
namespace {

[[noreturn]] void refuse(Errc code, const std::string& what) {
    throw Error(code, "run_batch: " + what);
}

std::string got_need(std::uint64_t got, const std::string& need) {
    return " (got " + std::to_string(got) + ", need " + need + ")";
}

std::string job_text(const ProgramNeeds& program, const Job& job, std::uint64_t index) {
    std::string text = "job " + std::to_string(index);
    if (!job.name.empty()) text += " \"" + job.name + "\"";
    return text + " for program \"" + program.name + "\": ";
}

std::string interface_text(const ProgramNeeds& program) {
    std::string text;
    for (const Binding& b : program.bindings)
        text += (text.empty() ? "" : ", ") + binding_text(b) + " " + to_string(b.access);
    return text.empty() ? "no bindings" : text;
}

void check_path(const DevicePlan& plan, const DeviceSnapshot& device, Path path) {
    const bool unified = has_unified_memory(device);
    if (path == Path::imported && !plan.external_memory_host)
        refuse(Errc::unsupported,
               "path imported needs VK_EXT_external_memory_host, which " + device.name + " lacks");
    if (path == Path::direct && !unified && !plan.memory.mapped_device)
        refuse(Errc::unsupported,
               "path direct needs unified memory or a full-size BAR, which " + device.name + " lacks");
}

template <class Span>
void check_span(const Span& span, const Job& job, bool broadcast, const DeviceLimits& limits,
                const std::string& where) {
    if (span.data == nullptr && span.bytes != 0)
        refuse(Errc::invalid_argument,
               where + "null with a length" + got_need(span.bytes, "0 bytes or a pointer"));
    if (reinterpret_cast<std::uintptr_t>(span.data) > ~std::uintptr_t{0} - span.bytes)
        refuse(Errc::invalid_argument,
               where + "length runs past the address space" + got_need(span.bytes, "a real number of bytes"));
    if (job.elements == 0) return;
    if (span.bytes == 0)
        refuse(Errc::invalid_argument, where + "empty although the job has elements" +
                                           got_need(0, "a multiple of " + std::to_string(job.elements)));
    if (broadcast) {
        if (span.bytes > limits.max_storage_buffer_range)
            refuse(Errc::invalid_argument,
                   where + "larger than one binding can be" +
                       got_need(span.bytes, "at most " + std::to_string(limits.max_storage_buffer_range)));
        return;
    }
    if (span.bytes % job.elements != 0)
        refuse(Errc::invalid_argument,
               where + "bytes do not divide by the elements" +
                   got_need(span.bytes, "a multiple of " + std::to_string(job.elements)));
    if (span.bytes / job.elements > limits.max_storage_buffer_range)
        refuse(Errc::invalid_argument,
               where + "one element is larger than one binding can be" +
                   got_need(span.bytes / job.elements,
                            "at most " + std::to_string(limits.max_storage_buffer_range)));
}

/// In place, a chunk may overwrite its own slice of an input; never what later chunks read again.
template <class Where>
void check_table(const Job& job, std::size_t input, const Where& where) {
    const auto begin = reinterpret_cast<std::uintptr_t>(job.inputs[input].data);
    const std::uintptr_t end = begin + job.inputs[input].bytes;
    for (std::size_t i = 0; i < job.outputs.size(); ++i) {
        const auto out = reinterpret_cast<std::uintptr_t>(job.outputs[i].data);
        const std::uintptr_t first = std::max(begin, out), last = std::min(end, out + job.outputs[i].bytes);
        if (first < last)
            refuse(Errc::invalid_argument, where() + "is bound whole for every chunk while output " +
                                               std::to_string(i) + " writes its memory (got an overlap of " +
                                               std::to_string(last - first) + " bytes, need separate spans)");
    }
}

/// How many elements the spans of one direction allow: each binding has its range, and all of them share one
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

std::uint64_t job_bytes_in(const Job& job) {
    std::uint64_t bytes = 0;
    for (const InputSpan& span : job.inputs) bytes += span.bytes;
    return bytes;
}

std::uint64_t job_bytes_out(const Job& job) {
    std::uint64_t bytes = 0;
    for (const OutputSpan& span : job.outputs) bytes += span.bytes;
    return bytes;
}

BatchSettings settle_options(const DevicePlan& plan, const DeviceSnapshot& device, const BatchOptions& options,
                      std::uint64_t total_bytes) {
    check_enum("run_batch", "batch mode", options.mode, BatchMode::pipelined);
    check_enum("run_batch", "path", options.path, Path::host);
    check_enum("run_batch", "queue mode", options.queues, QueueMode::split);
    check_enum("run_batch", "stage times", options.stage_times, StageTimes::on);
    if (options.slots > 16)
        refuse(Errc::invalid_argument,
               "BatchOptions::slots out of range" + got_need(options.slots, "1 to 16, or 0"));
    if (options.chunk_elements > 0xffffffffu)
        refuse(Errc::invalid_argument, "BatchOptions::chunk_elements out of range" +
                                           got_need(options.chunk_elements, "at most 4294967295"));
    check_path(plan, device, options.path);
    BatchSettings s;
    s.mode = options.mode;
    s.path = options.path;
    s.transfer = plan.transfer;
    s.total_bytes = total_bytes;
    s.split = options.queues == QueueMode::automatic ? plan.queues.split : options.queues == QueueMode::split;
    s.slots = options.mode == BatchMode::sequential ? 1 : options.slots != 0 ? options.slots : plan.slots;
    s.chunk_exact = options.chunk_elements != 0 || plan.chunk_exact;
    s.chunk_elements = options.chunk_elements != 0 ? options.chunk_elements : plan.chunk_elements;
    s.chunk_bytes = s.chunk_exact ? 0 : plan.chunk_bytes;
    constexpr std::uint64_t kTimesFromBytes = std::uint64_t{1}
                                              << 20;  // queries cost more than they tell below
    s.stage_times =
        plan.timestamps && (options.stage_times == StageTimes::on ||
                            (options.stage_times == StageTimes::automatic && total_bytes >= kTimesFromBytes));
    return s;
}

namespace {

// Everything of a job that is a number.
void check_counts(const ProgramNeeds& program, const Job& job, std::uint64_t index) {
    std::size_t reads = 0, writes = 0;
    for (const Binding& b : program.bindings) {
        reads += b.access != Access::write ? 1u : 0u;
        writes += b.access != Access::read ? 1u : 0u;
    }
    if (job.inputs.size() != reads || job.outputs.size() != writes)
        refuse(Errc::invalid_argument,
               job_text(program, job, index) + "spans do not match the shader (got " +
                   std::to_string(job.inputs.size()) + " inputs and " + std::to_string(job.outputs.size()) +
                   " outputs, need " + std::to_string(reads) + " and " + std::to_string(writes) + ": " +
                   interface_text(program) + "; a buffer without readonly or writeonly counts as both)");
    if (job.elements > 0xffffffffu)
        refuse(Errc::invalid_argument, job_text(program, job, index) + "too many elements" +
                                           got_need(job.elements, "at most 4294967295"));
    const std::size_t parameters = job.parameters.bytes().size();
    const std::size_t room = program.push_constant_bytes > 8 ? program.push_constant_bytes - 8 : 0;
    if (parameters != room)
        refuse(Errc::invalid_argument,
               job_text(program, job, index) +
                   "parameters do not fit the push-constant block after count and first" +
                   got_need(parameters, std::to_string(room) + " bytes"));
}

}  // namespace

void check_job(const ProgramNeeds& program, const DeviceLimits& limits, const Job& job, std::uint64_t index) {
    check_counts(program, job, index);
    // Texts are built only on the way out: a well-formed job pays for comparisons alone.
    const auto where = [&](const char* what, std::size_t i) {
        return job_text(program, job, index) + what + " " + std::to_string(i) + " ";
    };
    const auto needs_where = [&](const auto& span, bool broadcast) {
        return span.data == nullptr || span.bytes == 0 || broadcast || job.elements == 0 ||
               span.bytes % job.elements != 0 ||
               span.bytes / job.elements > limits.max_storage_buffer_range ||
               reinterpret_cast<std::uintptr_t>(span.data) > ~std::uintptr_t{0} - span.bytes;
    };
    std::size_t in = 0, out = 0;
    for (const Binding& b : program.bindings) {
        const bool read = b.access != Access::write, write = b.access != Access::read;
        if (read && needs_where(job.inputs[in], job.inputs[in].broadcast))
            check_span(job.inputs[in], job, job.inputs[in].broadcast, limits, where("input", in));
        if (write && needs_where(job.outputs[out], false))
            check_span(job.outputs[out], job, false, limits, where("output", out));
        if (read && write) {
            if (job.inputs[in].broadcast || job.inputs[in].bytes != job.outputs[out].bytes)
                refuse(Errc::invalid_argument,
                       where("input", in) + "feeds read_write " + binding_text(b) +
                           ", whose input and output must have equal size" +
                           got_need(job.inputs[in].bytes, std::to_string(job.outputs[out].bytes) + " bytes"));
        }
        in += read ? 1u : 0u;
        out += write ? 1u : 0u;
    }
    if (job.elements == 0) return;
    for (std::size_t i = 0; i < job.inputs.size(); ++i)
        if (job.inputs[i].broadcast) check_table(job, i, [&] { return where("input", i); });
}

void append_spans(const Job& job, std::uint64_t index, std::vector<JobSpan>& spans) {
    if (job.elements == 0) return;
    for (const InputSpan& span : job.inputs) {
        const auto begin = reinterpret_cast<std::uintptr_t>(span.data);
        spans.push_back({begin, begin + span.bytes, index, false});
    }
    for (const OutputSpan& span : job.outputs) {
        const auto begin = reinterpret_cast<std::uintptr_t>(span.data);
        spans.push_back({begin, begin + span.bytes, index, true});
    }
}

void check_overlaps(std::vector<JobSpan>& spans) {
    std::sort(spans.begin(), spans.end(),
              [](const JobSpan& a, const JobSpan& b) { return a.begin < b.begin; });
    const auto refuse_pair = [](const JobSpan& a, const JobSpan& b) {
        refuse(Errc::invalid_argument,
               "memory of job " + std::to_string(a.job) + " and job " + std::to_string(b.job) +
                   " overlaps where one of them writes (got an overlap of " +
                   std::to_string(std::min(a.end, b.end) - std::max(a.begin, b.begin)) +
                   " bytes, need separate spans, or exactly the same span for in-place output of one job)");
    };
    // Spans that begin together are looked at together. Of all that began earlier only the furthest-reaching
    // read and written one matter: no exception for in-place output can apply to a different begin.
    const JobSpan* furthest_read = nullptr;
    const JobSpan* furthest_written = nullptr;
    for (std::size_t i = 0; i < spans.size();) {
        std::size_t end = i;
        const JobSpan* written = nullptr;
        for (; end < spans.size() && spans[end].begin == spans[i].begin; ++end) {
            const JobSpan& span = spans[end];
            if (span.written && written == nullptr) written = &span;
            if (furthest_written != nullptr && furthest_written->end > span.begin)
                refuse_pair(*furthest_written, span);
            if (span.written && furthest_read != nullptr && furthest_read->end > span.begin)
                refuse_pair(*furthest_read, span);
        }
        for (std::size_t k = i; k < end; ++k) {
            const JobSpan& span = spans[k];
            if (written != nullptr && &span != written &&
                (span.written || span.job != written->job || span.end != written->end))
                refuse_pair(*written, span);
            const JobSpan*& mine = span.written ? furthest_written : furthest_read;
            if (mine == nullptr || span.end > mine->end) mine = &span;
        }
        i = end;
    }
}

Route choose_route(const BatchSettings& settings, const DeviceSnapshot& device, std::uint64_t bundle_bytes,
                   bool pinned) {
    const TransferPlan& t = settings.transfer;
    Path path = settings.path;
    if (path == Path::automatic)
        path = bundle_bytes <= t.small_bytes ? t.small : pinned ? t.large_pinned : t.large_ordinary;
    const bool unified = has_unified_memory(device);
    switch (path) {
        case Path::direct:
            return {path, false, !unified, false};
        case Path::host:
            return {path, false, false, false};
        case Path::imported:
            return {path, !unified, false, true};
        case Path::automatic:
        case Path::staged:
            break;
    }
    return {Path::staged, true, false, false};
}

namespace {

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

std::uint64_t chunk_limit(const ProgramNeeds& program, const DeviceLimits& limits,
                          const BatchSettings& settings, const Job& job, bool copies) {
    std::uint64_t limit = settings.chunk_elements;
    const std::uint64_t bytes = job_bytes_in(job) + job_bytes_out(job);
    if (settings.chunk_bytes != 0 && bytes != 0)
        limit = std::clamp<std::uint64_t>(
            settings.chunk_bytes / std::max<std::uint64_t>(1, bytes / job.elements), 1, 0xffffffffu);
    if (copies && !settings.cuts_exactly() && settings.mode == BatchMode::pipelined && bytes != 0) {
        // Each hand-over from queue to queue leaves a gap on the bus, so chunks are large; taper() makes the
        // first and last of a batch small.
        constexpr std::uint64_t kChunkBytes = std::uint64_t{48} << 20;
        const std::uint64_t target = std::max(kChunkBytes, settings.total_bytes / 64);
        limit = std::min(limit, target / std::max<std::uint64_t>(1, bytes / job.elements));
    }
    if (program.max_workgroups == 0) {
        const WorkgroupRule rule{program.elements_per_workgroup, 0, program.folds};
        // Elements are counted in 32 bits, so more bundles than that need no product.
        limit = std::min(limit, std::max<std::uint64_t>(
                                    1, std::min<std::uint64_t>(most_workgroups(rule, limits), 0xffffffffu) /
                                           program.workgroups_per_element) *
                                    program.elements_per_workgroup);
    }
    // Indices of the last workgroup must not pass 32 bits either.
    if (job.elements > std::uint64_t{1} << 31) limit = std::min(limit, std::uint64_t{1} << 31);
    DirectionLimit in(limits, job.elements), out(limits, job.elements);
    for (const InputSpan& span : job.inputs) in.add(span.bytes, span.broadcast);
    for (const OutputSpan& span : job.outputs) out.add(span.bytes, false);
    limit = std::max<std::uint64_t>(1, std::min({limit, in.elements(), out.elements()}));
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
    // Rather two halves than a whole and a sliver.
    if (count < job_left && job_left - count < count / 2) {
        const std::uint64_t half = ((job_left + 1) / 2 + kMultiple - 1) / kMultiple * kMultiple;
        count = std::min(half, count);
    }
    return count;
}

std::uint64_t workgroup_limit(const BatchSettings& settings) {
    if (settings.mode == BatchMode::sequential) return 0;
    return std::min(settings.transfer.bundle_bytes, settings.total_bytes / 4);
}

}  // namespace weft::core
