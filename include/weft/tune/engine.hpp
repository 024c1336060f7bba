// SPDX-License-Identifier: Apache-2.0
// Settings of the engine that were measured on a device and are kept for it, as `weft tune` stores them.
//
// Example:
//     weft::Backend backend;
//     weft::tune::store_engine(backend, {.chunk_bytes = 64 << 20, .ring_slots = 4});  // for later backends
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <weft/config.hpp>

namespace weft {

class Backend;

namespace tune {

/// Values that replace the defaults of the plan where Config sets none. An empty optional, or automatic,
/// leaves the default.
struct Engine {
    /// Bytes of a chunk, inputs and outputs together; unlike Config::chunk_elements it means the same for
    /// every program. 1 to 2^40.
    std::optional<std::uint64_t> chunk_bytes{};
    std::optional<std::uint32_t> ring_slots{};    ///< 1 to 16
    std::optional<std::uint32_t> copy_threads{};  ///< 1 to 256
    Path page_locked_path = Path::automatic;      ///< of large jobs in page-locked memory
    Path ordinary_path = Path::automatic;         ///< of large jobs in ordinary memory
    /// Bytes of shared memory for the elements of a tile of transforms (docs/ntt.md). 1024 to 2^20.
    std::optional<std::uint64_t> ntt_tile_bytes{};

    bool empty() const { return *this == Engine{}; }
    bool operator==(const Engine&) const = default;
};

/// The settings that a Backend found when it was made.
struct EngineReport {
    std::string state = "off";   ///< "used", "absent", "off" (no cache), or why the file is not used
    std::filesystem::path file;  ///< empty: the cache is off
    Engine values;               ///< empty unless "used"
};

/// Keeps `engine` in the cache folder for backends that are made or adopted later with this device, driver
/// and version of weft. An empty one removes what is kept. The file appears whole or not at all. Errors:
/// invalid_argument - a value out of range; unsupported - the cache is off; io.
void store_engine(const Backend& backend, const Engine& engine);

}  // namespace tune
}  // namespace weft
