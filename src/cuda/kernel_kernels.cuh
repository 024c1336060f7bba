// SPDX-License-Identifier: Apache-2.0
// Angles, product states, circuit states, norms and their scaling for kernel matrices. Compiled in float and,
// with WEFT_WORK64, in double; NAME(x) is the name to give to what launches x.
#include <cuda_runtime.h>

#include <algorithm>
#include <type_traits>

#include "cuda/kernel_launch.hpp"
#include "cuda/vectors.cuh"

#if defined(WEFT_WORK64)
#define WEFT_FLOAT64
#define Real double
#define Real2 dvec2
#else
#define Real float
#define Real2 vec2
#endif
#define WEFT_IN64
#include "shared/encode_parameters.h"
#include "shared/encode_trig.h"
#include "shared/kernel_angle.h"
#include "shared/kernel_parameters.h"
#include "shared/kernel_ring.h"

namespace weft::cuda {
namespace {

using namespace shared;

constexpr unsigned kThreads = 128;

// Constants that encode_form.h asks for: no amplitude is stored here.
#define KERNEL_MEMBERS(Parameters)                   \
    static constexpr bool kStoreWide = false;        \
    static constexpr unsigned kGroupSize = kThreads; \
    uint count, first;                               \
    Parameters p

struct KernelAngles {
    KERNEL_MEMBERS(KernelAngleParameters);
    const uint* features;
    Real* planes;
#include "shared/kernel_form.h"

#include "shared/kernel_angles.h"
};

template <uint parts, bool symmetric, bool long_form>
struct KernelProduct {
    KERNEL_MEMBERS(KernelProductParameters);
    static constexpr uint kParts = parts;
    static constexpr bool kSymmetric = symmetric, kLong = long_form;
    const Real* planes;
    Real* values;
#include "shared/kernel_form.h"

#include "shared/kernel_product.h"
};

template <bool generate, bool through_ring, uint lanes>
struct KernelStates {
    KERNEL_MEMBERS(KernelStateParameters);
    static constexpr bool kGenerate = generate, kRing = through_ring;
    static constexpr uint kLanes = lanes;
    const Real* planes;
    const Real2* weights;
    const Real2* source;
    Real2* states;
#include "shared/kernel_form.h"

#include "shared/kernel_states.h"
};

struct KernelNorms {
    KERNEL_MEMBERS(KernelNormParameters);
    const Real2* states;
    Real* factors;
#include "shared/kernel_form.h"

#include "shared/kernel_norms.h"
};

template <bool wide_values, bool wide_factors>
struct KernelScale {
    KERNEL_MEMBERS(KernelScaleParameters);
    static constexpr bool kWideValues = wide_values, kWideFactors = wide_factors;
    const uint* factors;
    uint* values;
#include "shared/kernel_form.h"

#include "shared/kernel_scale.h"
};

template <class Kernel, unsigned threads>
__global__ void __launch_bounds__(threads) kernel_kernel(const __grid_constant__ Kernel constants) {
    Kernel kernel = constants;
    kernel.run();
}

template <unsigned threads, class Kernel, class Launch>
int launch_kernel(Kernel& kernel, std::uint64_t groups, const Launch& l) {
    kernel.count = l.count;
    kernel.first = 0;
    kernel.p = l.p;
    kernel_kernel<Kernel, threads>
        <<<static_cast<unsigned>(std::min<std::uint64_t>(groups, 0x7fffffff)), threads, 0, l.stream>>>(
            kernel);
    return cudaGetLastError();
}

template <uint parts, bool symmetric, bool long_form>
int launch_product(const ProductLaunch& l) {
    KernelProduct<parts, symmetric, long_form> kernel{};
    kernel.planes = static_cast<const Real*>(l.planes);
    kernel.values = static_cast<Real*>(l.values);
    return launch_kernel<kThreads>(kernel, l.groups, l);
}
template <uint parts>
int launch_parts(const ProductLaunch& l) {
#if !defined(WEFT_WORK64)
    if (l.long_form)
        return l.symmetric ? launch_product<parts, true, true>(l) : launch_product<parts, false, true>(l);
#endif
    return l.symmetric ? launch_product<parts, true, false>(l) : launch_product<parts, false, false>(l);
}

template <bool generate, bool ring, uint lanes>
int launch_states(const StatesLaunch& l) {
    KernelStates<generate, ring, lanes> kernel{};
    kernel.planes = static_cast<const Real*>(l.planes);
    kernel.weights = static_cast<const Real2*>(l.weights);
    kernel.source = static_cast<const Real2*>(l.source);
    kernel.states = static_cast<Real2*>(l.states);
    const std::uint64_t blocks = lanes >> (l.p.window - 4);
    return launch_kernel<lanes>(kernel, (l.count + blocks - 1) / blocks, l);
}
template <uint lanes>
int launch_lanes(const StatesLaunch& l) {
    if (l.generate) return launch_states<true, true, lanes>(l);
    return l.ring ? launch_states<false, true, lanes>(l) : launch_states<false, false, lanes>(l);
}

template <bool wide_values, bool wide_factors>
int launch_scale(const ScaleLaunch& l) {
    KernelScale<wide_values, wide_factors> kernel{};
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
    return l.parts == 3 ? launch_parts<3>(l) : launch_parts<2>(l);
}

int NAME(states)(const StatesLaunch& l) {
    switch (l.lanes) {
        case 16:
            return launch_lanes<16>(l);
        case 32:
            return launch_lanes<32>(l);
        case 64:
            return launch_lanes<64>(l);
        case 128:
            return launch_lanes<128>(l);
#if !defined(WEFT_WORK64)
        case 256:
            return launch_lanes<256>(l);
#endif
        default:
            return cudaErrorInvalidValue;
    }
}

int NAME(norms)(const NormsLaunch& l) {
    KernelNorms kernel{};
    kernel.states = static_cast<const Real2*>(l.states);
    kernel.factors = static_cast<Real*>(l.factors);
    return launch_kernel<kThreads>(kernel, l.count, l);
}

int NAME(scale)(const ScaleLaunch& l) {
#if defined(WEFT_WORK64)
    if (l.wide_values) return l.wide_factors ? launch_scale<true, true>(l) : launch_scale<true, false>(l);
    return launch_scale<false, true>(l);
#else
    return launch_scale<false, false>(l);
#endif
}

}  // namespace weft::cuda
