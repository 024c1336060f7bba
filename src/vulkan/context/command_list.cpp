// SPDX-License-Identifier: Apache-2.0
#include "vulkan/context/command_list.hpp"

#include <algorithm>
#include <cstring>

namespace weft::core {
namespace {

constexpr std::uint32_t kSetsPerPool = 64;
// More sets than this are not kept for the next recording.
constexpr std::size_t kMostKeptSets = 4096;

std::uint64_t hash_of(std::span<const std::uint64_t> key) {
    std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a over words, mixed so that all bits reach the low ones
    for (const std::uint64_t word : key) {
        hash = (hash ^ word) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    return hash;
}

}  // namespace

CommandList::CommandList(std::shared_ptr<Context> context, QueueRole role)
    : context_(std::move(context)), device_(context_->device), role_(role) {
    make_pool();
}

CommandList::CommandList(std::shared_ptr<Context> context, VkCommandBuffer external)
    : context_(std::move(context)), device_(context_->device), commands_(external), external_(true) {}

CommandList::~CommandList() {
    if (device_.untouchable()) return;
    for (const VkDescriptorPool p : set_pools_)
        device_.vk.vkDestroyDescriptorPool(device_.handle(), p, nullptr);
    if (pool_ != VK_NULL_HANDLE) device_.vk.vkDestroyCommandPool(device_.handle(), pool_, nullptr);
}

void CommandList::make_pool() {
    pool_ = make_command_pool(device_, device_.plan().queues.of(role_).family,
                              VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT);
    try {
        allocate_commands(device_, pool_, {&commands_, 1});
    } catch (...) {
        device_.vk.vkDestroyCommandPool(device_.handle(), pool_, nullptr);
        throw;
    }
}

void CommandList::set_name(std::string_view name) const noexcept {
    if (external_) return;
    device_.set_name(VK_OBJECT_TYPE_COMMAND_POOL, pool_, name);
    device_.set_name(VK_OBJECT_TYPE_COMMAND_BUFFER, commands_, name);
}

void CommandList::begin(bool replayable) {
    forget_state();
    if (external_) return;
    begin_commands(device_, commands_,
                   replayable ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT
                              : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
}

void CommandList::forget_state() {
    hazards_.clear();
    fresh_ = true;
    wrote_host_ = false;
    bound_pipeline_ = VK_NULL_HANDLE;
    bound_set_ = VK_NULL_HANDLE;
    push_bytes_ = 0;
    counts_ = {};
    timing_ = false;
    run_ = {};
}

void CommandList::start_timing(NameId stream) {
    if (!timer_) timer_ = std::make_unique<RangeTimer>(*context_, role_);
    timer_->begin_recording();
    stream_ = stream;
    timing_ = true;
}

void CommandList::before_submit() {
    if (timing_) timer_->before_submit();
}

void CommandList::submitted(Token token) {
    if (timing_) timer_->submitted(token);
}

void CommandList::report() {
    if (timing_) timer_->finish();
}

void CommandList::time_step(Stage stage, std::string_view program, std::uint64_t bytes,
                            std::uint32_t operations) {
    counts_.bytes += bytes;
    if (!timing_) return;
    StageEvent event;
    event.stage = stage;
    event.program = context_->trace.name(program);
    event.stream = stream_;
    event.bytes = bytes;
    event.operations = operations;
    if (run_.open && run_.stage == stage && run_.program == event.program) return timer_->extend(event);
    end_run();
    timer_->begin(commands_, event);
    run_ = {true, stage, event.program};
}

void CommandList::end_run() {
    if (run_.open) timer_->end(commands_);
    run_.open = false;
}

void CommandList::close() {
    if (fresh_) return;
    end_run();
    if (external_) barrier(device_, commands_, everything(), everything());
    if (wrote_host_) barrier(device_, commands_, everything(), {AccessScope::host_read});
    hazards_.clear();
    fresh_ = true;
    wrote_host_ = false;
}

void CommandList::end() {
    close();
    end_commands(device_, commands_);
    CounterCells::add(device_.counters.recordings);
}

void CommandList::reset() {
    keep_alive_.clear();
    staging_.clear();
    staging_bytes_ = 0;
    host_reads_.clear();
    host_writes_.clear();
    if (used_sets_ > kMostKeptSets) {
        sets_by_hash_.clear();
        set_keys_.clear();
        used_sets_ = 0;
    }
    forget_state();
}

void CommandList::flush_host_reads() const {
    for (const BufferRange& range : host_reads_) range.buffer->flush(range.offset, range.bytes);
}

void CommandList::use(const BufferRange& range, bool reads, bool writes) {
    const BufferObject& buffer = *range.buffer;
    keep_alive_.try_emplace(buffer.id(), range.buffer);
    uses_.push_back({buffer.id(), range.offset, range.offset + range.bytes, reads, writes});
    if (buffer.mapped() == nullptr) return;
    wrote_host_ = wrote_host_ || writes;
    if (buffer.coherent()) return;
    if (reads) host_reads_.push_back(range);
    if (writes) host_writes_.push_back(range);
}

AccessScope CommandList::everything() const {
    return {role_ == QueueRole::compute ? AccessScope::any_device : AccessScope::any_copy};
}

/// The barrier between what was recorded and the step whose uses were collected.
void CommandList::synchronize(WorkStage stage) {
    const HazardBarrier needed = hazards_.next(stage, uses_);
    uses_.clear();
    if (fresh_) {
        // Earlier submissions may have used the same memory in any way.
        fresh_ = false;
        barrier(device_, commands_, everything(), everything());
        return;
    }
    if (!needed.needed()) return;
    end_run();
    hazard_barrier(device_, commands_, needed, stage);
    ++counts_.barriers;
}

void CommandList::copy(const BufferRange& source, const BufferRange& target) {
    const bool within_device = !source.buffer->host_memory() && !target.buffer->host_memory();
    std::uint64_t done = 0;
    if (role_ == QueueRole::compute && within_device && target.bytes >= device_.plan().copies.shader_bytes)
        done = copy_by_shader(source, target);
    const std::uint64_t left = target.bytes - done;
    if (left != 0)
        copy_by_command({source.buffer, source.offset + done, left},
                        {target.buffer, target.offset + done, left}, done == 0 ? 1 : 0);
    ++counts_.copies;
}

std::uint64_t CommandList::copy_by_shader(const BufferRange& source, const BufferRange& target) {
    std::uint64_t done = 0;
    for (std::uint64_t part = 0;; done += part) {
        part = shader_part(device_.snapshot().limits, source.offset + done, target.offset + done,
                           target.bytes - done);
        if (part == 0) return done;
        const std::array<BoundArgument, 2> arguments{
            {{{source.buffer, source.offset + done, part}, 0, Access::read},
             {{target.buffer, target.offset + done, part}, 1, Access::write}}};
        const auto units = static_cast<std::uint32_t>(part / kCopyUnit);
        std::array<std::byte, sizeof units> push{};
        std::memcpy(push.data(), &units, sizeof units);
        record_dispatch(
            {.pipeline = &context_->copy_shader.pipeline(context_->pipelines),
             .program = "(copy)",
             .arguments = arguments,
             .workgroups = {static_cast<std::uint32_t>((part + kCopyWorkgroup - 1) / kCopyWorkgroup), 1, 1},
             .push = push},
            part, done == 0 ? 1 : 0);
    }
}

void CommandList::copy_by_command(const BufferRange& source, const BufferRange& target,
                                  std::uint32_t operations) {
    use(source, true, false);
    use(target, false, true);
    synchronize(WorkStage::transfer);
    const bool from_host = source.buffer->host_memory(), to_host = target.buffer->host_memory();
    const Stage stage = from_host == to_host ? Stage::kernel : from_host ? Stage::upload : Stage::download;
    time_step(stage, stage == Stage::kernel ? "(copy)" : "", target.bytes, operations);
    const VkBufferCopy region{source.offset, target.offset, target.bytes};
    device_.vk.vkCmdCopyBuffer(commands_, source.buffer->handle(), target.buffer->handle(), 1, &region);
}

void CommandList::fill(const BufferRange& target, std::uint32_t value) {
    use(target, false, true);
    synchronize(WorkStage::transfer);
    time_step(Stage::kernel, "(fill)", target.bytes);
    device_.vk.vkCmdFillBuffer(commands_, target.buffer->handle(), target.offset, target.bytes, value);
    ++counts_.fills;
}

void CommandList::dispatch(const DispatchWork& work) {
    std::uint64_t bytes = 0;
    for (const BoundArgument& a : work.arguments) bytes += a.range.bytes;
    if (work.cut != nullptr) bytes = static_cast<std::uint64_t>(static_cast<double>(bytes) * work.share);
    record_dispatch(work, bytes, 1);
    ++counts_.dispatches;
}

void CommandList::record_dispatch(const DispatchWork& work, std::uint64_t bytes, std::uint32_t operations) {
    const VkDescriptorSet set = set_for(work.arguments);
    for (const BoundArgument& a : work.arguments)
        use(a.range, a.access != Access::write, a.access != Access::read);
    synchronize(WorkStage::kernel);
    time_step(Stage::kernel, work.program, bytes, operations);
    device_.begin_label(commands_, work.pipeline->name);
    bind(work, set);
    const auto& [x, y, z] = work.workgroups;
    if (work.cut == nullptr)
        device_.vk.vkCmdDispatch(commands_, x, y, z);
    else
        device_.vk.vkCmdDispatchBase(commands_, work.base[0], work.base[1], 0, x, y, z);
    device_.end_label(commands_);
}

void CommandList::bind(const DispatchWork& work, VkDescriptorSet set) {
    const VkPipeline pipeline = work.cut != nullptr ? work.cut->handle : work.pipeline->handle;
    if (bound_pipeline_ != pipeline) {
        device_.vk.vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
        bound_pipeline_ = pipeline;
    }
    // Every program has the same layout, so sets and push constants outlive a change of pipeline.
    if (set != VK_NULL_HANDLE && bound_set_ != set) {
        device_.vk.vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE,
                                           device_.pipeline_layout(), 0, 1, &set, 0, nullptr);
        bound_set_ = set;
    }
    const std::span<const std::byte> push = work.push;
    if (push.empty()) return;
    if (push.size() <= push_bytes_ && std::memcmp(push.data(), push_.data(), push.size()) == 0) return;
    device_.vk.vkCmdPushConstants(commands_, device_.pipeline_layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                  static_cast<std::uint32_t>(push.size()), push.data());
    std::copy(push.begin(), push.end(), push_.begin());
    push_bytes_ = std::max(push_bytes_, push.size());
}

VkDescriptorSet CommandList::set_for(std::span<const BoundArgument> arguments) {
    if (arguments.empty()) return VK_NULL_HANDLE;
    key_.clear();
    for (const BoundArgument& a : arguments)
        key_.insert(key_.end(), {a.binding, a.range.buffer->id(), a.range.offset, a.range.bytes});
    const std::uint64_t hash = hash_of(key_);
    const auto [first, last] = sets_by_hash_.equal_range(hash);
    for (auto it = first; it != last; ++it)
        if (it->second.key_size == key_.size() &&
            std::equal(key_.begin(), key_.end(),
                       set_keys_.begin() + static_cast<std::ptrdiff_t>(it->second.key_at)))
            return it->second.set;

    if (used_sets_ == sets_.size()) add_set_pool();
    const VkDescriptorSet set = sets_[used_sets_];
    std::array<core::SetEntry, 16> entries;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const BoundArgument& a = arguments[i];
        entries[i] = {a.binding, {a.range.buffer->handle(), a.range.offset, a.range.bytes}};
    }
    sets_by_hash_.emplace(hash, SetEntry{set_keys_.size(), key_.size(), set});
    set_keys_.insert(set_keys_.end(), key_.begin(), key_.end());
    ++used_sets_;
    write_set(device_, set, {entries.data(), arguments.size()});
    return set;
}

void CommandList::add_set_pool() {
    set_pools_.reserve(set_pools_.size() + 1);
    sets_.reserve(sets_.size() + kSetsPerPool);
    std::array<VkDescriptorSet, kSetsPerPool> sets{};
    set_pools_.push_back(make_sets(device_, sets));
    sets_.insert(sets_.end(), sets.begin(), sets.end());
}

}  // namespace weft::core
