// SPDX-License-Identifier: Apache-2.0
// CUDA kernels that play the part of an application's kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/cuda/device.hpp>

namespace weft_test {

/// y[i] = x[i] * factor + offset.
void cuda_affine(weft::cuda::DeviceSpan<const std::uint32_t> x, weft::cuda::DeviceSpan<std::uint32_t> y,
                 std::uint32_t factor, std::uint32_t offset, weft::cuda::StreamHandle stream);
/// Keeps a part of the GPU busy for about the given time.
void cuda_spin(std::uint64_t nanoseconds, weft::cuda::StreamHandle stream);
/// Breaks the context.
void cuda_trap(weft::cuda::StreamHandle stream);

}  // namespace weft_test
