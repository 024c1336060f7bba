// SPDX-License-Identifier: Apache-2.0
// The settings of one batch: BatchOptions, and the plan where an option is left open.
#pragma once

#include <cstdint>

#include <weft/batch.hpp>

#include "plan/device/device_plan.hpp"

namespace weft::core {

/// BatchOptions with every blank filled in.
struct BatchSettings {
    BatchMode mode = BatchMode::pipelined;
    Path path = Path::automatic;
    bool split = false;
    bool stage_times = false;
    std::uint32_t slots = 3;
    std::uint64_t chunk_elements = 0;
    bool chunk_exact = false;
    std::uint64_t chunk_bytes = 0;  // not 0: chunks are cut by it instead, as exactly
    std::uint64_t total_bytes = 0;  // of the jobs known so far; bounds how small chunks may be
    TransferPlan transfer;

    bool cuts_exactly() const { return chunk_exact || chunk_bytes != 0; }
};

/// Errors: invalid_argument - options out of range; unsupported - a path the device cannot take.
BatchSettings settle_options(const DevicePlan& plan, const DeviceSnapshot& device,
                             const BatchOptions& options, std::uint64_t total_bytes);

}  // namespace weft::core
