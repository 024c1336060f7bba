// SPDX-License-Identifier: Apache-2.0
// Also completes weft/event.hpp and weft/sequence.hpp.
#include <weft/stream.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/enums.hpp"
#include "plan/work/dispatch_plan.hpp"
#include "vulkan/engine/batch_engine.hpp"
#include "vulkan/engine/program.hpp"
#include "vulkan/stream/stream_state.hpp"

namespace weft {
namespace {

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Errc::invalid_argument, "Stream::" + what);
}

void check_sizes(const char* what, std::uint64_t got, std::uint64_t need, const void* pointer) {
    if (got != need)
        refuse(std::string(what) + ": sizes differ (got " + std::to_string(got) + " bytes, need " +
               std::to_string(need) + ")");
    if (pointer == nullptr && got != 0)
        refuse(std::string(what) + ": null with a length (got " + std::to_string(got) + " bytes)");
}

core::QueueRole role_of(StreamQueue queue) {
    core::check_enum("Stream", "queue", queue, StreamQueue::download);
    return queue == StreamQueue::upload     ? core::QueueRole::upload
           : queue == StreamQueue::download ? core::QueueRole::download
                                            : core::QueueRole::compute;
}

}  // namespace

Stream::Stream(Backend& backend, const StreamOptions& options)
    : state_(std::make_shared<core::StreamState>(detail::Access::backend_state(backend), options.name,
                                                 role_of(options.queue))) {}
Stream::Stream(std::unique_ptr<core::StreamState> state) : state_(std::move(state)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

core::StreamState& Stream::state() const {
    if (!state_) throw Error(Errc::invalid_argument, "Stream: used after it was moved from");
    return *state_;
}

const DeviceInfo& Stream::device() const {
    return state().backend_state()->info();
}
bool Stream::deferred() const {
    return state().deferred();
}
const std::string& Stream::name() const {
    return state().name();
}
const std::shared_ptr<core::BackendState>& Stream::backend_state() const {
    return state().backend_state();
}

void Stream::upload_bytes(const void* source, std::uint64_t bytes,
                          const std::shared_ptr<core::BufferObject>& target, std::uint64_t offset,
                          std::uint64_t target_bytes) {
    check_sizes("upload", bytes, target_bytes, source);
    const core::BufferRange to = state().range(target, offset, bytes, "upload");
    if (bytes != 0) state().upload(source, to);
}

void Stream::fill_bytes(const std::shared_ptr<core::BufferObject>& target, std::uint64_t offset,
                        std::uint64_t bytes, std::uint32_t value) {
    const core::BufferRange to = state().range(target, offset, bytes, "fill");
    if (bytes % 4 != 0 || offset % 4 != 0)
        refuse("fill: range is no multiple of 4 bytes (got offset " + std::to_string(offset) + ", " +
               std::to_string(bytes) + " bytes)");
    if (bytes != 0) state().list().fill(to, value);
}

void Stream::copy_bytes(const std::shared_ptr<core::BufferObject>& source, std::uint64_t source_offset,
                        std::uint64_t bytes, const std::shared_ptr<core::BufferObject>& target,
                        std::uint64_t target_offset, std::uint64_t target_bytes) {
    if (bytes != target_bytes)
        refuse("copy: sizes differ (got " + std::to_string(bytes) + " bytes, need " +
               std::to_string(target_bytes) + ")");
    const core::BufferRange from = state().range(source, source_offset, bytes, "copy");
    const core::BufferRange to = state().range(target, target_offset, target_bytes, "copy");
    if (bytes == 0) return;
    if (source == target && source_offset < target_offset + bytes && target_offset < source_offset + bytes)
        refuse("copy: ranges of one buffer overlap (got offsets " + std::to_string(source_offset) + " and " +
               std::to_string(target_offset) + ", need them " + std::to_string(bytes) + " bytes apart)");
    state().list().copy(from, to);
}

void Stream::dispatch(const Program& program, std::initializer_list<Argument> arguments,
                      std::uint64_t elements, const Parameters& parameters) {
    dispatch(program, std::span<const Argument>(arguments.begin(), arguments.size()), elements, parameters);
}

void Stream::dispatch(const Program& program, std::span<const Argument> arguments, std::uint64_t elements,
                      const Parameters& parameters) {
    core::StreamState& stream = state();
    const core::ProgramObject& object =
        *core::program_for(*stream.backend_state(), program, "Stream::dispatch");
    const core::Pipeline& pipeline = *object.pipeline;
    if (stream.role() != core::QueueRole::compute)
        refuse("dispatch: the stream's queue copies only (got program \"" + object.name +
               "\", need a stream of the compute queue)");
    if (elements == 0) return;
    const std::vector<Binding>& bindings = pipeline.reflection.bindings;
    const DeviceLimits& limits = stream.backend_state()->context()->device.snapshot().limits;

    constexpr std::size_t kMostArguments = 16;
    std::array<core::DispatchRange, kMostArguments> ranges;
    std::array<core::BoundArgument, kMostArguments> bound;
    const std::size_t count = std::min(arguments.size(), kMostArguments);
    for (std::size_t i = 0; i < count; ++i)
        ranges[i] = {arguments[i].offset, arguments[i].bytes, arguments[i].writable,
                     arguments[i].object ? arguments[i].object->id() : 0};
    const std::string unlike = core::unlike_parameter(parameters, pipeline.reflection.first_parameter);
    core::check_dispatch({.function = "Stream::dispatch",
                          .program = object.name,
                          .bindings = bindings,
                          .ranges = {ranges.data(), count},
                          .arguments = arguments.size(),
                          .push_constant_bytes = pipeline.reflection.push_constant_bytes,
                          .parameter_bytes = parameters.bytes().size(),
                          .elements = elements,
                          .unlike_parameter = unlike},
                         limits);
    for (std::size_t i = 0; i < count; ++i)
        bound[i] = {stream.range(arguments[i].object, arguments[i].offset, arguments[i].bytes, "dispatch"),
                    bindings[i].binding, bindings[i].access};
    const core::WorkgroupGrid workgroups =
        object.workgroups(elements);  // refuses more than one dispatch can have
    std::array<std::byte, 256> push{};
    const std::uint32_t push_bytes = (pipeline.reflection.push_constant_bytes + 3) / 4 * 4;
    if (push_bytes != 0)
        core::fill_push_constants(push, pipeline.reflection.push_constant_bytes,
                                  static_cast<std::uint32_t>(elements), 0, parameters);
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) bytes += arguments[i].bytes;
    stream.dispatch({.pipeline = &pipeline,
                     .program = object.name,
                     .arguments = {bound.data(), count},
                     .workgroups = {workgroups.x, workgroups.y, 1},
                     .push = {push.data(), push_bytes}},
                    core::dispatch_work(object.operations, elements, bytes));
}

Event Stream::submit() {
    return state().submit("Stream::submit");
}
bool Stream::wait(std::chrono::nanoseconds timeout) {
    return state().wait(timeout);
}
void Stream::wait_for(const Event& event) {
    state().wait_for(event);
}
Sequence Stream::record(const std::function<void(Stream&)>& steps) {
    state();
    const std::shared_ptr<core::StreamState> held = state_;  // whatever `steps` does to this object
    Sequence sequence = held->record(*this, steps);
    if (state_ != held) refuse("record: the stream was moved from or assigned to inside (need it to stay)");
    return sequence;
}
Event Stream::replay(const Sequence& sequence) {
    return state().replay(sequence);
}

void Stream::download_bytes(const std::shared_ptr<core::BufferObject>& source, std::uint64_t offset,
                            std::uint64_t bytes, void* target, std::uint64_t target_bytes) {
    if (bytes != target_bytes)
        refuse("download: sizes differ (got " + std::to_string(target_bytes) + " bytes, need " +
               std::to_string(bytes) + ")");
    if (target == nullptr && bytes != 0)
        refuse("download: null with a length (got " + std::to_string(bytes) + " bytes)");
    state().download(state().range(source, offset, bytes, "download"), target);
}

bool Event::done() const {
    if (!state()) return true;
    const core::EventState& at = *state();
    at.context->device.require_usable("Event::done");
    if (at.external) return at.context->timelines.passed(at.point());
    return at.context->timelines.passed(at.token);
}

bool Event::wait(std::chrono::nanoseconds timeout) const {
    if (!state()) return true;
    const core::EventState& at = *state();
    at.context->device.require_usable("Event::wait");
    core::Timelines& timelines = at.context->timelines;
    const bool reached =
        at.external ? timelines.wait(at.point(), timeout) : timelines.wait(at.token, timeout);
    if (!reached) return false;
    for (const core::BufferRange& range : at.host_writes) range.buffer->invalidate(range.offset, range.bytes);
    // Read soon, so that a counter with few bits cannot wrap before.
    if (at.context->trace.active()) at.context->timers.gather();
    return true;
}

std::uint64_t Sequence::steps() const {
    return list() ? list()->counts().steps() : 0;
}
std::uint64_t Sequence::dispatches() const {
    return list() ? list()->counts().dispatches : 0;
}
std::uint64_t Sequence::barriers() const {
    return list() ? list()->counts().barriers : 0;
}

}  // namespace weft
