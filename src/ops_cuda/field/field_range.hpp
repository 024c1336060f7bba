// SPDX-License-Identifier: Apache-2.0
// Arrays of CUDA as the checks of field vectors and transforms take them.
#pragma once

#include <cstdint>

#include <weft/cuda/device.hpp>

#include "ops/field/field_check.hpp"

namespace weft::kernels {

/// All device memory is one buffer to the checks, which compare addresses.
inline constexpr char kCudaMemory = 0;

inline FieldRange range_of(const cuda::ConstDeviceArray& array) {
    return {array.data != nullptr ? &kCudaMemory : nullptr, reinterpret_cast<std::uintptr_t>(array.data),
            array.bytes(), array.type};
}

}  // namespace weft::kernels
