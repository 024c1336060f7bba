// SPDX-License-Identifier: Apache-2.0
#include "vulkan/device/pipeline_cache.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>
#include <vector>

#include "base/cache_file.hpp"
#include "base/log.hpp"
#include "base/startup.hpp"
#include "plan/spirv/spirv_grid.hpp"

namespace weft::core {
namespace {

constexpr std::uint32_t kDeviceCopySpirv[] = {
#include "shaders/device_copy.spv.inc"
};

CacheIdentity identity_of(const DeviceSnapshot& s) {
    return {s.vendor_id, s.device_id, s.driver_version, s.cache_uuid};
}

}  // namespace

PipelineCache::PipelineCache(Device& device, const Config& config) : device_(device) {
    const auto folder = config.cache_dir.empty() ? default_cache_dir() : config.cache_dir;
    if (config.cache && !folder.empty()) file_ = folder / cache_file_name(identity_of(device.snapshot()));
    const SteadyTime begin = std::chrono::steady_clock::now();
    load();
    load_s_ = seconds_since(begin);
}

PipelineCache::~PipelineCache() {
    if (device_.untouchable()) return;
    save();
    for (auto& [key, pipeline] : pipelines_) {
        device_.vk.vkDestroyPipeline(device_.handle(), pipeline.handle, nullptr);
        if (pipeline.cuts->pipeline_)
            device_.vk.vkDestroyPipeline(device_.handle(), pipeline.cuts->pipeline_->handle, nullptr);
    }
    device_.vk.vkDestroyPipelineCache(device_.handle(), cache_, nullptr);
}

VkPipelineCache PipelineCache::make_cache(std::span<const std::byte> payload) {
    VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    info.initialDataSize = payload.size();
    info.pInitialData =
        payload.empty() ? nullptr : payload.data();  // some drivers fail on a pointer with size 0
    VkPipelineCache cache = VK_NULL_HANDLE;
    const VkResult result = device_.vk.vkCreatePipelineCache(device_.handle(), &info, nullptr, &cache);
    if (result != VK_SUCCESS && !payload.empty()) return VK_NULL_HANDLE;
    device_.check(result, "vkCreatePipelineCache");
    CounterCells::add(device_.counters.objects);
    device_.set_name(VK_OBJECT_TYPE_PIPELINE_CACHE, cache, "weft pipeline cache");
    return cache;
}

void PipelineCache::use(std::string_view file) {
    const DecodedCache decoded =
        decode_cache(identity_of(device_.snapshot()), std::as_bytes(std::span(file)));
    report_.disk_state = decoded.refused;
    if (!decoded.refused.empty()) return;
    cache_ = make_cache(decoded.payload);
    report_.disk_state = cache_ != VK_NULL_HANDLE ? "loaded" : "refused by the driver";
    if (cache_ != VK_NULL_HANDLE) report_.disk_bytes_loaded = decoded.payload.size();
}

void PipelineCache::load() {
    report_.disk_state = file_.empty() ? "off" : "absent";
    const FileRead file = file_.empty() ? FileRead{{}, "off", ENOENT} : read_cache_file(file_);
    if (!file.absent()) {
        // What another user may have written is worth a warning; the rest is a driver that was updated.
        const LogLevel level = file.refused.empty() ? LogLevel::info : LogLevel::warning;
        report_.disk_state = file.refused;
        if (file.refused.empty()) use(file.bytes);
        if (cache_ == VK_NULL_HANDLE)
            device_.log().write(level,
                                "pipeline cache " + file_.string() + " is not used: " + report_.disk_state);
    }
    const bool loaded = cache_ != VK_NULL_HANDLE;
    if (loaded || file.absent())
        device_.log().write(
            LogLevel::info,
            "pipeline cache " + file_.string() + ": " +
                (loaded ? std::to_string(report_.disk_bytes_loaded) + " bytes " : std::string()) +
                report_.disk_state);
    if (!loaded) cache_ = make_cache({});
}

VkPipeline PipelineCache::make_pipeline(std::span<const std::uint32_t> words, const ProgramOptions& options,
                                        const std::vector<SpecConstant>& constants,
                                        VkPipelineCreateFlags flags, double& seconds) {
    VkShaderModuleCreateInfo module_info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    module_info.codeSize = words.size_bytes();
    module_info.pCode = words.data();
    VkShaderModule module = VK_NULL_HANDLE;
    device_.check(device_.vk.vkCreateShaderModule(device_.handle(), &module_info, nullptr, &module),
                  "vkCreateShaderModule");
    const std::string& name = name_of(options);
    device_.set_name(VK_OBJECT_TYPE_SHADER_MODULE, module, name);
    std::vector<VkSpecializationMapEntry> entries;
    std::vector<std::uint32_t> values;
    for (const SpecConstant& c : constants) {
        entries.push_back(
            {c.id, static_cast<std::uint32_t>(values.size() * sizeof(std::uint32_t)), sizeof(std::uint32_t)});
        values.push_back(c.bits);
    }
    const VkSpecializationInfo specialization{static_cast<std::uint32_t>(entries.size()), entries.data(),
                                              values.size() * sizeof(std::uint32_t), values.data()};
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.flags = flags;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = options.entry.c_str();
    info.stage.pSpecializationInfo = &specialization;
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup{
        VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO};
    subgroup.requiredSubgroupSize = options.subgroup_size;
    if (options.subgroup_size != 0) info.stage.pNext = &subgroup;
    if (options.require_full_subgroups)
        info.stage.flags |= VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    info.layout = device_.pipeline_layout();

    VkPipeline pipeline = VK_NULL_HANDLE;
    const auto start = std::chrono::steady_clock::now();
    const VkResult result =
        device_.vk.vkCreateComputePipelines(device_.handle(), cache_, 1, &info, nullptr, &pipeline);
    seconds = seconds_since(start);
    device_.vk.vkDestroyShaderModule(device_.handle(), module, nullptr);
    device_.check(result, "vkCreateComputePipelines");
    CounterCells::add(device_.counters.objects, 2);
    device_.set_name(VK_OBJECT_TYPE_PIPELINE, pipeline, name);
    return pipeline;
}

Pipeline PipelineCache::build(std::span<const std::uint32_t> words, const ProgramOptions& options,
                              Reflection reflection) {
    Pipeline pipeline;
    pipeline.name = name_of(options);
    pipeline.cuts = std::make_unique<PipelineCuts>(words, options);
    pipeline.handle = make_pipeline(words, options, reflection.constants, 0, pipeline.create_s);
    pipeline.reflection = std::move(reflection);
    return pipeline;
}

const CutPipeline* PipelineCache::cut(const Pipeline& pipeline) {
    const std::lock_guard lock(mutex_);
    PipelineCuts& cuts = *pipeline.cuts;
    if (!cuts.tried_) {
        std::optional<GridModule> module = with_pushed_grid(
            cuts.words_, pipeline.reflection.push_constant_bytes, device_.plan().push_constant_bytes);
        if (module) {
            double seconds = 0;
            const VkPipeline handle =
                make_pipeline(module->words, cuts.options_, pipeline.reflection.constants,
                              VK_PIPELINE_CREATE_DISPATCH_BASE_BIT, seconds);
            cuts.pipeline_ = CutPipeline{handle, module->grid_offset};
            ++report_.created;
            report_.last_create_s = seconds;
            report_.total_create_s += seconds;
            unsaved_ = true;
        } else {
            device_.log().write(
                LogLevel::warning,
                "program \"" + pipeline.name +
                    "\" has long dispatches, which cannot be cut: its use of gl_NumWorkGroups "
                    "or of its push constants cannot be replaced");
        }
        cuts.tried_ = true;
    }
    return cuts.pipeline_ ? &*cuts.pipeline_ : nullptr;
}

const Pipeline& PipelineCache::get(std::span<const std::uint32_t> words, const ProgramOptions& options) {
    const std::string& name = name_of(options);
    // An empty or far too short span must be refused before it is hashed.
    if (words.data() == nullptr || words.size() < 5) check_spirv_words(words, options.entry, name);
    const std::lock_guard lock(mutex_);
    if (const Pipeline* const found = find_recent(words, options)) {
        ++report_.reused;
        return *found;
    }
    const PipelineKey key = pipeline_key(words, options);
    auto it = pipelines_.find(key);
    if (it != pipelines_.end()) {
        ++report_.reused;
    } else {
        const SteadyTime begin = std::chrono::steady_clock::now();
        Reflection reflection = reflect(words, options);
        check_device(reflection, device_.snapshot(), name);
        check_subgroups(options, reflection, device_.snapshot(), device_.plan(), name);
        it = pipelines_.emplace(key, build(words, options, std::move(reflection))).first;
        if (first_s_ == 0) first_s_ = seconds_since(begin);
        ++report_.created;
        report_.last_create_s = it->second.create_s;
        report_.total_create_s += it->second.create_s;
        unsaved_ = true;
        if (device_.log().enabled(LogLevel::info))
            device_.log().write(LogLevel::info, "pipeline \"" + name + "\": made in " +
                                                    ms_text(seconds_since(begin)) + ", the driver took " +
                                                    ms_text(it->second.create_s));
    }
    keep_recent(words, options, it->second);
    return it->second;
}

const Pipeline* PipelineCache::find_recent(std::span<const std::uint32_t> words,
                                           const ProgramOptions& options) {
    const auto same_constant = [](const SpecConstant& a, const SpecConstant& b) {
        return a.id == b.id && a.bits == b.bits && a.floating == b.floating;
    };
    const auto same = [&](const Recent& recent) {
        const ProgramOptions& o = recent.options;
        return recent.words.size() == words.size() && o.entry == options.entry &&
               o.local_size == options.local_size && o.subgroup_size == options.subgroup_size &&
               o.written_first == options.written_first &&
               o.require_full_subgroups == options.require_full_subgroups &&
               std::equal(options.constants.begin(), options.constants.end(), o.constants.begin(),
                          o.constants.end(), same_constant) &&
               std::equal(words.begin(), words.end(), recent.words.begin());
    };
    const auto found = std::find_if(recent_.begin(), recent_.end(), same);
    if (found == recent_.end()) return nullptr;
    std::rotate(recent_.begin(), found, std::next(found));
    return recent_.front().pipeline;
}

void PipelineCache::keep_recent(std::span<const std::uint32_t> words, const ProgramOptions& options,
                                const Pipeline& pipeline) {
    constexpr std::size_t kMost = 12;  // the programs of any one call
    Recent made{{words.begin(), words.end()}, options, &pipeline};
    if (recent_.size() == kMost) recent_.pop_back();
    recent_.insert(recent_.begin(), std::move(made));
}

double PipelineCache::first_s() const {
    const std::lock_guard lock(mutex_);
    return first_s_;
}

PipelineReport PipelineCache::report() const {
    const std::lock_guard lock(mutex_);
    return report_;
}

bool PipelineCache::save_locked() {
    if (file_.empty()) return false;
    // Another process may have saved its pipelines since this one loaded; they are kept.
    if (const FileRead file = read_cache_file(file_); file.refused.empty()) {
        const DecodedCache decoded =
            decode_cache(identity_of(device_.snapshot()), std::as_bytes(std::span(file.bytes)));
        if (decoded.refused.empty()) {
            if (const VkPipelineCache other = make_cache(decoded.payload)) {
                device_.vk.vkMergePipelineCaches(device_.handle(), cache_, 1, &other);
                device_.vk.vkDestroyPipelineCache(device_.handle(), other, nullptr);
            }
        }
    }
    std::size_t size = 0;
    device_.check(device_.vk.vkGetPipelineCacheData(device_.handle(), cache_, &size, nullptr),
                  "vkGetPipelineCacheData");
    std::vector<std::byte> payload(size);
    device_.check(device_.vk.vkGetPipelineCacheData(device_.handle(), cache_, &size, payload.data()),
                  "vkGetPipelineCacheData");
    payload.resize(size);
    std::string reason;
    if (write_cache_file(file_, encode_cache(identity_of(device_.snapshot()), payload), &reason)) {
        device_.log().write(LogLevel::info, "pipeline cache " + file_.string() + ": " +
                                                std::to_string(payload.size()) + " bytes saved");
        return true;
    }
    device_.log().write(LogLevel::info, "pipeline cache " + file_.string() + " is not saved: " + reason);
    return false;
}

bool PipelineCache::save() noexcept {
    try {
        const std::lock_guard lock(mutex_);
        if (!unsaved_) return !file_.empty();
        if (device_.lost() || !save_locked()) return false;
        unsaved_ = false;
        return true;
    } catch (...) {
        return false;  // a lost cache must not end a destructor or a program
    }
}

const Pipeline& CopyShader::pipeline(PipelineCache& pipelines) {
    const std::lock_guard lock(mutex_);
    if (pipeline_ == nullptr) pipeline_ = &pipelines.get(kDeviceCopySpirv, {.name = "device_copy"});
    return *pipeline_;
}

}  // namespace weft::core
