// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/kernel_matrix/kernel_steps.hpp"

#include <algorithm>

#include <weft/error.hpp>

namespace weft::kernels {

BoundWords bind_units(const DeviceLimits& limits, const std::shared_ptr<core::BufferObject>& object,
                      std::uint64_t first, std::uint64_t count, std::uint64_t unit) {
    const std::uint64_t alignment = std::max<std::uint64_t>(limits.storage_buffer_offset_alignment, unit);
    const std::uint64_t begin = first * unit, aligned = begin / alignment * alignment;
    return {detail::Access::make<Words>(object, aligned / 4, (begin + count * unit - aligned) / 4),
            static_cast<std::uint32_t>((begin - aligned) / unit)};
}

KernelMeter::KernelMeter(const KernelMatrixOptions& options, std::uint64_t pairs) : options_(options) {
    progress_.pairs = pairs;
}

void KernelMeter::show(std::uint64_t pairs_done) {
    check();
    if (!options_.progress) return;
    progress_.pairs_done = pairs_done;
    progress_.elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    options_.progress(progress_);
}

void KernelMeter::check() const {
    if (options_.cancel.stop_requested())
        throw Error(Errc::cancelled, "kernel_matrix: cancelled (its stop token was asked to stop)");
}

}  // namespace weft::kernels
