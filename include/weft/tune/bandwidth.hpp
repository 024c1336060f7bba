// SPDX-License-Identifier: Apache-2.0
// The highest rates at which copies and kernels of this machine move bytes. Benches and reports compare with
// them.
//
// Example:
//     weft::Backend backend;
//     const weft::tune::CopyCeiling copy = weft::tune::measure_copy_ceiling(backend, 2, 1);
//     std::printf("at most %.1f GB/s both ways\n", copy.concurrent_gb_per_s);
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>

#include <weft/backend.hpp>
#include <weft/batch.hpp>

namespace weft::tune {

/// GB/s = 1e9 bytes a second, medians of several windows.
struct CopyCeiling {
    double upload_gb_per_s = 0;      ///< page-locked host to device, alone
    double download_gb_per_s = 0;    ///< device to page-locked host, alone
    double concurrent_gb_per_s = 0;  ///< both simultaneously, added up, in the proportion asked for
};

/// Measures copies between page-locked memory and device memory on the upload and download queues of the
/// backend, in the proportion bytes_in : bytes_out, for `window_s` seconds per figure. `progress` counts the
/// windows, and `cancel` is checked after each of them. Errors: invalid_argument - both zero; out_of_memory;
/// device_lost; cancelled.
CopyCeiling measure_copy_ceiling(Backend& backend, std::uint64_t bytes_in, std::uint64_t bytes_out,
                                 double window_s = 0.1, const ProgressCallback& progress = {},
                                 const std::stop_token& cancel = {});

/// The ceiling of memory-bound kernels: a shader reads two arrays in device memory and writes a third with
/// 16-byte accesses. It keeps its arrays, so that it can be measured in turns with the kernel that is
/// compared. After an allocation or a release, a driver may clear memory for a while, which slows other work.
class MemoryCeiling {
  public:
    /// `bytes` in the three arrays together. Errors: invalid_argument - below 48, or more than the device can
    /// bind; out_of_memory.
    MemoryCeiling(Backend& backend, std::uint64_t bytes);
    MemoryCeiling(MemoryCeiling&&) noexcept;
    MemoryCeiling& operator=(MemoryCeiling&&) noexcept;
    ~MemoryCeiling();

    /// GB/s of all three arrays, one measurement of several passes.
    double gb_per_s();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Median seconds of submitting a command buffer without commands and waiting for it.
double measure_submit_wait(Backend& backend, int repeats = 200);

/// The same for the smallest kernel, recorded beforehand. No synchronous call on this device is faster.
double measure_dispatch_wait(Backend& backend, int repeats = 200);

}  // namespace weft::tune
