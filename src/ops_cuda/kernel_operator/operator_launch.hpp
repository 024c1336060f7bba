// SPDX-License-Identifier: Apache-2.0
// What the CUDA kernels of kernel operators are launched with. Members have the names of
// shaders/kernel_operator/*.comp.
#pragma once

#include <cstdint>

#include "cuda/stream_handle.hpp"

#include "shaders/kernel_operator/operator_parameters.h"

namespace weft::cuda {

struct OperatorBlochLaunch {
    StreamHandle stream = nullptr;
    std::uint32_t count = 0;
    shared::OperatorBlochParameters p{};
    const void* features = nullptr;
    void* numbers = nullptr;
};

/// The shape of a pass, which must be one of src/ops/kernel_operator/operator_shapes.hpp.
struct OperatorApplyLaunch {
    StreamHandle stream = nullptr;
    std::uint32_t part_qubits = 4, width = 1;
    bool symmetric = false;
    std::uint32_t count = 0;  ///< workgroups
    shared::OperatorApplyParameters p{};
    const void *row_samples = nullptr, *column_samples = nullptr, *v = nullptr;
    void *sums = nullptr, *other = nullptr;
};

struct OperatorSumLaunch {
    StreamHandle stream = nullptr;
    std::uint32_t count = 0;
    shared::OperatorSumParameters p{};
    const void *terms = nullptr, *v = nullptr;
    void* result = nullptr;
};

struct OperatorTotalLaunch {
    StreamHandle stream = nullptr;
    std::uint32_t count = 0;
    shared::OperatorTotalParameters p{};
    const void *terms = nullptr, *units = nullptr;
    void* totals = nullptr;
};

/// A block of K times `width` columns of V, 1, 2, 4, 8 or 16; or its diagonal.
struct OperatorBlockLaunch {
    StreamHandle stream = nullptr;
    std::uint32_t width = 1;
    bool diagonal = false;
    std::uint32_t count = 0;  ///< workgroups, or values of the diagonal
    shared::OperatorBlockParameters p{};
    const void *block = nullptr, *v = nullptr;
    void* result = nullptr;
};

struct OperatorFeatureLaunch {
    StreamHandle stream = nullptr;
    std::uint32_t count = 0;  ///< workgroups
    shared::OperatorFeatureParameters p{};
    const void* samples = nullptr;
    const void* in = nullptr;  ///< V (gather), or weights (scatter)
    void* sums = nullptr;
};

struct OperatorRowsLaunch {
    enum Values {
        of_rows,      ///< all of some rows
        own_of_rows,  ///< those of their samples with themselves
        diagonal,     ///< those of all samples
    };
    StreamHandle stream = nullptr;
    Values values = of_rows;
    std::uint32_t numbers = 3;  ///< of a qubit
    std::uint32_t rows = 1;     ///< of a workgroup, as gpu_rows_shape() has them
    std::uint32_t count = 0;    ///< workgroups of all values, or own values
    shared::OperatorRowsParameters p{};
    const void *row_samples = nullptr, *column_samples = nullptr, *list = nullptr;
    void* result = nullptr;
};

/// Each returns the result of the launch. Arithmetic is in float (real32) or in double (real64).
int launch_operator_bloch_real32(const OperatorBlochLaunch& launch);
int launch_operator_bloch_real64(const OperatorBlochLaunch& launch);
int launch_operator_apply_ry_real32(const OperatorApplyLaunch& launch);
int launch_operator_apply_ry_real64(const OperatorApplyLaunch& launch);
int launch_operator_apply_ryrz_real32(const OperatorApplyLaunch& launch);
int launch_operator_apply_ryrz_real64(const OperatorApplyLaunch& launch);
int launch_operator_sum_real32(const OperatorSumLaunch& launch);
int launch_operator_sum_real64(const OperatorSumLaunch& launch);
int launch_operator_total_real32(const OperatorTotalLaunch& launch);
int launch_operator_total_real64(const OperatorTotalLaunch& launch);
int launch_operator_block_real32(const OperatorBlockLaunch& launch);
int launch_operator_block_real64(const OperatorBlockLaunch& launch);
int launch_operator_gather_real32(const OperatorFeatureLaunch& launch);
int launch_operator_gather_real64(const OperatorFeatureLaunch& launch);
int launch_operator_scatter_real32(const OperatorFeatureLaunch& launch);
int launch_operator_scatter_real64(const OperatorFeatureLaunch& launch);
int launch_operator_rows_real32(const OperatorRowsLaunch& launch);
int launch_operator_rows_real64(const OperatorRowsLaunch& launch);

}  // namespace weft::cuda
