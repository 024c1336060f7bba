// SPDX-License-Identifier: Apache-2.0
// Words of the device's memory as kernel matrices bind them, and the part of a call that counts.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include <weft/buffer.hpp>
#include <weft/ops/kernel_matrix.hpp>

namespace weft::kernels {

using Words = BufferView<std::uint32_t>;

/// A range as a binding may start on this device, and the units of it before the first that is meant.
struct BoundWords {
    Words words;
    std::uint32_t before = 0;
};

/// `count` units of `unit` bytes each, from unit `first` of the object on.
BoundWords bind_units(const DeviceLimits& limits, const std::shared_ptr<core::BufferObject>& object,
                      std::uint64_t first, std::uint64_t count, std::uint64_t unit);

/// Tells the progress of a call and ends it when it is cancelled.
class KernelMeter {
  public:
    KernelMeter(const KernelMatrixOptions& options, std::uint64_t pairs);
    /// Errors: cancelled; what the callback throws.
    void show(std::uint64_t pairs_done);
    /// Errors: cancelled.
    void check() const;

  private:
    const KernelMatrixOptions& options_;
    KernelProgress progress_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace weft::kernels
