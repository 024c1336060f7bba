// SPDX-License-Identifier: Apache-2.0
// Measures the tiles of the Gram product on a device.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <weft/backend.hpp>

#include "ops/kernel_matrix/gram_plan.hpp"

namespace weft::kernels {

struct GramTrial {
    GramTile tile;
    double seconds = 0;  ///< on the device, median; 0: the driver could not make the tile
    double scatter = 0;  ///< half the distance between the quartiles of its times
    bool right = true;   ///< its values are those of the planned tile
};
struct GramTrials {
    std::string name;               ///< gram_class()
    std::vector<GramTrial> trials;  ///< the planned tile first
    std::size_t best = 0;           ///< as best_tile returns it
};
/// The fastest of the tiles that gain over the first by more than 3 % of its time and by more than the
/// scatter of both; 0 where there is none. Pure.
std::size_t best_tile(std::span<const GramTrial> trials);
/// Runs every tile that the device has for the planned method, in turns and `rounds` times. `after_run` may
/// throw, which ends the call. Errors: as Stream::dispatch.
GramTrials try_tiles(Backend& backend, const GramDevice& device, const GramPlan& plan, double flops,
                     int rounds = 3, const std::function<void()>& after_run = {});
/// Runs that try_tiles makes at most.
std::size_t trial_runs(const GramDevice& device, const GramPlan& plan, int rounds);

}  // namespace weft::kernels
