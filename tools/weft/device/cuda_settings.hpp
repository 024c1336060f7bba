// SPDX-License-Identifier: Apache-2.0
// What --backend cuda does with the settings that a Backend would obey.
#pragma once

#include <cstdint>

#include <weft/config.hpp>

namespace weft::tool {

/// Settings that calls by CUDA obey; 0: not set.
struct CudaSettings {
    std::uint64_t chunk_elements = 0;
    std::uint32_t ring_slots = 0, copy_threads = 0;
    bool operator==(const CudaSettings&) const = default;
};

/// Errors: Failure with Exit::usage - a setting is set that has no meaning with CUDA: traces, paths, queues,
/// the validation layer and others. The text names its variable.
CudaSettings cuda_settings(const Config& config);

}  // namespace weft::tool
