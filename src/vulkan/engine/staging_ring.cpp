// SPDX-License-Identifier: Apache-2.0
#include "vulkan/engine/staging_ring.hpp"

#include <algorithm>

namespace weft::core {
namespace {

constexpr std::array<MemoryKind, kAreas> kAreaKinds{MemoryKind::upload, MemoryKind::download,
                                                    MemoryKind::device, MemoryKind::device,
                                                    MemoryKind::mapped_device};
constexpr std::array<const char*, kAreas> kAreaNames{" upload staging", " download staging", " device inputs",
                                                     " device outputs", " mapped device inputs"};
constexpr std::array<const char*, kQueueRoles> kRoleNames{" upload", " compute", " download"};

}  // namespace

Slot::Slot(const std::shared_ptr<Context>& context, std::size_t index)
    : context_(context), index_(static_cast<std::uint32_t>(index)), name_("slot " + std::to_string(index)) {
    try {
        make_pools();
    } catch (...) {
        destroy();
        throw;
    }
}

void Slot::make_pools() {
    Device& device = context_->device;
    for (std::size_t role = 0; role < kQueueRoles; ++role) {
        VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
        info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
        info.queueFamilyIndex = device.plan().queues.slots[role].family;
        device.check(device.vk.vkCreateCommandPool(device.handle(), &info, nullptr, &pools_[role]),
                     "vkCreateCommandPool");
        device.set_name(VK_OBJECT_TYPE_COMMAND_POOL, pools_[role], name_ + kRoleNames[role]);
    }
    CounterCells::add(device.counters.objects, kQueueRoles);
}

void Slot::make_objects(Recording& r) {
    Device& device = context_->device;
    constexpr auto count = static_cast<std::uint32_t>(kMaxBundleChunks);
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, count * device.plan().storage_buffers};
    VkDescriptorPoolCreateInfo pool{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    pool.maxSets = count;
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    device.check(device.vk.vkCreateDescriptorPool(device.handle(), &pool, nullptr, &r.descriptors),
                 "vkCreateDescriptorPool");
    device.set_name(VK_OBJECT_TYPE_DESCRIPTOR_POOL, r.descriptors, name_);
    std::array<VkDescriptorSetLayout, kMaxBundleChunks> layouts;
    layouts.fill(device.set_layout());
    VkDescriptorSetAllocateInfo sets{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    sets.descriptorPool = r.descriptors;
    sets.descriptorSetCount = count;
    sets.pSetLayouts = layouts.data();
    device.check(device.vk.vkAllocateDescriptorSets(device.handle(), &sets, r.sets.data()),
                 "vkAllocateDescriptorSets");
    for (std::size_t role = 0; role < kQueueRoles; ++role) {
        VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
        info.commandPool = pools_[role];
        info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        info.commandBufferCount = 1;
        device.check(device.vk.vkAllocateCommandBuffers(device.handle(), &info, &r.commands[role]),
                     "vkAllocateCommandBuffers");
        device.set_name(VK_OBJECT_TYPE_COMMAND_BUFFER, r.commands[role], name_ + kRoleNames[role]);
    }
    if (device.plan().timestamps) {
        VkQueryPoolCreateInfo query{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
        query.queryType = VK_QUERY_TYPE_TIMESTAMP;
        query.queryCount = 2 * kQueueRoles;
        device.check(device.vk.vkCreateQueryPool(device.handle(), &query, nullptr, &r.queries),
                     "vkCreateQueryPool");
        device.set_name(VK_OBJECT_TYPE_QUERY_POOL, r.queries, name_);
    }
    CounterCells::add(device.counters.objects, 1 + count + kQueueRoles + 1);
}

void Slot::destroy(Recording& r) noexcept {
    Device& device = context_->device;
    for (std::size_t role = 0; role < kQueueRoles; ++role)
        if (r.commands[role] != VK_NULL_HANDLE)
            device.vk.vkFreeCommandBuffers(device.handle(), pools_[role], 1, &r.commands[role]);
    if (r.queries != VK_NULL_HANDLE) device.vk.vkDestroyQueryPool(device.handle(), r.queries, nullptr);
    if (r.descriptors != VK_NULL_HANDLE)
        device.vk.vkDestroyDescriptorPool(device.handle(), r.descriptors, nullptr);
}

void Slot::destroy() noexcept {
    Device& device = context_->device;
    if (device.untouchable()) return;
    for (const auto& r : recordings_) destroy(*r);
    for (VkCommandPool pool : pools_)
        if (pool != VK_NULL_HANDLE) device.vk.vkDestroyCommandPool(device.handle(), pool, nullptr);
}

Slot::~Slot() {
    destroy();
}

void Slot::reserve(const AreaNeeds& needs) {
    for (std::size_t i = 0; i < kAreas; ++i) {
        if (needs[i] == 0 || (areas_[i] && areas_[i]->bytes() >= needs[i])) continue;
        // The old area is freed first: the new one may need its room.
        areas_[i].reset();
        // At least a quarter MiB, so that growing job sizes do not reallocate at every step.
        constexpr std::uint64_t kLeast = std::uint64_t{256} << 10;
        try {
            areas_[i] = BufferObject::create(context_, kAreaKinds[i], std::max(needs[i], kLeast),
                                             name_ + kAreaNames[i]);
        } catch (const Error& e) {
            if (e.code() != Errc::out_of_memory || needs[i] >= kLeast) throw;
            areas_[i] = BufferObject::create(context_, kAreaKinds[i], needs[i], name_ + kAreaNames[i]);
        }
    }
}

void Slot::shrink() noexcept {
    for (auto& area : areas_) area.reset();
}

Areas Slot::areas() const {
    Areas out{};
    for (std::size_t i = 0; i < kAreas; ++i)
        if (areas_[i]) out[i] = {areas_[i].get(), areas_[i]->mapped()};
    return out;
}

Recording& Slot::recording(const std::vector<std::uint64_t>& key, bool& fresh) {
    ++uses_;
    for (const auto& r : recordings_) {
        if (r->key != key) continue;
        r->last_use = uses_;
        fresh = false;
        return *r;
    }
    if (recordings_.size() < kRecordings) {
        recordings_.reserve(kRecordings);
        auto made = std::make_unique<Recording>();
        try {
            make_objects(*made);
        } catch (...) {
            destroy(*made);
            throw;
        }
        recordings_.push_back(std::move(made));
    }
    // A new one has never been used, so it is the oldest.
    Recording& oldest =
        **std::min_element(recordings_.begin(), recordings_.end(),
                           [](const auto& a, const auto& b) { return a->last_use < b->last_use; });
    oldest.key = key;
    oldest.last_use = uses_;
    fresh = true;
    return oldest;
}

}  // namespace weft::core
