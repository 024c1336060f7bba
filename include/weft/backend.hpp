// SPDX-License-Identifier: Apache-2.0
// The persistent object that owns device, queues, memory, pipeline cache and staging rings.
//
// Example:
//     weft::Backend backend;  // the best device, or what WEFT_DEVICE names
//     std::printf("%s, uploads on %s\n", backend.name().c_str(), backend.plan().upload_queue.c_str());
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weft/config.hpp>
#include <weft/device.hpp>
#include <weft/error.hpp>
#include <weft/tune/engine.hpp>

namespace weft {

namespace core {
class BackendState;
}
struct MemoryReport;
class Devices;

/// The plan that the Backend made from device and Config when it was constructed.
struct PlanReport {
    std::string upload_queue, compute_queue, download_queue;  ///< "family 1 queue 0"; equal texts: one queue
    bool split_queues = false;          ///< three submissions a bundle of jobs instead of one
    Path large_path = Path::staged;     ///< path of large jobs from page-locked memory
    Path ordinary_path = Path::staged;  ///< path of large jobs from ordinary memory
    Path small_path = Path::host;       ///< path of jobs of at most small_bytes
    std::uint64_t small_bytes = 0;
    std::uint64_t chunk_elements = 0;
    bool chunk_exact = false;       ///< Config set chunk_elements; otherwise it is an upper bound
    std::uint64_t chunk_bytes = 0;  ///< tuned size in its place; 0: not tuned
    bool synchronization2 = false;
    std::uint32_t ring_slots = 0;
    std::uint32_t copy_threads = 0;
    std::string host_allocator;        ///< what should allocate page-locked memory: "vulkan" or "cuda"
    tune::EngineReport tuning;         ///< what `weft tune` stored for this device
    std::vector<std::string> reasons;  ///< one line for each choice
};

/// Running totals since the Backend was made. Work with the same memory, sizes and parameters as before
/// changes none of the first four. Other parameters only record commands again, and so do Streams and encodes
/// that use them.
struct Counters {
    std::uint64_t objects_created = 0;      ///< Vulkan objects of any kind
    std::uint64_t memory_allocations = 0;   ///< blocks and dedicated allocations taken from the driver
    std::uint64_t descriptor_updates = 0;   ///< descriptor sets written
    std::uint64_t recordings = 0;           ///< command buffers recorded
    std::uint64_t submissions = 0;          ///< calls that hand work to a queue
    std::uint64_t imports = 0;              ///< host ranges imported
    std::uint64_t validation_messages = 0;  ///< warnings and errors of the validation layer
};

/// Pipelines of this backend: what was made, what came from memory, and how long making took.
struct PipelineReport {
    std::uint64_t created = 0;            ///< pipelines built by the driver
    std::uint64_t reused = 0;             ///< programs served by a pipeline already in memory
    std::uint64_t disk_bytes_loaded = 0;  ///< payload of the cache file used at start; 0: cold start
    std::string disk_state;               ///< "loaded", "absent", "off", or why the file was not used
    double last_create_s = 0, total_create_s = 0;
};

/// The parts of the time from the start of the process to its first result, in seconds, measured in this run.
/// For a second backend of a process, loader and drivers are already open.
struct StartupReport {
    double before_s = 0;          ///< from the start of the process until construction of the Backend began
    double loader_s = 0;          ///< opening the Vulkan loader
    double instance_s = 0;        ///< the instance: the loader opens every driver that is installed
    double devices_s = 0;         ///< queries of each device, and the plan
    double device_s = 0;          ///< opening the device; queues, timelines, layouts
    double caches_s = 0;          ///< reading the pipeline cache; starting copy threads
    double first_pipeline_s = 0;  ///< checks, reflection and compilation of the first program; 0: none yet
    double first_dispatch_s = 0;  ///< from the first submission until it was seen done; 0: none yet
    double first_result_s = 0;    ///< from the start of the process until then; 0: none yet
};

/// A device ready for work. Move-only. May be used from many threads simultaneously. Buffers, programs and
/// pipelines keep the device alive, so a Backend may be destroyed before them. In a forked child every call
/// fails with an Error.
class Backend {
  public:
    /// Errors: no_loader; no_device - the text lists every device with its reasons; invalid_argument - a
    /// Config value out of range or a device setting that matches nothing; unsupported - validation asked
    /// for, layer absent.
    explicit Backend(const Config& config = Config::from_env());
    Backend(Backend&&) noexcept;
    Backend& operator=(Backend&&) noexcept;
    /// Waits for running work, then saves the pipeline cache.
    ~Backend();

    const std::string& name() const;  ///< device name
    const DeviceInfo& device() const;
    const PlanReport& plan() const;
    /// What allocates large blocks of page-locked memory: "cuda", or "vulkan" with the reason if the plan was
    /// "cuda". If no such block has been needed yet, this tries the allocator, which may take a tenth of a
    /// second.
    std::string host_allocator();
    Counters counters() const;
    MemoryReport memory() const;  ///< defined in buffer.hpp
    PipelineReport pipelines() const;
    StartupReport startup() const;

    /// Waits until the device is idle. Errors: device_lost.
    void wait_idle();
    /// Writes the pipeline cache to disk now instead of at destruction; merges with what another process
    /// wrote. Returns false when the cache is off or cannot be written (logged, never an error).
    bool save_pipeline_cache();
    /// Frees staging rings and scratch that no call uses at the moment, and imports of ordinary memory.
    void trim();

  private:
    friend struct detail::Access;
    explicit Backend(std::shared_ptr<core::BackendState> backend_state);
    const std::shared_ptr<core::BackendState>& backend_state() const;

    std::shared_ptr<core::BackendState> backend_state_;
};

}  // namespace weft
