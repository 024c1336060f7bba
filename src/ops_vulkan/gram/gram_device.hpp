// SPDX-License-Identifier: Apache-2.0
// What a plan may know of the device that a stream or a backend works on: its limits, whether its matrix
// units can be trusted, and the tiles that were measured on it and are kept in this process and in the cache
// folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <weft/backend.hpp>
#include <weft/memory_report.hpp>
#include <weft/stream.hpp>

#include "ops/kernel_matrix/gram_plan.hpp"
#include "vulkan/engine/scratch_cache.hpp"

namespace weft::kernels {

/// The device and the configuration behind a Backend or a Stream, which must outlive it.
struct Owner {
    Owner(const Backend& backend)
        : device(backend.device()),
          plan(backend.plan()),
          memory([&backend] { return backend.memory(); }),
          memory_limit(core::memory_limit(backend)),
          state(detail::Access::backend_state(backend)) {}
    Owner(const Stream& stream)
        : device(stream.device()),
          plan(detail::plan_report(stream)),
          memory([&stream] { return detail::memory_report(stream); }),
          memory_limit(core::memory_limit(stream)),
          state(detail::Access::backend_state(stream)) {}
    const DeviceInfo& device;
    const PlanReport& plan;
    std::function<MemoryReport()> memory;  ///< asks the driver, which may take longer than a small call
    std::uint64_t memory_limit;            ///< Config::memory_limit; 0: none
    std::shared_ptr<core::BackendState> state;
};

/// What the device can do. Matrix units are judged by a small product with nearly equal rows. The judgement
/// is made once for each device and driver in a process, and takes some milliseconds.
GramDevice gram_device(const Owner& owner);
/// The same without a new judgement: a plan leaves matrix units out that are not judged yet.
GramDevice gram_limits(const Owner& owner);

/// What is kept for a device, and where.
struct KeptTiles {
    GramTiles tiles;
    std::string state;           ///< "used", "absent", "off" (no cache folder), or why the file is not used
    std::filesystem::path file;  ///< empty: there is no cache folder
};
KeptTiles kept_tiles(const Owner& owner);

/// Keeps a tile for its class of products; also in the file, if there may be one. A file that cannot be
/// written is no error. Returns where it is kept; empty: in this process alone.
std::filesystem::path keep_tile(const Owner& owner, const std::string& name, const GramTile& tile);
/// Forgets all tiles of the device. Errors: io.
void forget_tiles(const Owner& owner);

}  // namespace weft::kernels
