// SPDX-License-Identifier: Apache-2.0
// Pipelines in memory by content, and the driver's cache on disk.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <weft/program.hpp>

#include "plan/spirv/pipeline_key.hpp"
#include "plan/spirv/reflection.hpp"
#include "vulkan/device/device.hpp"

namespace weft::core {

struct Pipeline {
    VkPipeline handle = VK_NULL_HANDLE;
    std::string name;  // of the program that was first to need it
    Reflection reflection;
    double create_s = 0;
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
    PipelineReport report() const;
    /// How long the first pipeline took, with checks and reflection; 0: there is none yet.
    double first_s() const;
    double load_s() const { return load_s_; }
    /// Merges with what is on disk by now and writes. false: the cache is off or not writable, which is
    /// logged.
    bool save() noexcept;

  private:
    bool is_last(std::span<const std::uint32_t> words, const ProgramOptions& options) const;
    void load();
    void use(std::string_view file);
    bool save_locked();
    VkPipelineCache make_cache(std::span<const std::byte> payload);
    Pipeline build(std::span<const std::uint32_t> words, const ProgramOptions& options,
                   Reflection reflection);

    Device& device_;
    std::filesystem::path file_;  // empty: off
    VkPipelineCache cache_ = VK_NULL_HANDLE;
    mutable std::mutex mutex_;
    std::map<PipelineKey, Pipeline> pipelines_;
    // The last request. A program that is made anew for every call repeats it, and comparing is cheaper than
    // hashing.
    std::vector<std::uint32_t> last_words_;
    ProgramOptions last_options_;
    const Pipeline* last_ = nullptr;
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
