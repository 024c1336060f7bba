// SPDX-License-Identifier: Apache-2.0
// Pipeline caches with contents, which lavapipe's do not have; completes fake_driver.hpp.
#include <algorithm>
#include <cstring>
#include <set>

#include "fault/fake_driver.hpp"

namespace weft_fault {
namespace {

using Contents = std::set<std::uint64_t>;  // a digest of each pipeline

struct Caches {
    std::mutex mutex;
    std::map<std::uint64_t, Contents> contents;      // by cache
    std::map<std::uint64_t, std::uint64_t> modules;  // digests of the words, by module
    std::vector<std::string> data;
    std::uint64_t compiled = 0;
};

// Never destroyed, as State.
Caches& caches() {
    static Caches* all = new Caches;
    return *all;
}

bool keeps() {
    return State::get().fake().keep_pipelines;
}

std::uint64_t digest_of(const void* bytes, std::size_t size, std::uint64_t hash = 0xcbf29ce484222325u) {
    const auto* at = static_cast<const unsigned char*>(bytes);
    for (std::size_t i = 0; i < size; ++i) hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

/// The driver's header, of the device as it is described.
std::string header_of(VkDevice device, VkPipelineCache cache) {
    VkPipelineCacheHeaderVersionOne header{};
    std::size_t size = sizeof header;
    real<Id::vkGetPipelineCacheData>()(device, cache, &size, &header);
    header.headerSize = sizeof header;
    header.headerVersion = VK_PIPELINE_CACHE_HEADER_VERSION_ONE;
    const FakeDriver& fake = State::get().fake();
    if (fake.vendor != 0) header.vendorID = fake.vendor;
    if (fake.cache_uuid)
        std::copy(fake.cache_uuid->begin(), fake.cache_uuid->end(), header.pipelineCacheUUID);
    std::string bytes(sizeof header, '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
}

/// The digests behind the header. A driver may crash on anything that it has not written itself.
Contents read(const std::string& data, const std::string& header) {
    Contents all;
    if (!data.starts_with(header) || (data.size() - header.size()) % 8 != 0) {
        State::get().violation("vkCreatePipelineCache: data that this driver has not written");
        return all;
    }
    for (std::size_t at = header.size(); at < data.size(); at += 8) {
        std::uint64_t digest = 0;
        std::memcpy(&digest, data.data() + at, 8);
        all.insert(digest);
    }
    return all;
}

}  // namespace

std::vector<std::string> data_of_caches() {
    const std::lock_guard lock(caches().mutex);
    return caches().data;
}

std::uint64_t compiled_pipelines() {
    const std::lock_guard lock(caches().mutex);
    return caches().compiled;
}

void forget_pipelines() {
    const std::lock_guard lock(caches().mutex);
    caches().contents.clear();
    caches().modules.clear();
    caches().data.clear();
    caches().compiled = 0;
}

VkResult act(Tag<Id::vkCreatePipelineCache>, VkDevice device, const VkPipelineCacheCreateInfo* info,
             const VkAllocationCallbacks* allocator, VkPipelineCache* out) {
    if (info->initialDataSize == 0 && info->pInitialData != nullptr)
        State::get().violation("vkCreatePipelineCache: a pointer to no data crashes some drivers");
    if (!keeps()) return real<Id::vkCreatePipelineCache>()(device, info, allocator, out);
    const std::string data(static_cast<const char*>(info->pInitialData), info->initialDataSize);
    VkPipelineCacheCreateInfo empty = *info;
    empty.initialDataSize = 0;
    empty.pInitialData = nullptr;
    const VkResult result = real<Id::vkCreatePipelineCache>()(device, &empty, allocator, out);
    if (result != VK_SUCCESS) return result;
    Contents contents;
    if (!data.empty()) contents = read(data, header_of(device, *out));
    const std::lock_guard lock(caches().mutex);
    caches().contents[value_of(*out)] = std::move(contents);
    caches().data.push_back(data);
    return result;
}

VkResult act(Tag<Id::vkMergePipelineCaches>, VkDevice device, VkPipelineCache to, std::uint32_t count,
             const VkPipelineCache* from) {
    const VkResult result = real<Id::vkMergePipelineCaches>()(device, to, count, from);
    const std::lock_guard lock(caches().mutex);
    for (std::uint32_t i = 0; i < count; ++i)
        caches().contents[value_of(to)].merge(Contents(caches().contents[value_of(from[i])]));
    return result;
}

VkResult act(Tag<Id::vkGetPipelineCacheData>, VkDevice device, VkPipelineCache cache, std::size_t* size,
             void* out) {
    if (!keeps()) return real<Id::vkGetPipelineCacheData>()(device, cache, size, out);
    std::string data = header_of(device, cache);
    {
        const std::lock_guard lock(caches().mutex);
        for (const std::uint64_t digest : caches().contents[value_of(cache)])
            data.append(reinterpret_cast<const char*>(&digest), sizeof digest);
    }
    if (out != nullptr) {
        const bool whole = *size >= data.size();
        *size = std::min(*size, data.size());
        std::memcpy(out, data.data(), *size);
        return whole ? VK_SUCCESS : VK_INCOMPLETE;
    }
    *size = data.size();
    return VK_SUCCESS;
}

VkResult act(Tag<Id::vkCreateShaderModule>, VkDevice device, const VkShaderModuleCreateInfo* info,
             const VkAllocationCallbacks* allocator, VkShaderModule* out) {
    const VkResult result = real<Id::vkCreateShaderModule>()(device, info, allocator, out);
    const std::lock_guard lock(caches().mutex);
    if (result == VK_SUCCESS) caches().modules[value_of(*out)] = digest_of(info->pCode, info->codeSize);
    return result;
}

VkResult act(Tag<Id::vkCreateComputePipelines>, VkDevice device, VkPipelineCache cache, std::uint32_t count,
             const VkComputePipelineCreateInfo* infos, const VkAllocationCallbacks* allocator,
             VkPipeline* out) {
    const VkResult result = real<Id::vkCreateComputePipelines>()(device, cache, count, infos, allocator, out);
    if (result != VK_SUCCESS || !keeps()) return result;
    const std::lock_guard lock(caches().mutex);
    for (std::uint32_t i = 0; i < count; ++i) {
        const VkSpecializationInfo* constants = infos[i].stage.pSpecializationInfo;
        std::uint64_t digest = caches().modules[value_of(infos[i].stage.module)];
        if (constants != nullptr) digest = digest_of(constants->pData, constants->dataSize, digest);
        if (caches().contents[value_of(cache)].insert(digest).second) ++caches().compiled;
    }
    return result;
}

}  // namespace weft_fault
