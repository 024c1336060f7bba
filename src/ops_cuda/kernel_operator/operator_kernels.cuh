// SPDX-License-Identifier: Apache-2.0
// Numbers of samples, sums of partial sums, products by way of features and with blocks of K, and rows of K.
// NAME(x) is the function that launches x.
#include "ops/kernel_operator/operator_shapes.hpp"
#include "ops_cuda/kernel_operator/operator_common.cuh"

namespace weft::cuda {
namespace {

#if defined(WEFT_REAL64)
constexpr bool kReal64 = true;
#else
constexpr bool kReal64 = false;
#endif
constexpr unsigned kThreads = 128;
constexpr unsigned kFeatureThreads = 64;

struct OperatorBloch {
    OPERATOR_MEMBERS(OperatorBlochLaunch, OperatorBlochParameters, kThreads);
    const uint* features;
    Real* numbers;
    WEFT_GPU void take(const OperatorBlochLaunch& l) {
        features = static_cast<const uint*>(l.features);
        numbers = static_cast<Real*>(l.numbers);
    }
#include "shaders/kernel_operator/operator_interface.glsl.h"

#include "shaders/kernel_operator/operator_bloch.glsl.h"
};

struct OperatorSum {
    OPERATOR_MEMBERS(OperatorSumLaunch, OperatorSumParameters, kThreads);
    const Real* terms;
    const Real* v;
    Real* result;
    WEFT_GPU void take(const OperatorSumLaunch& l) {
        terms = static_cast<const Real*>(l.terms);
        v = static_cast<const Real*>(l.v);
        result = static_cast<Real*>(l.result);
    }
#include "shaders/kernel_operator/operator_interface.glsl.h"

#include "shaders/kernel_operator/operator_sum.glsl.h"
};

struct OperatorTotal {
    OPERATOR_MEMBERS(OperatorTotalLaunch, OperatorTotalParameters, kThreads);
    const Real* terms;
    const int* units;
    uint* totals;
    WEFT_GPU void take(const OperatorTotalLaunch& l) {
        terms = static_cast<const Real*>(l.terms);
        units = static_cast<const int*>(l.units);
        totals = static_cast<uint*>(l.totals);
    }
#include "shaders/kernel_operator/operator_interface.glsl.h"

#include "shaders/kernel_operator/operator_total.glsl.h"
};

template <unsigned width, bool diagonal>
struct OperatorBlock {
    OPERATOR_MEMBERS(OperatorBlockLaunch, OperatorBlockParameters, kThreads);
    static constexpr uint kWidth = width;
    static constexpr bool kDiagonal = diagonal;
    const Real* block;
    const Real* v;
    Real* result;
    WEFT_GPU void take(const OperatorBlockLaunch& l) {
        block = static_cast<const Real*>(l.block);
        v = static_cast<const Real*>(l.v);
        result = static_cast<Real*>(l.result);
    }
#include "shaders/kernel_operator/operator_interface.glsl.h"

#include "shaders/kernel_operator/operator_block.glsl.h"
};

struct OperatorGather {
    OPERATOR_MEMBERS(OperatorFeatureLaunch, OperatorFeatureParameters, kFeatureThreads);
    const Real* samples;
    const Real* v;
    Real* sums;
    WEFT_GPU void take(const OperatorFeatureLaunch& l) {
        samples = static_cast<const Real*>(l.samples);
        v = static_cast<const Real*>(l.in);
        sums = static_cast<Real*>(l.sums);
    }
#include "shaders/kernel_operator/operator_interface.glsl.h"

#include "shaders/kernel_operator/operator_gather.glsl.h"
};

struct OperatorScatter {
    OPERATOR_MEMBERS(OperatorFeatureLaunch, OperatorFeatureParameters, kFeatureThreads);
    const Real* samples;
    const Real* weights;
    Real* sums;
    WEFT_GPU void take(const OperatorFeatureLaunch& l) {
        samples = static_cast<const Real*>(l.samples);
        weights = static_cast<const Real*>(l.in);
        sums = static_cast<Real*>(l.sums);
    }
#include "shaders/kernel_operator/operator_interface.glsl.h"

#include "shaders/kernel_operator/operator_scatter.glsl.h"
};

template <bool of_own, bool of_list, unsigned of_qubit, unsigned of_workgroup>
struct OperatorRows {
    static constexpr kernels::RowsShape kShape = kernels::gpu_rows_shape(of_workgroup, kReal64);
    OPERATOR_MEMBERS(OperatorRowsLaunch, OperatorRowsParameters, kShape.workgroup);
    static constexpr bool kOwn = of_own, kListed = of_list;
    static constexpr uint kNumbers = of_qubit, kRows = of_workgroup, kColumns = of_own ? 1 : kShape.columns;
    const Real* row_samples;
    const Real* column_samples;
    const uint* list;
    Real* result;
    WEFT_GPU void take(const OperatorRowsLaunch& l) {
        row_samples = static_cast<const Real*>(l.row_samples);
        column_samples = static_cast<const Real*>(l.column_samples);
        list = static_cast<const uint*>(l.list);
        result = static_cast<Real*>(l.result);
    }
#include "shaders/kernel_operator/operator_interface.glsl.h"

#include "shaders/kernel_operator/operator_rows.glsl.h"
};

std::uint64_t blocks_of(std::uint32_t count) {
    return (std::uint64_t{count} + kThreads - 1) / kThreads;
}

}  // namespace

int NAME(bloch)(const OperatorBlochLaunch& l) {
    return launch_operator<OperatorBloch>(blocks_of(l.count), l);
}
int NAME(sum)(const OperatorSumLaunch& l) {
    return launch_operator<OperatorSum>(blocks_of(l.count), l);
}
int NAME(total)(const OperatorTotalLaunch& l) {
    return launch_operator<OperatorTotal>(blocks_of(l.count), l);
}
int NAME(block)(const OperatorBlockLaunch& l) {
    if (l.diagonal) return launch_operator<OperatorBlock<1, true>>(blocks_of(l.count), l);
    switch (l.width) {
        case 1:
            return launch_operator<OperatorBlock<1, false>>(l.count, l);
        case 2:
            return launch_operator<OperatorBlock<2, false>>(l.count, l);
        case 4:
            return launch_operator<OperatorBlock<4, false>>(l.count, l);
        case 8:
            return launch_operator<OperatorBlock<8, false>>(l.count, l);
        case 16:
            return launch_operator<OperatorBlock<16, false>>(l.count, l);
        default:
            return cudaErrorInvalidValue;
    }
}
int NAME(gather)(const OperatorFeatureLaunch& l) {
    return launch_operator<OperatorGather>(l.count, l);
}
int NAME(scatter)(const OperatorFeatureLaunch& l) {
    return launch_operator<OperatorScatter>(l.count, l);
}
namespace {

template <unsigned numbers>
int launch_rows_of(const OperatorRowsLaunch& l) {
    constexpr unsigned kMany = kernels::gpu_rows_shape(2, kReal64).rows;
    switch (l.values) {
        case OperatorRowsLaunch::of_rows:
            return l.rows == 1 ? launch_operator<OperatorRows<false, true, numbers, 1>>(l.count, l)
                               : launch_operator<OperatorRows<false, true, numbers, kMany>>(l.count, l);
        case OperatorRowsLaunch::own_of_rows:
            return launch_operator<OperatorRows<true, true, numbers, 1>>(blocks_of(l.count), l);
        case OperatorRowsLaunch::diagonal:
            break;
    }
    return launch_operator<OperatorRows<true, false, numbers, 1>>(blocks_of(l.count), l);
}

}  // namespace

int NAME(rows)(const OperatorRowsLaunch& l) {
    return l.numbers == 2 ? launch_rows_of<2>(l) : launch_rows_of<3>(l);
}

}  // namespace weft::cuda
