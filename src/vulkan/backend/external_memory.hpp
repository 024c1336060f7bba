// SPDX-License-Identifier: Apache-2.0
// Vulkan's half of interop with another API: memory and timelines that are exported and imported as file
// descriptors. Uses no name of Vulkan, so that src/cuda can include it. All functions are thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <weft/backend.hpp>
#include <weft/stream.hpp>

#include "base/file_io.hpp"

namespace weft::core {

class BufferObject;
class ExternalTimeline;

/// Errors: unsupported - the device lacks an extension that interop needs, or the application's device was
/// made without it; the text names the extension. device_lost.
void require_external(const BackendState& backend_state, const char* function);

/// A buffer with memory that export_memory() can export. Errors: as Buffer.
std::shared_ptr<BufferObject> make_exportable_buffer(const BackendState& backend_state, std::uint64_t bytes,
                                                     const std::string& name);

struct ExportedMemory {
    FileDescriptor fd;
    std::uint64_t bytes = 0;  // of the allocation, in which the buffer starts at 0
};
/// A new descriptor with each call. Errors: out_of_memory, driver.
ExportedMemory export_memory(const BufferObject& buffer);

/// Another API's device memory, `first` bytes into an allocation of `allocation_bytes`. On success the
/// descriptor belongs to weft; otherwise to the caller. Errors: invalid_argument - a range beyond the
/// allocation or not aligned as the device needs; out_of_memory; driver.
struct ForeignMemory {
    int fd = -1;
    std::uint64_t allocation_bytes = 0, first = 0, bytes = 0;
};
std::shared_ptr<BufferObject> import_buffer(const BackendState& backend_state, const ForeignMemory& memory,
                                            const std::string& name);

/// Identifies the context of a backend or an event; null for a default-made event.
const void* context_of(const BackendState& backend_state);
const void* context_of(const Event& event);

/// weft's own timelines, which other APIs may wait for: one for each queue role.
inline constexpr std::size_t kWorkTimelines = 3;
/// A new descriptor of a semaphore that follows the timeline, which nothing else may signal.
/// Errors: device_lost, driver.
FileDescriptor export_work_timeline(const BackendState& backend_state, std::size_t timeline);
struct WorkPoint {
    std::size_t timeline = 0;
    std::uint64_t value = 0;  // 0: always reached
    /// If set, the point is at `value` of this timeline and not work of weft.
    std::shared_ptr<ExternalTimeline> external;
};
WorkPoint work_point(const Event& event);
/// Everything that weft has submitted so far.
std::array<WorkPoint, kWorkTimelines> last_work(const BackendState& backend_state);

/// A timeline for another API to signal; starts at 0. Lives until no work of weft's waits for it any more:
/// the destructor of the last reference waits for such work. A wait that lasts calls `check` every two
/// seconds, on any thread: it returns why the other API will never signal again, or an empty text if it may.
/// After such a reason the device counts as lost, because what waits would run on data that never came.
std::shared_ptr<ExternalTimeline> make_external_timeline(const BackendState& backend_state,
                                                         std::function<std::string()> check);
FileDescriptor export_timeline(const ExternalTimeline& timeline);
/// Reached when the other API has signalled `value` or more.
Event external_event(const std::shared_ptr<ExternalTimeline>& timeline, std::uint64_t value);
/// All work that weft submits from now on, on every queue, waits for the event, which is an external one.
void hold_all(const BackendState& backend_state, const Event& event);
/// Calls the check of the timeline, and gives the device up if the other API is dead.
void poll(ExternalTimeline& timeline) noexcept;

}  // namespace weft::core
