// SPDX-License-Identifier: Apache-2.0
// Pipelines in memory by content, and the driver's cache on disk.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <weft/program.hpp>

#include "plan/spirv/pipeline_key.hpp"
#include "plan/spirv/reflection.hpp"
#include "plan/work/dispatch_cuts.hpp"
#include "vulkan/device/device.hpp"

namespace weft::core {

/// Runs parts of a dispatch with vkCmdDispatchBase.
struct CutPipeline {
    VkPipeline handle = VK_NULL_HANDLE;
    /// Where the grid of the whole dispatch goes in the push constants; nothing: the shader does not ask.
    std::optional<std::uint32_t> grid_offset;
};

/// What the dispatches of a pipeline are cut by. May be used from many threads.
class PipelineCuts {
  public:
    PipelineCuts(std::span<const std::uint32_t> words, ProgramOptions options)
        : words_(words.begin(), words.end()), options_(std::move(options)) {}
    DispatchPace pace() const {
        const std::lock_guard lock(mutex_);
        return pace_;
    }
    void set_pace(const DispatchPace& pace) {
        const std::lock_guard lock(mutex_);
        pace_ = pace;
    }

  private:
    friend class PipelineCache;
    const std::vector<std::uint32_t> words_;
    const ProgramOptions options_;
    mutable std::mutex mutex_;
    DispatchPace pace_;   // guarded
    bool tried_ = false;  // `pipeline_` is made, or cannot be; guarded by the cache
    std::optional<CutPipeline> pipeline_;
};

struct Pipeline {
    VkPipeline handle = VK_NULL_HANDLE;
    std::string name;  // of the program that was first to need it
    Reflection reflection;
    double create_s = 0;
    std::unique_ptr<PipelineCuts> cuts;
};

class PipelineCache {
  public:
    PipelineCache(Device& device, const Config& config);
    ~PipelineCache();
    PipelineCache(const PipelineCache&) = delete;
    PipelineCache& operator=(const PipelineCache&) = delete;

    /// The pipeline for these words, made on first use. Valid as long as this cache. Errors: those of
    /// Program.
    const Pipeline& get(std::span<const std::uint32_t> words, const ProgramOptions& options);
    /// The variant that runs parts of a dispatch, made by the first call; null: the shader cannot be cut,
    /// which is logged. Errors: out_of_memory, driver.
    const CutPipeline* cut(const Pipeline& pipeline);
    PipelineReport report() const;
    /// How long the first pipeline took, with checks and reflection; 0: there is none yet.
    double first_s() const;
    double load_s() const { return load_s_; }
    /// Merges with what is on disk by now and writes. false: the cache is off or not writable, which is
    /// logged.
    bool save() noexcept;

  private:
    /// A request that is repeated often, because programs are made anew for every call.
    struct Recent {
        std::vector<std::uint32_t> words;
        ProgramOptions options;
        const Pipeline* pipeline = nullptr;
    };
    const Pipeline* find_recent(std::span<const std::uint32_t> words, const ProgramOptions& options);
    void keep_recent(std::span<const std::uint32_t> words, const ProgramOptions& options,
                     const Pipeline& pipeline);
    void load();
    void use(std::string_view file);
    bool save_locked();
    VkPipelineCache make_cache(std::span<const std::byte> payload);
    Pipeline build(std::span<const std::uint32_t> words, const ProgramOptions& options,
                   Reflection reflection);
    VkPipeline make_pipeline(std::span<const std::uint32_t> words, const ProgramOptions& options,
                             const std::vector<SpecConstant>& constants, VkPipelineCreateFlags flags,
                             double& seconds);

    Device& device_;
    std::filesystem::path file_;  // empty: off
    VkPipelineCache cache_ = VK_NULL_HANDLE;
    mutable std::mutex mutex_;
    std::map<PipelineKey, Pipeline> pipelines_;
    std::vector<Recent> recent_;  // the last one used comes first; comparing is cheaper than hashing
    PipelineReport report_;
    double first_s_ = 0, load_s_ = 0;
    bool unsaved_ = false;
};

/// The shader that copies within device memory; a context has one. May be used from any thread.
class CopyShader {
  public:
    /// Made by the first call. Errors: out_of_memory, driver.
    const Pipeline& pipeline(PipelineCache& pipelines);

  private:
    std::mutex mutex_;
    const Pipeline* pipeline_ = nullptr;
};

}  // namespace weft::core
