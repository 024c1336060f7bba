// SPDX-License-Identifier: Apache-2.0
// What the CUDA kernels of kernel matrices are launched with. Members have the names of
// shaders/kernel_matrix/*.comp and shaders/gram/*.comp.
#pragma once

#include <cstdint>

#include "cuda/stream_handle.hpp"

#include "shaders/gram/gram_interface.h"
#include "shaders/kernel_matrix/kernel_parameters.h"

namespace weft::cuda {

struct AnglesLaunch {
    StreamHandle stream = nullptr;
    std::uint32_t count = 0;
    shared::KernelAngleParameters p{};
    const void* features = nullptr;
    void* planes = nullptr;
};

struct ProductLaunch {
    StreamHandle stream = nullptr;
    bool rz = false, symmetric = false, long_variant = false;
    std::uint32_t count = 0;  ///< values, or tiles of a symmetric K
    std::uint64_t workgroups = 1;
    shared::KernelProductParameters p{};
    const void* planes = nullptr;
    void* values = nullptr;
};

struct StatesLaunch {
    StreamHandle stream = nullptr;
    bool generate = false, ring = false;
    std::uint32_t lanes = 256;
    std::uint32_t count = 0;
    shared::KernelStateParameters p{};
    const void *planes = nullptr, *weights = nullptr, *source = nullptr;
    void* states = nullptr;
};

struct NormsLaunch {
    StreamHandle stream = nullptr;
    bool widened = false;  ///< real64: states are complex64
    std::uint32_t count = 0;
    shared::KernelNormParameters p{};
    const void* states = nullptr;
    void* factors = nullptr;
};

struct ScaleLaunch {
    StreamHandle stream = nullptr;
    bool wide_values = false;  ///< real64: K is float64
    std::uint32_t count = 0;
    shared::KernelScaleParameters p{};
    const void* factors = nullptr;
    void* values = nullptr;
};

struct GramPackLaunch {
    StreamHandle stream = nullptr;
    bool widened = false;  ///< real64: states are complex64
    std::uint32_t count = 0;
    shared::GramPackParameters p{};
    const void* states = nullptr;
    void* planes = nullptr;
};

/// A product of packed rows. Sums of one part go to `out` and, mirrored, to `mirror`. Otherwise the parts of
/// sums go to `sums`, and launch_gram_reduce adds them up.
struct GramLaunch {
    StreamHandle stream = nullptr;
    bool wide_values = false;  ///< K is float64
    std::uint32_t tile_rows = 64, tile_columns = 64, stages = 2;
    std::uint32_t flush_blocks = 1;  ///< packed blocks between two additions to the outer sum
    std::uint32_t split = 1;         ///< parts of the sum
    std::uint32_t count = 0;
    shared::GramReduceParameters r{};
    const void *x = nullptr, *y = nullptr;
    void *out = nullptr, *mirror = nullptr, *sums = nullptr;
    const void* factors = nullptr;  ///< of rows and columns; null: K is not scaled
};
/// What all kernels that write K take.
template <class Kernel>
void set_output(Kernel& kernel, const GramLaunch& launch) {
    kernel.count = launch.count;
    kernel.kScaled = launch.factors != nullptr;
    kernel.factors = static_cast<decltype(kernel.factors)>(launch.factors);
    kernel.narrow = static_cast<float*>(launch.out);
    kernel.narrow_mirror = static_cast<float*>(launch.mirror);
    kernel.wide = static_cast<shared::uvec2*>(launch.out);
    kernel.wide_mirror = static_cast<shared::uvec2*>(launch.mirror);
}

/// Each returns the result of the launch. Arithmetic is in float (real32) or in double (real64).
int launch_kernel_angles_real32(const AnglesLaunch& launch);
int launch_kernel_angles_real64(const AnglesLaunch& launch);
int launch_kernel_product_real32(const ProductLaunch& launch);
int launch_kernel_product_real64(const ProductLaunch& launch);
int launch_kernel_states_real32(const StatesLaunch& launch);
int launch_kernel_states_real64(const StatesLaunch& launch);
int launch_kernel_norms_real32(const NormsLaunch& launch);
int launch_kernel_norms_real64(const NormsLaunch& launch);
int launch_kernel_scale_real32(const ScaleLaunch& launch);
int launch_kernel_scale_real64(const ScaleLaunch& launch);
int launch_gram_pack_real32(const GramPackLaunch& launch);
int launch_gram_pack_real64(const GramPackLaunch& launch);
int launch_gram_pack_matrix(const GramPackLaunch& launch);
int launch_gram_tile_4m(const GramLaunch& launch);
int launch_gram_tile_3m(const GramLaunch& launch);
int launch_gram_tile_real64(const GramLaunch& launch);
int launch_gram_matrix(const GramLaunch& launch);
int launch_gram_reduce_real32(const GramLaunch& launch);
int launch_gram_reduce_real64(const GramLaunch& launch);

}  // namespace weft::cuda
