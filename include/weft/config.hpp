// SPDX-License-Identifier: Apache-2.0
// All settings of a Backend, and the only list of environment variables.
//
// Example:
//     weft::Config config = weft::Config::from_env();
//     config.device = "cpu";
//     config.memory_limit = std::uint64_t{1} << 30;
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

/// How the bytes of a job reach its kernel.
enum class Path {
    automatic,  ///< a plan decides for each part of the work, from device, size and source
    staged,     ///< copied by the transfer queues into device memory and back
    /// The host writes where the kernel reads: unified memory, or device memory through a full-size BAR.
    direct,
    imported,  ///< the user's own pages, imported as long as the job runs, or longer on software devices
    host,      ///< the kernel reads and writes page-locked host memory over the bus
};

/// Which queues a batch uses.
enum class QueueMode {
    automatic,  ///< separate upload, compute and download queues where the device has them
    single,     ///< everything on the compute queue, in one submission for upload, kernel and download
    split,      ///< three submissions ordered by timeline semaphores, even if the queues are one
};

/// What allocates page-locked host memory.
enum class HostAllocator {
    automatic,  ///< the CUDA driver library for large blocks on NVIDIA GPUs if it is installed, else Vulkan
    vulkan,
    cuda,  ///< required: without it a Backend cannot be made
};

/// For settings that weft chooses unless the caller does.
enum class Choice { automatic, off, on };

/// Khronos validation layer.
enum class Validation {
    off,
    on,    ///< core checks; messages go to the log
    sync,  ///< core checks and synchronization validation
};

enum class LogLevel { off, error, warning, info, debug };

/// Receives one message, without a line feed at its end. Messages of the validation layer name the objects
/// that they are about. Called from any thread, also from inside driver and layer, but for one message at a
/// time. Must not call weft or Vulkan; exceptions that it throws are ignored.
using LogCallback = std::function<void(LogLevel level, std::string_view line)>;

const char* to_string(Path path) noexcept;
const char* to_string(QueueMode mode) noexcept;

/// Settings of a Backend. A default-constructed Config ignores the environment. For an empty optional the
/// plan decides.
struct Config {
    /// Index, start of the UUID, part of the name (any case) or "cpu"; or a list of these with commas
    /// between ("0,2"); or "all"; empty: best device. A Backend takes the best of what it names. Variable
    /// WEFT_DEVICE.
    std::string device;
    /// Elements per chunk of a streamed job, >= 1. Variable GPU_STREAM_CHUNK_ELEMS.
    /// Unset: at most kDefaultChunkElements, and fewer if smaller chunks keep the device busy from the start.
    std::optional<std::uint64_t> chunk_elements;
    /// true: always staged through device-local memory, false: never. Variable GPU_DEVICE_LOCAL (1, 0), kept
    /// for compatibility; WEFT_PATH is the general form.
    std::optional<bool> device_local;
    /// Slots in the ring, 1..16; two slots are the ping-pong of the literature. Variable WEFT_SLOTS.
    std::optional<std::uint32_t> ring_slots;
    /// Variable WEFT_PATH (auto, staged, direct, imported, host).
    Path path = Path::automatic;
    /// Threads that copy between ordinary and page-locked memory, the caller's included, 1..256.
    /// Variable WEFT_COPY_THREADS.
    std::optional<std::uint32_t> copy_threads;
    /// Longest time that one dispatch is to take, in milliseconds, >= 1. Longer ones are cut into parts, so
    /// that the driver does not reset the device and a display that shares it goes on. Variable
    /// WEFT_DISPATCH_MS.
    std::uint32_t dispatch_ms = 250;
    /// Variable WEFT_QUEUES (auto, single, split).
    QueueMode queues = QueueMode::automatic;
    /// Variable WEFT_HOST_ALLOC (auto, vulkan, cuda).
    HostAllocator host_allocator = HostAllocator::automatic;
    /// Variable WEFT_VALIDATION (0, 1, sync). Asking for it on a machine without the layer is an error.
    Validation validation = Validation::off;
    /// Messages at or above this level reach `log`. Variable WEFT_LOG (off, error, warning, info, debug).
    LogLevel log_level = LogLevel::warning;
    /// Where log lines go; empty: stderr.
    LogCallback log;
    /// File for a trace of everything that this backend does, written when the backend is destroyed; empty:
    /// no trace. A second backend of the process with the same file writes "name.2.ext" next to it, and so
    /// on. Variable WEFT_TRACE.
    std::filesystem::path trace;
    /// Pipeline cache on disk. Variable WEFT_CACHE (1, 0).
    bool cache = true;
    /// Folder of the caches; empty: $XDG_CACHE_HOME/weft, else ~/.cache/weft. Variable WEFT_CACHE_DIR.
    std::filesystem::path cache_dir;
    /// The Vulkan loader to open; empty: the system's. Variable WEFT_VULKAN_LIBRARY.
    std::string vulkan_library;
    /// Upper bound on the memory this backend takes from the device, bytes; 0: none but the device's own.
    std::uint64_t memory_limit = 0;
    /// Use nothing newer than Vulkan 1.2, as on older drivers; otherwise synchronization2 is used where it
    /// exists.
    bool vulkan_1_2_only = false;

    /// Reads every variable named above. A set but empty variable counts as unset.
    /// Errors: invalid_argument - a value that is not legal; the text names variable, value and what is
    /// legal.
    static Config from_env();
};

inline constexpr std::uint64_t kDefaultChunkElements = 524288;

}  // namespace weft
