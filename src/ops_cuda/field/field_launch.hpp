// SPDX-License-Identifier: Apache-2.0
// What the field kernels are launched with.
#pragma once

#include <cstdint>

#include <weft/cuda/device.hpp>
#include <weft/ops/field.hpp>

#include "shaders/field/field_table.h"

namespace weft::cuda {

struct FieldLaunch {
    StreamHandle stream = nullptr;
    FieldOp op = FieldOp::add;
    const shared::FieldConstants* field = nullptr;
    const shared::FieldWords* factor = nullptr;  ///< as in kernels::FieldProducts; null: none
    std::uint32_t passes = 1;
    shared::FieldWords scalar{};  ///< of axpy, in Montgomery form
    const void* a = nullptr;
    const void* b = nullptr;
    void* out = nullptr;
    std::uint64_t elements = 0;
    std::uint32_t workgroups = 1, workgroup_size = 256;  ///< a reduction makes a total for each workgroup
};

/// Each launches the operation that `op` names, and returns the result of the launch.
int launch_field_elements(const FieldLaunch& launch);
int launch_field_inverse(const FieldLaunch& launch);
int launch_field_reduction(const FieldLaunch& launch);

}  // namespace weft::cuda
