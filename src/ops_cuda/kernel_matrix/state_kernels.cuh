// SPDX-License-Identifier: Apache-2.0
// Angles, product states, norms and their scaling for kernel matrices.
#include "ops_cuda/kernel_matrix/kernel_matrix_common.cuh"

namespace weft::cuda {
namespace {

struct KernelAngles {
    KERNEL_MEMBERS(KernelAngleParameters);
    const uint* features;
    Real* planes;
#include "shaders/kernel_matrix/kernel_interface.glsl.h"

#include "shaders/kernel_matrix/kernel_angles.glsl.h"
};

template <bool rz, bool symmetric, bool long_variant>
struct KernelProduct {
    KERNEL_MEMBERS(KernelProductParameters);
    static constexpr bool kRz = rz, kSymmetric = symmetric, kLong = long_variant;
    bool kFours;
    const Real* planes;
    const Real4* plane_fours;
    Real* values;
    Real4* fours;
#include "shaders/kernel_matrix/kernel_interface.glsl.h"

#include "shaders/kernel_matrix/kernel_product.glsl.h"
};

#if defined(WEFT_REAL64)
template <bool widened>
#endif
struct KernelNorms {
    KERNEL_MEMBERS(KernelNormParameters);
    const Real2* states;
#if defined(WEFT_REAL64)
    static constexpr bool kWidened = widened;
    const vec2* narrow_states;
#endif
    Real* factors;
#include "shaders/kernel_matrix/kernel_interface.glsl.h"

#include "shaders/kernel_matrix/kernel_norms.glsl.h"
};

template <bool wide_values>
struct KernelScale {
    KERNEL_MEMBERS(KernelScaleParameters);
    static constexpr bool kWideValues = wide_values;
    const uint* factors;
    uint* values;
#include "shaders/kernel_matrix/kernel_interface.glsl.h"

#include "shaders/kernel_matrix/kernel_scale.glsl.h"
};

template <bool rz, bool symmetric, bool long_variant>
int launch_product(const ProductLaunch& l) {
    KernelProduct<rz, symmetric, long_variant> kernel{};
    kernel.planes = static_cast<const Real*>(l.planes);
    kernel.plane_fours = static_cast<const Real4*>(l.planes);
    kernel.values = static_cast<Real*>(l.values);
    kernel.fours = static_cast<Real4*>(l.values);
    kernel.kFours = l.p.columns % 4 == 0 && reinterpret_cast<std::uintptr_t>(l.values) % alignof(Real4) == 0;
    return launch_kernel<kThreads>(kernel, l.workgroups, l);
}
template <bool rz>
int launch_map(const ProductLaunch& l) {
#if !defined(WEFT_REAL64)
    if (l.long_variant)
        return l.symmetric ? launch_product<rz, true, true>(l) : launch_product<rz, false, true>(l);
#endif
    return l.symmetric ? launch_product<rz, true, false>(l) : launch_product<rz, false, false>(l);
}

template <class Kernel>
int launch_norms(const NormsLaunch& l) {
    Kernel kernel{};
    kernel.states = static_cast<const Real2*>(l.states);
#if defined(WEFT_REAL64)
    kernel.narrow_states = static_cast<const vec2*>(l.states);
#endif
    kernel.factors = static_cast<Real*>(l.factors);
    return launch_kernel<kThreads>(kernel, l.count, l);
}

template <bool wide_values>
int launch_scale(const ScaleLaunch& l) {
    KernelScale<wide_values> kernel{};
    kernel.factors = static_cast<const uint*>(l.factors);
    kernel.values = static_cast<uint*>(l.values);
    return launch_kernel<kThreads>(kernel, (l.count + kThreads - 1) / kThreads, l);
}

}  // namespace

int NAME(angles)(const AnglesLaunch& l) {
    KernelAngles kernel{};
    kernel.features = static_cast<const uint*>(l.features);
    kernel.planes = static_cast<Real*>(l.planes);
    return launch_kernel<kThreads>(kernel, (l.count + kThreads - 1) / kThreads, l);
}

int NAME(product)(const ProductLaunch& l) {
    return l.rz ? launch_map<true>(l) : launch_map<false>(l);
}

int NAME(norms)(const NormsLaunch& l) {
#if defined(WEFT_REAL64)
    return l.widened ? launch_norms<KernelNorms<true>>(l) : launch_norms<KernelNorms<false>>(l);
#else
    return launch_norms<KernelNorms>(l);
#endif
}

int NAME(scale)(const ScaleLaunch& l) {
#if defined(WEFT_REAL64)
    return l.wide_values ? launch_scale<true>(l) : launch_scale<false>(l);
#else
    return launch_scale<false>(l);
#endif
}

}  // namespace weft::cuda
