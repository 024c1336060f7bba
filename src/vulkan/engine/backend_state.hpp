// SPDX-License-Identifier: Apache-2.0
// What a Backend points at: the context, the staging rings and the copy workers.
#pragma once

#include <filesystem>
#include <memory>

#include "host/copy_workers.hpp"
#include "vulkan/context/context.hpp"
#include "vulkan/engine/scratch_cache.hpp"
#include "vulkan/engine/staging_ring.hpp"

namespace weft::core {

/// Owns what one Backend adds to its Context: staging rings, copy threads, imports, the scratch cache and
/// reports.
class BackendState {
  public:
    /// `startup`: the times until the device was open; `trace`: Config::trace.
    BackendState(std::shared_ptr<Context> context, DeviceInfo info, PlanReport plan, StartupReport startup,
                 SteadyTime process_begin, const std::filesystem::path& trace);
    ~BackendState();

    const std::shared_ptr<Context>& context() const { return context_; }
    const DeviceInfo& info() const { return info_; }
    const PlanReport& plan_report() const { return plan_; }
    StartupReport startup() const;
    CopyWorkers& copy_workers() { return copy_workers_; }
    /// For a NodeBinding: where threads that touch host memory for this device belong. Empty: anywhere.
    const CpuSet& node_cpus() const { return context_->device.node_cpus(); }
    ImportRegistry& imports() { return imports_; }
    IdleRings& rings() { return rings_; }
    /// Streams in it own this object, so it must be cleared before the Backend releases this object.
    ScratchCache& scratch_cache() { return scratch_cache_; }

    /// Ends the trace that Config::trace asked for and writes it, once. A failure is logged.
    void write_trace() noexcept;
    /// Frees idle rings, the scratch cache, imports and empty blocks.
    void trim() noexcept;

  private:
    void open_trace(const std::filesystem::path& path);

    std::shared_ptr<Context> context_;
    DeviceInfo info_;
    PlanReport plan_;
    StartupReport startup_;
    SteadyTime process_begin_;
    CopyWorkers copy_workers_;
    ImportRegistry imports_;
    ScratchCache scratch_cache_;
    IdleRings rings_;
    std::filesystem::path trace_path_;
    std::shared_ptr<TraceSink> trace_;
};

/// How long each part took until the device is opened.
struct StartupClock {
    StartupReport report;
    SteadyTime process_begin, opening;
};

/// Makes everything behind a Backend, for a planned device; `index` is its place in the list of the instance.
std::shared_ptr<BackendState> make_backend_state(std::shared_ptr<Instance> instance,
                                                 VkPhysicalDevice physical, std::uint32_t index,
                                                 DeviceSnapshot snapshot, DevicePlan plan,
                                                 const Config& config, StartupClock clock,
                                                 AdoptedDevice adopted = {});

/// What this process may use of the host, for one backend that is alone.
HostFacts host_facts();

/// Opens the device that `config` names, or the best one, as one of several backends or alone.
std::shared_ptr<BackendState> open_device(const Config& config, const HostFacts& host);
/// What the loader shows; `config` names the loader.
std::vector<DeviceSnapshot> read_devices(const Config& config);

}  // namespace weft::core
