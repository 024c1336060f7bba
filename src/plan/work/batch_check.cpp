// SPDX-License-Identifier: Apache-2.0
#include "plan/work/batch_check.hpp"

#include <algorithm>
#include <string>

#include "base/enums.hpp"
#include "base/refusal.hpp"
#include "plan/spirv/reflection.hpp"
#include "plan/work/chunk_bounds.hpp"

namespace weft::core {
namespace {

[[noreturn]] void refuse(const std::string& what, Errc code = Errc::invalid_argument) {
    throw Error(code, "run_batch: " + what);
}

std::string job_text(const ProgramNeeds& program, const Job& job, std::uint64_t index) {
    std::string text = "job " + std::to_string(index);
    if (!job.name.empty()) text += " \"" + job.name + "\"";
    return text + " for program \"" + program.name + "\": ";
}

std::string interface_text(const ProgramNeeds& program) {
    std::string text;
    for (const Binding& b : program.bindings) text += (text.empty() ? "" : "; ") + listed_binding(b);
    return text.empty() ? "no bindings" : text;
}

/// `where` makes the start of the error text. It is called for a refusal only, so a well-formed job costs
/// nothing but comparisons.
template <class Span, class Where>
void check_span(const Span& span, const Job& job, bool broadcast, const DeviceLimits& limits,
                const Where& where) {
    if (span.data == nullptr && span.bytes != 0)
        refuse(where() + "null with a length" + got_need(span.bytes, "0 bytes or a pointer"));
    if (reinterpret_cast<std::uintptr_t>(span.data) > ~std::uintptr_t{0} - span.bytes)
        refuse(where() + "length runs past the address space" +
               got_need(span.bytes, "a real number of bytes"));
    if (job.elements == 0) return;
    if (span.bytes == 0)
        refuse(where() + "empty although the job has elements" +
               got_need(0, "a multiple of " + std::to_string(job.elements)));
    if (broadcast) {
        if (span.bytes > limits.max_storage_buffer_range)
            refuse(where() + "larger than one binding can be" +
                   got_need(span.bytes, "at most " + std::to_string(limits.max_storage_buffer_range)));
        return;
    }
    if (span.bytes % job.elements != 0)
        refuse(where() + "bytes do not divide by the elements" +
               got_need(span.bytes, "a multiple of " + std::to_string(job.elements)));
    if (span.bytes / job.elements > limits.max_storage_buffer_range)
        refuse(where() + "one element is larger than one binding can be" +
               got_need(span.bytes / job.elements,
                        "at most " + std::to_string(limits.max_storage_buffer_range)));
}

/// The share of a chunk may be shorter than the block of its binding: check_cuts() finds the cuts.
template <class Span, class Where>
void check_block(const Span& span, const Job& job, const Binding& binding, const Where& where) {
    if (job.elements != 0 && span.bytes < binding.least_bytes)
        refuse(where() + "for " + binding_text(binding) + ": " + shorter_than_block(span.bytes, binding));
}

/// Refuses a job whose chunks cannot all hold the block of `binding`.
template <class Span, class Where>
void check_cuts(const ProgramNeeds& program, const DeviceLimits& limits, const Job& job, const Span& span,
                const Binding& binding, const Where& where) {
    // One element holds the block of nearly every job; the product costs less than a division.
    if (binding.least_bytes <= 0xffffffffu && span.bytes >= job.elements * binding.least_bytes) return;
    const std::uint64_t stride = span.bytes / job.elements;
    const ChunkBounds bounds = chunk_bounds(program, limits, job);
    const std::uint64_t least = (binding.least_bytes + stride - 1) / stride;
    if (least < bounds.least || bounds.can_cut(job.elements)) return;  // another binding needs more
    refuse(where() + "for " + binding_text(binding) +
           ": the job must be cut, and its chunks would be shorter than the shader's block (got at most " +
           std::to_string(bounds.most) + " elements of " + std::to_string(stride) + " bytes, need " +
           std::to_string(binding.least_bytes) + " bytes in every chunk)");
}

/// Work in place may overwrite its own slice of an input, but never memory that later chunks read again.
template <class Where>
void check_table(const Job& job, std::size_t input, const Where& where) {
    const JobSpan table = span_of(job.inputs[input].data, job.inputs[input].bytes, 0, false);
    for (std::size_t i = 0; i < job.outputs.size(); ++i) {
        const JobSpan out = span_of(job.outputs[i].data, job.outputs[i].bytes, 0, true);
        if (share_memory(table, out))
            refuse(where() + "is bound whole for every chunk while output " + std::to_string(i) +
                   " writes its memory (got an overlap of " + std::to_string(Overlap{table, out}.bytes()) +
                   " bytes, need separate spans)");
    }
}

// The counts of a job: spans, elements, bytes of parameters.
void check_counts(const ProgramNeeds& program, const Job& job, std::uint64_t index) {
    std::size_t reads = 0, writes = 0;
    for (const Binding& b : program.bindings) {
        reads += b.access != Access::write ? 1u : 0u;
        writes += b.access != Access::read ? 1u : 0u;
    }
    if (job.inputs.size() != reads || job.outputs.size() != writes)
        refuse(job_text(program, job, index) + "spans do not match the shader (got " +
               std::to_string(job.inputs.size()) + " inputs and " + std::to_string(job.outputs.size()) +
               " outputs, need " + std::to_string(reads) + " and " + std::to_string(writes) + ": " +
               interface_text(program) + "; a buffer without readonly or writeonly counts as both)");
    if (job.elements > 0xffffffffu)
        refuse(job_text(program, job, index) + "too many elements" +
               got_need(job.elements, "at most 4294967295"));
    const std::size_t parameters = job.parameters.bytes().size();
    const std::size_t room = program.push_constant_bytes > 8 ? program.push_constant_bytes - 8 : 0;
    if (parameters != room)
        refuse(job_text(program, job, index) +
               "parameters do not fit the push-constant block after count and first" +
               got_need(parameters, std::to_string(room) + " bytes"));
    if (program.first_parameter == nullptr) return;
    const std::string unlike = unlike_parameter(job.parameters, *program.first_parameter);
    if (!unlike.empty()) refuse(job_text(program, job, index) + unlike);
}

void check_path(const DevicePlan& plan, const DeviceSnapshot& device, Path path) {
    if (can_take(device, plan.memory, path)) return;
    if (path == Path::imported)
        refuse("path imported needs VK_EXT_external_memory_host, which " + device.name + " lacks",
               Errc::unsupported);
    refuse("path direct needs unified memory or a full-size BAR, which " + device.name + " lacks",
           Errc::unsupported);
}

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

bool works_in_place(const Job& job) {
    const auto is_input = [&](const OutputSpan& out) {
        return std::any_of(job.inputs.begin(), job.inputs.end(),
                           [&](const InputSpan& in) { return in.bytes != 0 && in.data == out.data; });
    };
    return std::any_of(job.outputs.begin(), job.outputs.end(), is_input);
}

void check_job(const ProgramNeeds& program, const DeviceLimits& limits, const Job& job, std::uint64_t index) {
    check_counts(program, job, index);
    const auto where = [&](const char* what, std::size_t i) {
        return [&, what, i] { return job_text(program, job, index) + what + " " + std::to_string(i) + " "; };
    };
    std::size_t in = 0, out = 0;
    for (const Binding& b : program.bindings) {
        const bool read = b.access != Access::write, write = b.access != Access::read;
        if (read) {
            check_span(job.inputs[in], job, job.inputs[in].broadcast, limits, where("input", in));
            check_block(job.inputs[in], job, b, where("input", in));
        }
        if (write) {
            check_span(job.outputs[out], job, false, limits, where("output", out));
            check_block(job.outputs[out], job, b, where("output", out));
        }
        if (read && write && (job.inputs[in].broadcast || job.inputs[in].bytes != job.outputs[out].bytes))
            refuse(where("input", in)() + "feeds " + listed_binding(b) +
                   ", whose input and output must have equal size" +
                   got_need(job.inputs[in].bytes, std::to_string(job.outputs[out].bytes) + " bytes"));
        in += read ? 1u : 0u;
        out += write ? 1u : 0u;
    }
    if (job.elements == 0) return;
    for (std::size_t i = 0; i < job.inputs.size(); ++i)
        if (job.inputs[i].broadcast) check_table(job, i, where("input", i));
    in = out = 0;
    for (const Binding& b : program.bindings) {
        const bool read = b.access != Access::write, write = b.access != Access::read;
        if (read && !job.inputs[in].broadcast)
            check_cuts(program, limits, job, job.inputs[in], b, where("input", in));
        if (write) check_cuts(program, limits, job, job.outputs[out], b, where("output", out));
        in += read ? 1u : 0u;
        out += write ? 1u : 0u;
    }
}

void append_spans(const Job& job, std::uint64_t index, std::vector<JobSpan>& spans) {
    if (job.elements == 0) return;
    for (const InputSpan& span : job.inputs) spans.push_back(span_of(span.data, span.bytes, index, false));
    for (const OutputSpan& span : job.outputs) spans.push_back(span_of(span.data, span.bytes, index, true));
}

void check_overlaps(std::vector<JobSpan>& spans) {
    const std::optional<Overlap> found = find_overlap(spans);
    if (!found) return;
    refuse("memory of job " + std::to_string(found->a.job) + " and job " + std::to_string(found->b.job) +
           " overlaps where one of them writes (got an overlap of " + std::to_string(found->bytes()) +
           " bytes, need separate spans, or exactly the same span for in-place output of one job)");
}

BatchSettings settle_options(const DevicePlan& plan, const DeviceSnapshot& device,
                             const BatchOptions& options, std::uint64_t total_bytes) {
    check_enum("run_batch", "batch mode", options.mode, BatchMode::pipelined);
    check_enum("run_batch", "path", options.path, Path::host);
    check_enum("run_batch", "queue mode", options.queues, QueueMode::split);
    check_enum("run_batch", "stage times", options.stage_times, Choice::on);
    if (options.ring_slots > 16)
        refuse("BatchOptions::ring_slots out of range" + got_need(options.ring_slots, "1 to 16, or 0"));
    if (options.chunk_elements > 0xffffffffu)
        refuse("BatchOptions::chunk_elements out of range" +
               got_need(options.chunk_elements, "at most 4294967295"));
    check_path(plan, device, options.path);
    BatchSettings s;
    s.mode = options.mode;
    s.path = options.path;
    s.transfer = plan.transfer;
    s.total_bytes = total_bytes;
    s.split = options.queues == QueueMode::automatic ? plan.queues.split : options.queues == QueueMode::split;
    s.slots = options.mode == BatchMode::sequential ? 1
              : options.ring_slots != 0             ? options.ring_slots
                                                    : plan.ring_slots;
    s.chunk_exact = options.chunk_elements != 0 || plan.chunk_exact;
    s.chunk_elements = options.chunk_elements != 0 ? options.chunk_elements : plan.chunk_elements;
    s.chunk_bytes = s.chunk_exact ? 0 : plan.chunk_bytes;
    // In a smaller batch the queries cost more than the times are worth.
    constexpr std::uint64_t kTimesFromBytes = std::uint64_t{1} << 20;
    s.stage_times =
        plan.timestamps && (options.stage_times == Choice::on ||
                            (options.stage_times == Choice::automatic && total_bytes >= kTimesFromBytes));
    return s;
}

}  // namespace weft::core
