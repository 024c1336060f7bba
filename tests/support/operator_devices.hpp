// SPDX-License-Identifier: Apache-2.0
// Devices for plans of kernel operators.
#pragma once

#include <cstdint>

#include "ops/kernel_operator/operator_plan.hpp"
#include "support/snapshots.hpp"

namespace weft_test {

inline weft::kernels::OperatorDevice operator_device(const weft::core::DeviceSnapshot& snapshot,
                                                     std::uint64_t budget) {
    weft::kernels::OperatorDevice device{snapshot.limits, snapshot.type == weft::DeviceType::cpu,
                                         snapshot.shader_float64, budget};
    device.limits.storage_buffer_offset_alignment = 64;
    return device;
}
inline weft::kernels::OperatorDevice operator_h100() {
    return operator_device(weft::test::h100(), 70 * weft::test::kGiB);
}
inline weft::kernels::OperatorDevice operator_lavapipe() {
    return operator_device(weft::test::lavapipe(), 6 * weft::test::kGiB);
}

}  // namespace weft_test
