// SPDX-License-Identifier: Apache-2.0
// What this machine's copies can do at most: the ceilings that benches and reports compare with.
#pragma once

#include <cstdint>

#include <weft/backend.hpp>

namespace weft {

/// GB/s = 1e9 bytes a second, medians of several windows.
struct CopyCeiling {
    double upload_gb_per_s = 0;      ///< page-locked host to device, alone
    double download_gb_per_s = 0;    ///< device to page-locked host, alone
    double concurrent_gb_per_s = 0;  ///< sum of both directions at once, in the proportion asked for
};

/// Copies between page-locked memory and device memory on the backend's own upload and download queues, in
/// the proportion bytes_in : bytes_out, `window_s` seconds a figure. Errors: invalid_argument - both zero;
/// out_of_memory; device_lost.
CopyCeiling measure_copy_ceiling(Backend& backend, std::uint64_t bytes_in, std::uint64_t bytes_out,
                                 double window_s = 0.1);

/// Reads two arrays and writes a third in device memory with 16-byte accesses, `bytes` in sum; GB/s of all
/// three.
double measure_memory_ceiling(Backend& backend, std::uint64_t bytes, int repeats = 9);

/// Seconds of submitting a command buffer without commands and waiting for it, median.
double measure_submit_wait(Backend& backend, int repeats = 200);

/// The same for the smallest kernel there is, recorded beforehand: the floor of any synchronous call on this
/// device.
double measure_dispatch_wait(Backend& backend, int repeats = 200);

}  // namespace weft
