// SPDX-License-Identifier: Apache-2.0
#include "vulkan/stream/stream_state.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace weft::core {
namespace {

// If so many lists are under way, recording waits for the oldest.
constexpr std::size_t kMostUnderWay = 256;
// Larger transfers are made in parts of this size: the host copies one part while the device moves another.
// Uploads of this much in total are submitted automatically, so that memory stays bounded.
constexpr std::uint64_t kPartBytes = std::uint64_t{32} << 20;

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Errc::invalid_argument, "Stream::" + what);
}

void invalidate(const HostWrites& writes) {
    for (const BufferRange& range : writes) range.buffer->invalidate(range.offset, range.bytes);
}

}  // namespace

std::shared_ptr<BufferObject> StagingCache::take(const std::shared_ptr<Context>& context, MemoryKind kind,
                                                 std::uint64_t bytes) {
    constexpr std::uint64_t kLeast = 4096, kStep = std::uint64_t{1} << 20;
    const auto fits = [&](const Entry& e) {
        return e.kind == kind && e.buffer->bytes() >= bytes &&
               e.buffer->bytes() / 4 <= std::max(bytes, kLeast);
    };
    const auto found = std::find_if(idle_.rbegin(), idle_.rend(), fits);
    if (found != idle_.rend()) {
        std::shared_ptr<BufferObject> buffer = std::move(found->buffer);
        idle_.erase(std::next(found).base());
        idle_bytes_ -= buffer->bytes();
        return buffer;
    }
    // Rounded up, so that requests of similar sizes share buffers.
    std::uint64_t rounded = kLeast;
    while (rounded < bytes && rounded < kStep) rounded *= 2;
    if (rounded < bytes) rounded = (bytes + kStep - 1) / kStep * kStep;
    return BufferObject::create(context, kind, rounded, "stream staging");
}

void StagingCache::give_back(std::shared_ptr<BufferObject> buffer, MemoryKind kind) {
    constexpr std::uint64_t kMostIdleBytes = std::uint64_t{128} << 20;
    idle_bytes_ += buffer->bytes();
    idle_.push_back({std::move(buffer), kind});
    while (idle_bytes_ > kMostIdleBytes) {
        idle_bytes_ -= idle_.front().buffer->bytes();
        idle_.erase(idle_.begin());
    }
}

void StagingCache::give_back(std::vector<std::shared_ptr<BufferObject>> buffers) {
    for (auto& buffer : buffers) give_back(std::move(buffer), MemoryKind::upload);
}

StreamState::StreamState(std::shared_ptr<BackendState> backend_state, std::string name, QueueRole role)
    : backend_state_(std::move(backend_state)),
      context_(*backend_state_->context()),
      device_(context_.device),
      name_(std::move(name)),
      role_(role) {
    device_.require_usable("Stream");
}

StreamState::StreamState(std::shared_ptr<BackendState> backend_state, std::string name,
                         VkCommandBuffer external)
    : StreamState(std::move(backend_state), std::move(name)) {
    external_ = std::make_shared<CommandList>(backend_state_->context(), external);
    external_->begin(false);
}

StreamState::~StreamState() {
    if (device_.beyond_use()) return;
    context_.timelines.drain(done_);
    if (device_.untouchable() || !context_.trace.active()) return;
    try {
        collect();  // so that a listener gets work that no caller waited for
    } catch (...) {
        // The device is lost, or the host has no memory: nothing to report then.
    }
}

CommandList& StreamState::list() {
    device_.require_usable("Stream");
    if (ended_) refuse("native::record has returned (got a step, need steps inside the call)");
    if (external_) return *external_;
    if (recording_) return *recording_;
    if (pending_ && context_.trace.active() && !pending_->timed()) submit_list();
    if (pending_) return *pending_;
    collect();
    if (under_way_.size() >= kMostUnderWay) {
        context_.timelines.wait(under_way_.front().done);
        collect();
    }
    std::shared_ptr<CommandList> list;
    if (idle_.empty()) {
        list = std::make_shared<CommandList>(backend_state_->context(), role_);
        list->set_name(name_.empty() ? "stream" : name_);
    } else {
        list = std::move(idle_.front());
        idle_.pop_front();
    }
    list->begin(false);
    listen_to(*list);
    pending_ = std::move(list);
    return *pending_;
}

/// Only for an empty list. Steps that were recorded without a listener are submitted by themselves and timed
/// as a whole, so that a listener gets every step that is submitted while it listens.
void StreamState::listen_to(CommandList& list) const {
    if (!context_.trace.active() || list.timed()) return;
    list.start_timing(stage_event(Stage::kernel).stream);
}

BufferRange StreamState::range(const std::shared_ptr<BufferObject>& object, std::uint64_t offset,
                               std::uint64_t bytes, const char* what) const {
    if (object == nullptr) refuse(std::string(what) + ": buffer was moved from");
    if (offset > object->bytes() || bytes > object->bytes() - offset)
        refuse(std::string(what) + ": view reaches beyond its buffer (got offset " + std::to_string(offset) +
               " and " + std::to_string(bytes) + " bytes, need at most " + std::to_string(object->bytes()) +
               " in sum)");
    if (object->context() != backend_state_->context())
        refuse(std::string(what) +
               ": buffer belongs to another backend (need one made with this stream's backend)");
    return {object, offset, bytes};
}

void StreamState::upload(const void* source, const BufferRange& target) {
    // Inside record() the whole source has to be kept, and an external list cannot be submitted here.
    const bool may_submit = !recording_ && !external_;
    const std::uint64_t chunk = may_submit ? kPartBytes : target.bytes;
    for (std::uint64_t at = 0; at < target.bytes; at += chunk) {
        const std::uint64_t bytes = std::min(chunk, target.bytes - at);
        CommandList& to = list();  // collects finished work, so that the next line can use its staging
        auto staging = staging_.take(backend_state_->context(), MemoryKind::upload, bytes);
        copy({staging->mapped(), static_cast<const std::byte*>(source) + at, bytes}, Stage::copy_in);
        staging->flush(0, bytes);
        to.keep_staging(staging);
        to.copy({std::move(staging), 0, bytes}, {target.buffer, target.offset + at, bytes});
        if (!may_submit || to.staging_bytes() < kPartBytes) continue;
        submit_list();
        // Two parts under way keep the device busy; more would only take memory.
        if (under_way_.size() > 2) context_.timelines.wait(under_way_[under_way_.size() - 3].done);
    }
}

void StreamState::download(const BufferRange& source, void* target) {
    device_.require_usable("Stream::download");
    refuse_while_recording("download");
    struct Part {
        std::shared_ptr<BufferObject> staging;
        std::uint64_t at = 0, bytes = 0;
        Token done;
    };
    const auto finish = [&](Part& part) {
        const bool alone = under_way_.size() == 1;
        const SteadyTime begin = std::chrono::steady_clock::now();
        context_.timelines.wait(part.done);
        if (alone) learn_from_wait(begin);
        part.staging->invalidate(0, part.bytes);
        copy({static_cast<std::byte*>(target) + part.at, part.staging->mapped(), part.bytes},
             Stage::copy_out);
        staging_.give_back(std::move(part.staging), MemoryKind::download);
    };
    Part before;
    for (std::uint64_t at = 0; at < source.bytes; at += kPartBytes) {
        Part part{nullptr, at, std::min(kPartBytes, source.bytes - at), {}};
        CommandList& to = list();
        part.staging = staging_.take(backend_state_->context(), MemoryKind::download, part.bytes);
        to.copy({source.buffer, source.offset + at, part.bytes}, {part.staging, 0, part.bytes});
        submit_list();
        part.done = done_;
        if (before.staging) finish(before);
        before = std::move(part);
    }
    if (before.staging) finish(before);
    wait(std::chrono::nanoseconds::max());
}

void StreamState::refuse_while_recording(const char* what) const {
    if (recording_) refuse(std::string(what) + ": not inside record(), which only takes steps");
    if (external_)
        refuse(std::string(what) +
               ": the stream records into a command buffer of the application, which submits it");
}

Event StreamState::event() const {
    return detail::Access::make<Event>(
        std::make_shared<const EventState>(EventState{backend_state_->context(), done_, host_writes_}));
}

Event StreamState::submit(const char* what) {
    device_.require_usable(what);
    refuse_while_recording("submit");
    submit_list();
    return event();
}

void StreamState::submit_list() {
    if (!pending_) {
        if (!wait_for_) return;
        // So that later events are reached after the event that was waited for.
        done_ = context_.timelines.submit_after(role_, {}, awaited());
        waited(done_);
        return;
    }
    // A list that cannot be ended or submitted is dropped as a whole.
    const std::shared_ptr<CommandList> list = std::move(pending_);
    pending_ = nullptr;
    last_load_ = std::exchange(load_, {});
    list->end();
    hand_over(list, true);
}

void StreamState::hand_over(const std::shared_ptr<CommandList>& list, bool own) {
    list->flush_host_reads();
    const bool again = !own && !under_way_.empty() && under_way_.back().list == list;
    if (!again) {
        collect();
        under_way_.push_back({list, {}, own});
    }
    try {
        done_ = own ? submit_own(*list) : submit_sequence(*list);
    } catch (...) {
        if (!again) under_way_.pop_back();
        throw;
    }
    under_way_.back().done = done_;
    waited(done_);
    if (!again)
        host_writes_.insert(host_writes_.end(), list->host_writes().begin(), list->host_writes().end());
}

void StreamState::waited(Token token) {
    if (wait_for_ && wait_for_->external) {
        wait_for_->external->add_waiter(token);
        external_wait_ = token;
    }
    wait_for_ = nullptr;
}

Token StreamState::submit_own(CommandList& list) {
    if (!list.timed()) return submit_whole(list, "(earlier steps)");
    list.before_submit();
    const Token done = submit_one(list);
    list.submitted(done);
    return done;
}

Token StreamState::submit_one(const CommandList& list) {
    const VkCommandBuffer commands = list.handle();
    return context_.timelines.submit_after(role_, {&commands, 1}, awaited());
}

Token StreamState::submit_sequence(const CommandList& list) {
    const bool listened = context_.trace.active();
    const NameId stream = listened ? stage_event(Stage::kernel).stream : NameId{};
    const Token done = submit_whole(list, "(sequence)");
    if (listened) context_.trace.replay(stream, list.counts().dispatches);
    return done;
}

Token StreamState::submit_whole(const CommandList& list, const char* program) {
    if (!context_.trace.active() || list.empty()) return submit_one(list);
    if (!whole_timer_) whole_timer_ = std::make_unique<SubmissionTimer>(context_, role_);
    whole_timer_->finish();  // while one sequence is replayed, nothing else collects
    StageEvent event = stage_event(Stage::kernel);
    event.program = context_.trace.name(program);
    event.operations = static_cast<std::uint32_t>(list.counts().steps());
    event.bytes = list.counts().bytes;
    const SubmissionTimer::Around around = whole_timer_->take(event);
    Token done;
    try {
        const std::array<VkCommandBuffer, 3> timed{around.before, list.handle(), around.after};
        const std::span<const VkCommandBuffer> commands(timed);
        done = context_.timelines.submit_after(
            role_, around.before != VK_NULL_HANDLE ? commands : commands.subspan(1, 1), awaited());
    } catch (...) {
        whole_timer_->submitted({});
        throw;
    }
    whole_timer_->submitted(done);
    return done;
}

StageEvent StreamState::stage_event(Stage stage) const {
    StageEvent event;
    event.stage = stage;
    // Batches have the empty name.
    event.stream = context_.trace.name(name_.empty() ? "stream" : name_);
    return event;
}

void StreamState::copy(const HostCopy& copy, Stage stage) {
    CopyLabel label;
    if (context_.trace.active()) label = {&context_.trace, stage_event(stage)};
    backend_state_->copy_workers().copy({&copy, 1}, label);
}

void StreamState::collect() {
    while (!under_way_.empty() && context_.timelines.passed(under_way_.front().done)) {
        recycle(under_way_.front());
        under_way_.pop_front();
    }
    if (whole_timer_) whole_timer_->finish();
}

void StreamState::recycle(UnderWay& work) {
    if (!work.own) return;
    work.list->report();
    staging_.give_back(work.list->take_staging());
    work.list->reset();
    idle_.push_back(std::move(work.list));
}

bool StreamState::wait(std::chrono::nanoseconds timeout) {
    // Checked first: in a forked child even the end of a command buffer would use the parent's driver state.
    device_.require_usable("Stream::wait");
    refuse_while_recording("wait");
    submit_list();
    // With more lists under way it would not be known which of them takes long.
    const bool alone = under_way_.size() == 1 && under_way_.front().own;
    const SteadyTime begin = std::chrono::steady_clock::now();
    if (!context_.timelines.wait(done_, timeout)) return false;
    if (alone) learn_from_wait(begin);
    collect();
    invalidate(host_writes_);
    host_writes_.clear();
    return true;
}

void StreamState::wait_for(const Event& event) {
    device_.require_usable("Stream::wait_for");
    refuse_while_recording("wait_for");
    if (!detail::Access::state(event)) return;
    if (detail::Access::state(event)->context != backend_state_->context())
        refuse("wait_for: event of another backend (need one of this stream's backend)");
    submit_list();
    // Submissions of one role are ordered already; an event of another role or API needs its semaphore.
    const EventState& state = *detail::Access::state(event);
    if (state.external || (state.token.value != 0 && state.token.role != role_))
        wait_for_ = detail::Access::state(event);
}

Sequence StreamState::record(Stream& stream, const std::function<void(Stream&)>& steps) {
    refuse_while_recording("record");
    device_.require_usable("Stream::record");
    if (!steps) refuse("record: no steps (got an empty function)");
    recording_ = std::make_shared<CommandList>(backend_state_->context(), role_);
    recording_->set_name(name_.empty() ? "sequence" : name_);
    try {
        recording_->begin(true);
        steps(stream);
        recording_->end();
    } catch (...) {
        recording_ = nullptr;
        throw;
    }
    return detail::Access::make<Sequence>(std::exchange(recording_, nullptr));
}

Event StreamState::replay(const Sequence& sequence) {
    refuse_while_recording("replay");
    device_.require_usable("Stream::replay");
    submit_list();
    const std::shared_ptr<CommandList>& list = detail::Access::list(sequence);
    if (!list || list->empty()) return event();
    if (list->context() != backend_state_->context())
        refuse("replay: sequence of another backend (need one of this stream's backend)");
    if (list->role() != role_)
        refuse("replay: sequence of a stream of another queue (need one of this stream's queue)");
    hand_over(list, false);
    return event();
}

void StreamState::end_external(bool whole) {
    ended_ = true;
    if (whole) external_->close();
}

}  // namespace weft::core
