// SPDX-License-Identifier: Apache-2.0
// Measures tiles of the Gram product on a device and keeps the fastest, in this process and in the cache
// folder.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ops_vulkan/gram/gram.hpp"
#include "ops/kernel_matrix/gram_tuning.hpp"

namespace weft::kernels {

/// What is kept for a device, and where.
struct KeptTiles {
    GramTiles tiles;
    std::string state;           ///< "used", "absent", "off" (no cache folder), or why the file is not used
    std::filesystem::path file;  ///< empty: no cache folder
};
KeptTiles kept_tiles(const Backend& backend);
KeptTiles kept_tiles(const Stream& stream);

/// Keeps a tile for its class of products; also in the file, if there may be one. A file that cannot be
/// written is no error. Returns where it is kept; empty: in this process alone.
std::filesystem::path keep_tile(const Backend& backend, const std::string& name, const GramTile& tile);
/// Forgets all tiles of the device. Errors: io.
void forget_tiles(const Backend& backend);

struct GramTrial {
    GramTile tile;
    double seconds = 0;  ///< of the device, median; 0: the driver could not make it
    double scatter = 0;  ///< half the distance between the quartiles of its times
    bool right = true;   ///< its values are those of the planned tile
};
struct GramTrials {
    std::string name;               ///< gram_class()
    std::vector<GramTrial> trials;  ///< the planned tile first
    std::size_t best = 0;           ///< of these; 0 unless another gains 3 % and more than both scatter
};
/// The fastest of the tiles that gain over the first by more than 3 % of its time and by more than the
/// scatter of both; 0 where there is none. Pure.
std::size_t best_tile(std::span<const GramTrial> trials);
/// Runs every tile the device has for the planned method in turns, `rounds` times. Errors: as Stream::dispatch.
/// `after_run` may throw, which ends the call.
GramTrials try_tiles(Backend& backend, const GramDevice& device, const GramPlan& plan, double flops,
                     int rounds = 3, const std::function<void()>& after_run = {});
/// Runs that try_tiles makes at most.
std::size_t trial_runs(const GramDevice& device, const GramPlan& plan, int rounds);

}  // namespace weft::kernels
