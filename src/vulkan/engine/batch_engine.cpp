// SPDX-License-Identifier: Apache-2.0
#include "vulkan/engine/batch_engine.hpp"

#include <algorithm>
#include <utility>

namespace weft::core {

using std::chrono::steady_clock;

namespace {

/// What a chunk moves. A table bound whole for every chunk counts whole.
std::uint64_t bytes_of(const Job& job, const Chunk& chunk) {
    std::uint64_t bytes = 0;
    for (const InputSpan& span : job.inputs)
        bytes += slice(span.bytes, span.broadcast, job.elements, chunk).bytes;
    for (const OutputSpan& span : job.outputs) bytes += slice(span.bytes, false, job.elements, chunk).bytes;
    return bytes;
}

}  // namespace

BatchEngine::BatchEngine(BackendState& backend_state, std::shared_ptr<const ProgramObject> program,
                         const BatchSettings& settings, JobListener* listener)
    : backend_state_(backend_state),
      context_(*backend_state.context()),
      program_(std::move(program)),
      shape_(needs_of(*program_)),
      settings_(settings),
      listener_(listener),
      ring_(backend_state.acquire_ring(settings.slots)),
      layout_(shape_, context_.device.snapshot().limits.storage_buffer_offset_alignment),
      begin_(steady_clock::now()) {
    report_.split_queues = settings_.split;
    report_.slots = settings_.slots;
    if (!settings_.stage_times) return;
    report_.intervals.reserve(64);
    context_.clocks.refresh(true);
}

BatchEngine::~BatchEngine() {
    abandon();
    backend_state_.release_ring(std::move(ring_));
}

std::uint64_t BatchEngine::add(const Job& job) {
    jobs_.push_back({&job, 0, 0, false});
    const std::uint64_t id = base_ + jobs_.size() - 1;
    report_.bytes_in += job.elements != 0 ? job_bytes_in(job) : 0;
    report_.bytes_out += job.elements != 0 ? job_bytes_out(job) : 0;
    report_.elements += job.elements;
    skip_over();
    return id;
}

void BatchEngine::fail(std::uint64_t job) {
    while (in_flight_ != 0) finish();
    if (job < base_ || pending(job).over) return;
    pending(job).over = true;
    std::erase_if(imports_, [&](const auto& import) { return import.first == job; });
    ring_->chunks.clear();
    skip_over();
}

/// Moves on past jobs that have nothing left to start; jobs without elements are done at once.
void BatchEngine::skip_over() {
    while (next_ < jobs_.size()) {
        Pending& p = jobs_[next_];
        if (!p.over && p.next < p.job->elements) break;
        if (!p.over && p.open_chunks == 0) complete_job(base_ + next_);
        ++next_;
    }
    while (!jobs_.empty() && jobs_.front().over && next_ > 0) {
        jobs_.pop_front();
        ++base_;
        --next_;
    }
}

void BatchEngine::complete_job(std::uint64_t job) {
    pending(job).over = true;
    std::erase_if(imports_, [&](const auto& import) { return import.first == job; });
    ++report_.jobs;
    if (listener_ != nullptr) listener_->on_job_done(job);
}

/// Elsewhere than on devices that keep imports, one lives as long as its job: the user answers for the memory
/// no longer.
HostRange BatchEngine::import_for(std::uint64_t job, const void* data, std::uint64_t bytes) {
    try {
        auto buffer = BufferObject::import(backend_state_.context(), data, bytes);
        const auto offset =
            reinterpret_cast<std::uintptr_t>(data) - reinterpret_cast<std::uintptr_t>(buffer->mapped());
        imports_.emplace_back(job, buffer);
        return {std::move(buffer), offset};
    } catch (const Error& e) {
        if (e.code() == Errc::device_lost) throw;
        return {};  // pages the driver does not take are copied
    }
}

void BatchEngine::locate(const Chunk& chunk, bool import, ChunkSpans& spans) {
    const Job& job = *spans.job;
    spans.pinned = true;
    spans.imported = false;
    const auto find = [&](const void* data, std::uint64_t span_bytes, bool broadcast) -> HostRange {
        const ByteSlice part = slice(span_bytes, broadcast, job.elements, chunk);
        const auto* at = static_cast<const std::byte*>(data) + part.offset;
        HostRange range = context_.host_ranges.find(at, part.bytes);
        if (!range.buffer && import && span_bytes >= settings_.transfer.import_min_bytes) {
            // The whole span, so that its other chunks find it too.
            HostRange whole;
            if (settings_.transfer.keep_imports) {
                whole = backend_state_.imports().find_or_import(backend_state_.context(), data, span_bytes);
            } else {
                whole = import_for(chunk.job, data, span_bytes);
            }
            if (whole.buffer) range = {std::move(whole.buffer), whole.offset + part.offset};
        }
        spans.pinned = spans.pinned && range.buffer != nullptr;
        spans.imported = spans.imported || (range.buffer && range.buffer->imported());
        return range;
    };
    for (std::size_t i = 0; i < job.inputs.size(); ++i)
        spans.inputs[i] = find(job.inputs[i].data, job.inputs[i].bytes, job.inputs[i].broadcast);
    for (std::size_t i = 0; i < job.outputs.size(); ++i)
        spans.outputs[i] = find(job.outputs[i].data, job.outputs[i].bytes, false);
}

/// Gathers chunks from the queue without starting them. false: nothing to start.
bool BatchEngine::plan_bundle() {
    plan_.chunks.clear();
    plan_.needs = {};
    ring_->chunks.clear();
    layout_.restart();
    std::uint64_t bytes = 0;
    // Where memory is short, chunks travel alone.
    const bool short_of_memory = memory_chunk_limit_ != ~std::uint64_t{0};
    const std::uint64_t limit = short_of_memory ? 0 : workgroup_limit(settings_);
    std::size_t index = next_;
    std::uint64_t first = jobs_[index].next;
    while (index < jobs_.size() && plan_.chunks.size() < kMaxBundleChunks) {
        if (jobs_[index].over || first >= jobs_[index].job->elements) {
            if (++index < jobs_.size()) first = jobs_[index].next;
            continue;
        }
        const Job& job = *jobs_[index].job;
        Chunk chunk{base_ + index, first, job.elements - first};
        ChunkSpans spans;
        spans.job = &job;
        locate(chunk, false, spans);
        const std::uint64_t per_job = job_bytes_in(job) + job_bytes_out(job);
        Route route = choose_route(settings_, context_.device.snapshot(), per_job, spans.pinned);
        const std::uint64_t most =
            std::min(memory_chunk_limit_,
                     chunk_limit(shape_, context_.device.snapshot().limits, settings_, job, route.copies));
        const std::uint64_t started = started_bytes_ + bytes, total = report_.bytes_in + report_.bytes_out;
        const bool tapers =
            route.copies && !settings_.cuts_exactly() && settings_.mode == BatchMode::pipelined;
        chunk.count = tapers ? taper(most, chunk.count, per_job / job.elements, started,
                                     total > started ? total - started : 0)
                             : std::min(chunk.count, most);
        if (spans.imported && settings_.path == Path::automatic) route.path = Path::imported;
        const std::uint64_t part_bytes = bytes_of(job, chunk);
        const bool same_way =
            plan_.chunks.empty() || (route.path == plan_.route.path && route.copies == plan_.route.copies);
        if (!plan_.chunks.empty() && (!same_way || bytes + part_bytes > limit)) break;
        locate(chunk, route.import, spans);  // ranges of the chunk itself, now that its size is known
        layout_.measure(chunk, spans, route, plan_.needs);
        plan_.route = route;
        plan_.chunks.push_back(chunk);
        ring_->chunks.push_back(std::move(spans));
        bytes += part_bytes;
        first += chunk.count;
        if (limit == 0) break;
    }
    return !plan_.chunks.empty();
}

/// Makes room for the planned bundle; on exhaustion gives memory back and asks for less. false: plan again.
bool BatchEngine::reserve(Slot& slot) {
    try {
        slot.reserve(plan_.needs);
        return true;
    } catch (const Error& e) {
        // The only argument to be invalid here is the size of an area beyond what one buffer can hold.
        if (e.code() != Errc::out_of_memory && e.code() != Errc::invalid_argument) throw;
        while (in_flight_ != 0) finish();
        for (auto& other : ring_->slots) other->shrink();
        backend_state_.trim();
        shrink_request(e);
        return false;
    }
}

/// Smaller chunks as long as they are what takes the room, then fewer slots. With every slot idle and empty.
void BatchEngine::shrink_request(const Error& refusal) {
    // What a slot takes at least; below it smaller chunks free nothing.
    constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 20;
    std::uint64_t largest = 0, bytes = 0;
    for (const Chunk& chunk : plan_.chunks) largest = std::max(largest, chunk.count);
    for (const std::uint64_t need : plan_.needs) bytes += need;
    if (largest > 1 && bytes > kLeastBytes) {
        memory_chunk_limit_ = largest / 2;
    } else if (ring_->slots.size() > 1) {
        memory_chunk_limit_ = largest;
        head_ = 0;
        ring_->slots.resize(1);
    } else {
        throw Error(Errc::out_of_memory,
                    "run_batch: no memory for even " + std::to_string(largest) +
                        " elements at a time; last refusal: " + refusal.what(),
                    refusal.native_code());
    }
    context_.device.log().write(
        LogLevel::info, "run_batch: out of memory, goes on with " + std::to_string(memory_chunk_limit_) +
                            " elements a chunk and " + std::to_string(ring_->slots.size()) + " slots");
}

SubmitMode BatchEngine::shape(const Bundle& work) const {
    if (!work.route.copies) return SubmitMode::kernel_only;
    if (work.download_groups != 0) return SubmitMode::paced;
    return settings_.split ? SubmitMode::split : SubmitMode::fused;
}

void BatchEngine::build(Slot& slot) {
    slot.work.clear();
    slot.work.route = plan_.route;
    layout_.restart();
    for (std::size_t i = 0; i < plan_.chunks.size(); ++i) {
        layout_.write(plan_.chunks[i], ring_->chunks[i], plan_.route, slot.areas(), slot.work);
        slot.work.chunks.back().workgroups = program_->workgroups(plan_.chunks[i].count);
    }
    ring_->chunks.clear();
    slot.work.download_groups = pace_of(slot.work);
    slot.timed = settings_.stage_times || (context_.trace.active() && context_.device.plan().timestamps);
    recording_key(slot.work, *program_->pipeline, shape(slot.work), slot.timed, ring_->key);
    bool fresh = false;
    slot.active = &slot.recording(ring_->key, fresh);
    if (fresh) {
        try {
            record(context_, slot.work, *program_->pipeline, shape(slot.work), slot.timed, *slot.active);
        } catch (...) {
            slot.active->key.clear();
            throw;
        }
    }
}

void BatchEngine::submit(Slot& slot) {
    const Recording& r = *slot.active;
    Device& device = context_.device;
    if (slot.timed) device.vk.vkResetQueryPool(device.handle(), r.queries, 0, 2 * kQueueRoles);
    const auto commands = [&](QueueRole role) { return r.commands[static_cast<std::size_t>(role)]; };
    const SubmitMode how = shape(slot.work);
    if (how == SubmitMode::kernel_only || how == SubmitMode::fused) {
        slot.done = context_.timelines.submit(QueueRole::compute, commands(QueueRole::compute));
        return;
    }
    // After each submission the token is kept: should the next one fail, the slot still knows what runs on
    // it.
    slot.done = context_.timelines.submit(QueueRole::upload, commands(QueueRole::upload));
    slot.done = context_.timelines.submit(QueueRole::compute, commands(QueueRole::compute), slot.done);
    if (how == SubmitMode::paced) return;
    slot.done = context_.timelines.submit(QueueRole::download, commands(QueueRole::download), slot.done);
}

/// The user's page-locked memory is flushed as the slot's own: both may be of a kind the device does not
/// snoop.
void BatchEngine::flush(const Bundle& work) {
    for (const ChunkDispatch& chunk : work.chunks)
        for (std::uint32_t k = 0; k < chunk.bound_count; ++k)
            if (chunk.bound[k].buffer->mapped() != nullptr)
                chunk.bound[k].buffer->flush(chunk.bound[k].offset, chunk.bound[k].bytes);
    for (const CopyRegion& region : work.uploads) region.source->flush(region.source_offset, region.bytes);
    // Lines the host left dirty would be written over what the device is about to store.
    for (const CopyRegion& region : work.downloads) region.target->flush(region.target_offset, region.bytes);
}

void BatchEngine::launch(Slot& slot) {
    slot.done = {};
    try {
        build(slot);
        timed_copy(slot, ProfileStage::copy_in);
        flush(slot.work);
        submit(slot);
    } catch (...) {
        // The upload may run although the kernel could not be submitted.
        context_.timelines.drain(slot.done);
        slot.work.clear();
        throw;
    }
}

void BatchEngine::start() {
    context_.device.require_usable("run_batch");
    failed_job_ = base_ + next_;
    for (;;) {
        if (!plan_bundle()) return;
        // finish() inside reserve() may free slots but never moves this one: it is the next in the circle.
        if (reserve(*ring_->slots[(head_ + in_flight_) % ring_->slots.size()])) break;
    }
    if (context_.trace.active()) context_.trace.ring_acquire();
    Slot& slot = *ring_->slots[(head_ + in_flight_) % ring_->slots.size()];
    launch(slot);
    started_bytes_ += slot.work.bytes;
    ++in_flight_;
    ++report_.bundles;
    report_.chunks += plan_.chunks.size();
    for (const Chunk& chunk : plan_.chunks) {
        Pending& p = pending(chunk.job);
        p.next = chunk.first + chunk.count;
        ++p.open_chunks;
        report_.chunk_elements = std::max(report_.chunk_elements, chunk.count);
    }
    note_route(plan_.route, slot.work);
    skip_over();
}

Token BatchEngine::oldest() const {
    return ring_->slots[head_]->done;
}

void BatchEngine::finish() {
    Slot& slot = *ring_->slots[head_];
    if (!oldest_done_) await_oldest(std::chrono::nanoseconds::max(), true);
    oldest_done_ = false;
    const auto index = static_cast<std::uint32_t>(head_);
    head_ = (head_ + 1) % ring_->slots.size();
    --in_flight_;
    if (slot.timed || context_.trace.active()) report_stages(slot, index);
    for (const ChunkDispatch& chunk : slot.work.chunks)
        for (std::uint32_t k = 0; k < chunk.bound_count; ++k)
            if (chunk.bound[k].buffer->mapped() != nullptr)
                chunk.bound[k].buffer->invalidate(chunk.bound[k].offset, chunk.bound[k].bytes);
    for (const CopyRegion& region : slot.work.downloads)
        region.target->invalidate(region.target_offset, region.bytes);
    timed_copy(slot, ProfileStage::copy_out);
    slot.work.keep_alive.clear();
    for (const ChunkDispatch& chunk : slot.work.chunks) {
        Pending& p = pending(chunk.chunk.job);
        if (--p.open_chunks == 0 && p.next >= p.job->elements) complete_job(chunk.chunk.job);
    }
    skip_over();
}

void BatchEngine::abandon() noexcept {
    while (in_flight_ != 0) {
        context_.timelines.drain(ring_->slots[head_]->done);
        head_ = (head_ + 1) % ring_->slots.size();
        --in_flight_;
    }
    oldest_done_ = false;
    // What was planned or failed half way still holds page-locked memory of the user's.
    for (auto& slot : ring_->slots) slot->work.clear();
    ring_->chunks.clear();
    imports_.clear();
    base_ += jobs_.size();
    jobs_.clear();
    next_ = 0;
}

}  // namespace weft::core
