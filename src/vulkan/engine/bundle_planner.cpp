// SPDX-License-Identifier: Apache-2.0
#include "vulkan/engine/bundle_planner.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "plan/work/chunk_bounds.hpp"

namespace weft::core {
namespace {

std::uint64_t bytes_per_job(const Job& job) {
    return job_bytes_in(job) + job_bytes_out(job);
}

/// The bytes that a chunk moves. A table that is bound whole for every chunk counts as a whole.
std::uint64_t bytes_of(const PlannedChunk& planned) {
    const Job& job = *planned.spans.job;
    std::uint64_t bytes = 0;
    for (const InputSpan& span : job.inputs)
        bytes += slice(span.bytes, span.broadcast, job.elements, planned.chunk).bytes;
    for (const OutputSpan& span : job.outputs)
        bytes += slice(span.bytes, false, job.elements, planned.chunk).bytes;
    return bytes;
}

/// Calls visit(data, bytes of the span, broadcast, its range) for every span of a job.
template <class Visit>
void for_each_span(const Job& job, ChunkSpans& spans, const Visit& visit) {
    for (std::size_t i = 0; i < job.inputs.size(); ++i)
        visit(job.inputs[i].data, job.inputs[i].bytes, job.inputs[i].broadcast, spans.inputs[i]);
    for (std::size_t i = 0; i < job.outputs.size(); ++i)
        visit(job.outputs[i].data, job.outputs[i].bytes, false, spans.outputs[i]);
}

}  // namespace

BundlePlanner::BundlePlanner(BackendState& backend_state, const ProgramObject& program,
                             const BatchSettings& settings, std::vector<PlannedChunk>& chunks)
    : backend_state_(backend_state),
      device_(backend_state.context()->device),
      program_(program),
      program_needs_(needs_of(program)),
      settings_(settings),
      layout_(program_needs_, device_.snapshot().limits.storage_buffer_offset_alignment),
      chunks_(chunks) {}

/// Finds the page-locked memory behind the rest of a job. The ranges stay valid when the chunk is cut.
PlannedChunk BundlePlanner::locate(const Job& job, const Chunk& rest) const {
    PlannedChunk planned;
    planned.chunk = rest;
    planned.spans.job = &job;
    planned.spans.pinned = true;
    for_each_span(
        job, planned.spans, [&](const void* data, std::uint64_t bytes, bool broadcast, HostRange& range) {
            const ByteSlice part = slice(bytes, broadcast, job.elements, rest);
            range =
                backend_state_.context()->host_ranges.find(static_cast<const std::byte*>(data) + part.offset);
            const bool whole = range.buffer && range.bytes >= part.bytes;
            planned.spans.pinned = planned.spans.pinned && whole;
            planned.spans.imported = planned.spans.imported || (whole && range.buffer->imported());
        });
    return planned;
}

Route BundlePlanner::route_of(const PlannedChunk& planned) const {
    Route route =
        choose_route(settings_, device_.snapshot(), bytes_per_job(*planned.spans.job), planned.spans.pinned);
    if (planned.spans.imported && settings_.path == Path::automatic) {
        route.path = Path::imported;
        route.reason = "for memory that was imported before";
    }
    return route;
}

std::uint64_t BundlePlanner::count_of(const PlannedChunk& planned, const Route& route, std::uint64_t started,
                                      std::uint64_t total_bytes) const {
    const Job& job = *planned.spans.job;
    std::uint64_t most = std::min(memory_chunk_limit_, chunk_limit(program_needs_, device_.snapshot().limits,
                                                                   settings_, job, route.copies));
    // Chunks whose size was asked for keep it, and their dispatches are cut instead.
    if (!settings_.cuts_exactly())
        most = std::min(most,
                        elements_within(job.elements, work_of(job, job.elements) / double(job.elements),
                                        program_.pipeline->cuts->pace(), backend_state_.context()->budget));
    const bool tapers = route.copies && !settings_.cuts_exactly() && settings_.mode == BatchMode::pipelined;
    const std::uint64_t left = planned.chunk.count;
    const std::uint64_t wanted = tapers ? taper(most, left, bytes_per_job(job) / job.elements, started,
                                                total_bytes > started ? total_bytes - started : 0)
                                        : std::min(left, most);
    if (wanted == left) return left;  // long enough: the job was checked, and so was what a cut leaves
    return cut_chunk(left, wanted, chunk_bounds(program_needs_, device_.snapshot().limits, job));
}

/// Units of work in `elements` elements of a job.
double BundlePlanner::work_of(const Job& job, std::uint64_t elements) const {
    return dispatch_work(program_.operations, elements, bytes_per_job(job) / job.elements * elements);
}

/// Workgroups of the parts that the dispatch of a chunk is cut into; 0: it is not cut.
std::uint64_t BundlePlanner::part_workgroups(const Job& job, std::uint64_t elements,
                                             const WorkgroupGrid& grid) const {
    const DispatchPace pace = program_.pipeline->cuts->pace();
    const std::uint64_t all = std::uint64_t{grid.x} * grid.y;
    if (pace.seconds <= 0 || all == 1) return 0;
    const std::uint64_t most = workgroups_within(all, work_of(job, elements) / static_cast<double>(all), pace,
                                                 backend_state_.context()->budget);
    // A power of two, so that a pace that varies a little does not make other recordings each time.
    return most == all ? 0 : std::bit_floor(most);
}

/// Shortens the chunk to `count` elements and imports spans if the route imports.
void BundlePlanner::cut(PlannedChunk& planned, const Route& route, std::uint64_t count) {
    planned.chunk.count = count;
    const Job& job = *planned.spans.job;
    for_each_span(job, planned.spans,
                  [&](const void* data, std::uint64_t bytes, bool broadcast, HostRange& range) {
                      const ByteSlice part = slice(bytes, broadcast, job.elements, planned.chunk);
                      if (range.buffer && range.bytes >= part.bytes) return;
                      range = {};
                      if (!route.import || bytes < settings_.transfer.import_min_bytes) return;
                      // The whole span, so that its other chunks find it too.
                      range = import(planned.chunk, data, bytes);
                      if (range.buffer) range.offset += part.offset;
                  });
}

/// If the device does not keep imports, an import ends with its job: only until then does the caller
/// guarantee the memory.
HostRange BundlePlanner::import(const Chunk& chunk, const void* data, std::uint64_t bytes) {
    const std::shared_ptr<Context>& context = backend_state_.context();
    if (settings_.transfer.keep_imports) return backend_state_.imports().find_or_import(context, data, bytes);
    try {
        auto buffer = BufferObject::import(context, data, bytes);
        const auto offset =
            reinterpret_cast<std::uintptr_t>(data) - reinterpret_cast<std::uintptr_t>(buffer->mapped());
        imports_.emplace_back(chunk.job, buffer);
        return {std::move(buffer), offset};
    } catch (const Error& e) {
        if (e.code() == Errc::device_lost) throw;
        log_refused_import(*context, e);
        return {};
    }
}

bool BundlePlanner::plan(const PendingJobs& pending, std::uint64_t total_bytes) {
    chunks_.clear();
    needs_ = {};
    layout_.restart();
    std::uint64_t bytes = 0;
    // If memory is short, each chunk travels alone.
    const std::uint64_t limit = memory_chunk_limit_ != kNoLimit ? 0 : bundle_limit(settings_);
    for (std::size_t index = pending.next; index < pending.jobs.size(); ++index) {
        const PendingJob& job = pending.jobs[index];
        for (std::uint64_t first = job.next; !job.over && first < job.end;) {
            if (chunks_.size() == kMaxBundleChunks) return true;
            PlannedChunk planned = locate(*job.job, {pending.base + index, first, job.end - first});
            const Route route = route_of(planned);
            planned.chunk.count = count_of(planned, route, started_bytes_ + bytes, total_bytes);
            const std::uint64_t chunk_bytes = bytes_of(planned);
            const bool same_way = route.path == route_.path && route.copies == route_.copies;
            if (!chunks_.empty() && (!same_way || bytes + chunk_bytes > limit)) return true;
            cut(planned, route, planned.chunk.count);
            layout_.measure(planned.chunk, planned.spans, route, needs_);
            route_ = route;
            bytes += chunk_bytes;
            first += planned.chunk.count;
            chunks_.push_back(std::move(planned));
            if (limit == 0) return true;
        }
    }
    return !chunks_.empty();
}

void BundlePlanner::write(const Areas& areas, Bundle& work) {
    work.clear();
    work.route = route_;
    work.submit = submit_mode(route_, settings_.split);
    work.first_job = chunks_.front().spans.job;
    layout_.restart();
    for (const PlannedChunk& planned : chunks_) {
        layout_.write(planned.chunk, planned.spans, route_, areas, work);
        ChunkDispatch& chunk = work.chunks.back();
        chunk.workgroups = program_.workgroups(planned.chunk.count);
        chunk.part_workgroups = part_workgroups(*planned.spans.job, planned.chunk.count, chunk.workgroups);
        work.amount += work_of(*planned.spans.job, planned.chunk.count);
    }
    chunks_.clear();
}

std::size_t BundlePlanner::shrink_request(const Error& refusal, std::size_t slots) {
    // A slot takes at least this much, so smaller chunks would free nothing.
    constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 20;
    std::uint64_t largest = 0, bytes = 0;
    for (const PlannedChunk& planned : chunks_) largest = std::max(largest, planned.chunk.count);
    for (const std::uint64_t need : needs_) bytes += need;
    // A chunk that is as short as its bindings allow stays larger than the limit.
    if (largest > 1 && largest / 2 < memory_chunk_limit_ && bytes > kLeastBytes) {
        memory_chunk_limit_ = largest / 2;
    } else if (slots > 1) {
        memory_chunk_limit_ = largest;
        slots = 1;
    } else {
        throw Error(Errc::out_of_memory,
                    "run_batch: no memory for even " + std::to_string(largest) +
                        " elements at a time; last refusal: " + refusal.what(),
                    refusal.native_code());
    }
    device_.log().write(LogLevel::info, "run_batch: out of memory, continues with " +
                                            std::to_string(memory_chunk_limit_) + " elements a chunk and " +
                                            std::to_string(slots) + " slots");
    return slots;
}

void BundlePlanner::release_imports(std::uint64_t job) {
    std::erase_if(imports_, [&](const auto& import) { return import.first == job; });
}

void BundlePlanner::clear() noexcept {
    chunks_.clear();
    imports_.clear();
}

}  // namespace weft::core
