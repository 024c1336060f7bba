// SPDX-License-Identifier: Apache-2.0
#include <weft/stream.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "core/batch_engine.hpp"
#include "core/recorder.hpp"
#include "core/runtime.hpp"

namespace weft {

using core::AccessScope;

namespace {

constexpr std::uint32_t kSetsPerPool = 64;

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Errc::invalid_argument, "Stream::" + what);
}

}  // namespace

struct Stream::Impl {
    explicit Impl(std::shared_ptr<core::Runtime> r);
    ~Impl();

    void begin();
    void barrier();
    void add_set_pool();
    VkDescriptorSet next_set();
    void recycle();
    void use(const std::shared_ptr<core::BufferObject>& object, std::uint64_t offset, std::uint64_t bytes,
             const char* what);
    void check_arguments(const core::ProgramObject& program, std::span<const Argument> arguments,
                         std::uint64_t elements, std::size_t parameter_bytes) const;

    std::shared_ptr<core::Runtime> runtime;
    core::Context& context;
    core::Device& device;
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    std::vector<VkDescriptorPool> set_pools;
    std::vector<VkDescriptorSet> sets;  // of all pools, reused from the start after each wait
    std::size_t used_sets = 0;
    std::vector<std::shared_ptr<core::BufferObject>> keep_alive;
    bool recording = false, ended = false, dirty = false;
    core::Token done;
};

Stream::Impl::Impl(std::shared_ptr<core::Runtime> r)
    : runtime(std::move(r)), context(*runtime->context()), device(context.device) {
    device.require_usable("Stream");
    VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    info.queueFamilyIndex = device.plan().queues.of(core::QueueRole::compute).family;
    device.check(device.vk.vkCreateCommandPool(device.handle(), &info, nullptr, &pool),
                 "vkCreateCommandPool");
    VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    allocate.commandPool = pool;
    allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    allocate.commandBufferCount = 1;
    const VkResult result = device.vk.vkAllocateCommandBuffers(device.handle(), &allocate, &commands);
    if (result != VK_SUCCESS) device.vk.vkDestroyCommandPool(device.handle(), pool, nullptr);
    device.check(result, "vkAllocateCommandBuffers");
    core::CounterCells::add(device.counters.objects, 2);
}

Stream::Impl::~Impl() {
    if (device.foreign_process()) return;
    try {
        context.timelines.wait(done);
    } catch (const Error& e) {
        device.log().write(LogLevel::error, e.what());
    }
    for (const VkDescriptorPool p : set_pools) device.vk.vkDestroyDescriptorPool(device.handle(), p, nullptr);
    device.vk.vkDestroyCommandPool(device.handle(), pool, nullptr);
}

/// One command buffer: work recorded while the last submission still runs waits for it here.
void Stream::Impl::begin() {
    device.require_usable("Stream");
    if (recording) return;
    context.timelines.wait(done);
    recycle();
    const VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                        VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, nullptr};
    device.check(device.vk.vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
    recording = true;
    dirty = false;
}

/// Between any two steps: whatever the earlier ones wrote is there for the later ones.
void Stream::Impl::barrier() {
    if (dirty) core::barrier(device, commands, {AccessScope::any_device}, {AccessScope::any_device});
    dirty = true;
}

void Stream::Impl::recycle() {
    keep_alive.clear();
    used_sets = 0;
}

void Stream::Impl::add_set_pool() {
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                    kSetsPerPool * device.plan().storage_buffers};
    VkDescriptorPoolCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    info.maxSets = kSetsPerPool;
    info.poolSizeCount = 1;
    info.pPoolSizes = &size;
    VkDescriptorPool made = VK_NULL_HANDLE;
    device.check(device.vk.vkCreateDescriptorPool(device.handle(), &info, nullptr, &made),
                 "vkCreateDescriptorPool");
    set_pools.push_back(made);
    const std::vector<VkDescriptorSetLayout> layouts(kSetsPerPool, device.set_layout());
    VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    allocate.descriptorPool = made;
    allocate.descriptorSetCount = kSetsPerPool;
    allocate.pSetLayouts = layouts.data();
    sets.resize(sets.size() + kSetsPerPool);
    device.check(device.vk.vkAllocateDescriptorSets(device.handle(), &allocate,
                                                    sets.data() + sets.size() - kSetsPerPool),
                 "vkAllocateDescriptorSets");
    core::CounterCells::add(device.counters.objects, kSetsPerPool + 1);
}

VkDescriptorSet Stream::Impl::next_set() {
    if (used_sets == sets.size()) add_set_pool();
    return sets[used_sets++];
}

void Stream::Impl::use(const std::shared_ptr<core::BufferObject>& object, std::uint64_t offset,
                       std::uint64_t bytes, const char* what) {
    if (object == nullptr) refuse(std::string(what) + ": buffer was moved from");
    if (offset > object->bytes() || bytes > object->bytes() - offset)
        refuse(std::string(what) + ": view reaches beyond its buffer (got offset " + std::to_string(offset) +
               " and " + std::to_string(bytes) + " bytes, need at most " + std::to_string(object->bytes()) +
               " in sum)");
    if (object->context() != runtime->context())
        refuse(std::string(what) +
               ": buffer belongs to another backend (need one made with this stream's backend)");
    keep_alive.push_back(object);
}

Stream::Stream(Backend& backend) : impl_(std::make_unique<Impl>(backend.runtime())) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

Stream::Impl& Stream::impl() const {
    if (!impl_) throw Error(Errc::invalid_argument, "Stream: used after it was moved from");
    return *impl_;
}

const DeviceInfo& Stream::device() const {
    return impl().runtime->info();
}
const std::shared_ptr<core::Runtime>& Stream::runtime() const {
    return impl().runtime;
}

void Stream::upload_bytes(const void* source, std::uint64_t bytes,
                          const std::shared_ptr<core::BufferObject>& target, std::uint64_t offset,
                          std::uint64_t target_bytes) {
    if (bytes != target_bytes)
        refuse("upload: sizes differ (got " + std::to_string(bytes) + " bytes, need " +
               std::to_string(target_bytes) + ")");
    if (source == nullptr && bytes != 0)
        refuse("upload: null with a length (got " + std::to_string(bytes) + " bytes)");
    if (bytes == 0) return;
    auto staging = core::BufferObject::create(impl().runtime->context(), core::MemoryKind::upload, bytes,
                                              "stream staging");
    const core::HostCopy copy{staging->mapped(), source, bytes};
    impl().runtime->copy_workers().copy({&copy, 1});
    staging->flush(0, bytes);
    impl().begin();
    impl().use(target, offset, bytes, "upload");
    impl().use(staging, 0, bytes, "upload");
    impl().barrier();
    const VkBufferCopy region{0, offset, bytes};
    impl().device.vk.vkCmdCopyBuffer(impl().commands, staging->handle(), target->handle(), 1, &region);
}

void Stream::fill_bytes(const std::shared_ptr<core::BufferObject>& target, std::uint64_t offset,
                        std::uint64_t bytes, std::uint32_t value) {
    if (bytes % 4 != 0 || offset % 4 != 0)
        refuse("fill: range is no multiple of 4 bytes (got offset " + std::to_string(offset) + ", " +
               std::to_string(bytes) + " bytes)");
    if (bytes == 0) return;
    impl().begin();
    impl().use(target, offset, bytes, "fill");
    impl().barrier();
    impl().device.vk.vkCmdFillBuffer(impl().commands, target->handle(), offset, bytes, value);
}

void Stream::copy_bytes(const std::shared_ptr<core::BufferObject>& source, std::uint64_t source_offset,
                        std::uint64_t bytes, const std::shared_ptr<core::BufferObject>& target,
                        std::uint64_t target_offset, std::uint64_t target_bytes) {
    if (bytes != target_bytes)
        refuse("copy: sizes differ (got " + std::to_string(bytes) + " bytes, need " +
               std::to_string(target_bytes) + ")");
    if (source == target && source_offset < target_offset + bytes && target_offset < source_offset + bytes &&
        bytes != 0)
        refuse("copy: ranges of one buffer overlap (got offsets " + std::to_string(source_offset) + " and " +
               std::to_string(target_offset) + ", need them " + std::to_string(bytes) + " bytes apart)");
    if (bytes == 0) return;
    impl().begin();
    impl().use(source, source_offset, bytes, "copy");
    impl().use(target, target_offset, bytes, "copy");
    impl().barrier();
    const VkBufferCopy region{source_offset, target_offset, bytes};
    impl().device.vk.vkCmdCopyBuffer(impl().commands, source->handle(), target->handle(), 1, &region);
}

void Stream::Impl::check_arguments(const core::ProgramObject& program, std::span<const Argument> arguments,
                                   std::uint64_t elements, std::size_t parameter_bytes) const {
    const core::Reflection& reflection = program.pipeline->reflection;
    const DeviceLimits& limits = device.snapshot().limits;
    const std::string where = "dispatch: program \"" + program.name + "\" ";
    const auto need = [](std::uint64_t got, std::uint64_t limit, const char* unit) {
        return " (got " + std::to_string(got) + ", need " + std::to_string(limit) + " " + unit + ")";
    };
    if (arguments.size() != reflection.bindings.size())
        refuse(where + "takes another number of arguments" +
               need(arguments.size(), reflection.bindings.size(), "of them"));
    const std::uint32_t push = reflection.push_constant_bytes;
    if (parameter_bytes != (push > 8 ? push - 8 : 0))
        refuse(where + "parameters do not fit the push-constant block" +
               need(parameter_bytes, push > 8 ? push - 8 : 0, "bytes"));
    if (elements > 0xffffffffu) refuse(where + "too many elements" + need(elements, 0xffffffffu, "at most"));
    const std::uint64_t groups = program.groups(elements);
    if (groups > limits.max_group_count[0])
        refuse(where + "needs more workgroups than the device allows on the x axis" +
               need(groups, limits.max_group_count[0],
                    "at most; raise ProgramOptions::elements_per_group or set max_groups"));
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const Argument& a = arguments[i];
        const Binding& b = reflection.bindings[i];
        const std::string which = where + "binding " + std::to_string(b.binding) + " ";
        if (b.access != Access::read && !a.writable)
            refuse(which + "is written but was given a read-only view");
        if (a.bytes == 0) refuse(which + "was given an empty range");
        if (a.bytes > limits.max_storage_buffer_range)
            refuse(which + "range is larger than one binding can be" +
                   need(a.bytes, limits.max_storage_buffer_range, "bytes at most"));
        if (a.offset % limits.storage_buffer_offset_alignment != 0)
            refuse(which + "offset is not aligned" +
                   need(a.offset, limits.storage_buffer_offset_alignment, "bytes or a multiple"));
    }
}

void Stream::dispatch(const Program& program, std::initializer_list<Argument> arguments,
                      std::uint64_t elements, const Parameters& parameters) {
    const core::ProgramObject& object = *program.object();
    core::require_same_backend(*impl().runtime, object, "Stream::dispatch");
    if (elements == 0) return;
    const std::span<const Argument> list(arguments.begin(), arguments.size());
    impl().check_arguments(object, list, elements, parameters.bytes().size());
    impl().begin();
    const VkDescriptorSet set = impl().next_set();
    std::array<core::SetEntry, 16> entries;
    for (std::size_t i = 0; i < list.size(); ++i) {
        impl().use(list[i].object, list[i].offset, list[i].bytes, "dispatch");
        entries[i] = {object.pipeline->reflection.bindings[i].binding,
                      {list[i].object->handle(), list[i].offset, list[i].bytes}};
    }
    core::Device& device = impl().device;
    core::write_set(device, set, {entries.data(), list.size()});
    impl().barrier();
    device.vk.vkCmdBindPipeline(impl().commands, VK_PIPELINE_BIND_POINT_COMPUTE, object.pipeline->handle);
    if (list.size() != 0)
        device.vk.vkCmdBindDescriptorSets(impl().commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                          device.pipeline_layout(), 0, 1, &set, 0, nullptr);
    if (const std::uint32_t bytes = object.pipeline->reflection.push_constant_bytes; bytes != 0) {
        std::array<std::byte, 256> push{};
        core::fill_push_constants(push, bytes, static_cast<std::uint32_t>(elements), 0, parameters);
        device.vk.vkCmdPushConstants(impl().commands, device.pipeline_layout(), VK_SHADER_STAGE_COMPUTE_BIT,
                                     0, (bytes + 3) / 4 * 4, push.data());
    }
    device.vk.vkCmdDispatch(impl().commands, static_cast<std::uint32_t>(object.groups(elements)), 1, 1);
}

void Stream::submit() {
    impl().device.require_usable("Stream::submit");
    if (!impl().recording) return;
    core::barrier(impl().device, impl().commands, {AccessScope::any_device}, {AccessScope::host_read});
    impl().recording = false;
    impl().device.check(impl().device.vk.vkEndCommandBuffer(impl().commands), "vkEndCommandBuffer");
    core::CounterCells::add(impl().device.counters.recordings);
    impl().done = impl().context.timelines.submit(core::QueueRole::compute, impl().commands);
}

bool Stream::wait(std::chrono::nanoseconds timeout) {
    submit();
    impl().device.require_usable("Stream::wait");
    if (!impl().context.timelines.wait(impl().done, timeout)) return false;
    impl().recycle();
    return true;
}

void Stream::download_bytes(const std::shared_ptr<core::BufferObject>& source, std::uint64_t offset,
                            std::uint64_t bytes, void* target, std::uint64_t target_bytes) {
    if (bytes != target_bytes)
        refuse("download: sizes differ (got " + std::to_string(target_bytes) + " bytes, need " +
               std::to_string(bytes) + ")");
    if (target == nullptr && bytes != 0)
        refuse("download: null with a length (got " + std::to_string(bytes) + " bytes)");
    if (bytes != 0) {
        auto staging = core::BufferObject::create(impl().runtime->context(), core::MemoryKind::download,
                                                  bytes, "stream staging");
        impl().begin();
        impl().use(source, offset, bytes, "download");
        impl().use(staging, 0, bytes, "download");
        impl().barrier();
        const VkBufferCopy region{offset, 0, bytes};
        impl().device.vk.vkCmdCopyBuffer(impl().commands, source->handle(), staging->handle(), 1, &region);
        wait();
        staging->invalidate(0, bytes);
        const core::HostCopy copy{target, staging->mapped(), bytes};
        impl().runtime->copy_workers().copy({&copy, 1});
        return;
    }
    wait();
}

}  // namespace weft
