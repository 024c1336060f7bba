// SPDX-License-Identifier: Apache-2.0
// States of circuits, compiled with fused multiply-adds as drivers compile the shader, because a gate has
// many of them.
#include "ops_cuda/kernel_matrix/kernel_matrix_common.cuh"

namespace weft::cuda {
namespace {

template <bool generate, bool through_ring, uint lanes>
struct KernelStates {
    KERNEL_MEMBERS(KernelStateParameters);
    static constexpr bool kGenerate = generate, kRing = through_ring;
    static constexpr uint kLanes = lanes;
    const Real* planes;
    const Real2* weights;
    const Real2* source;
    Real2* states;
#include "shaders/kernel_matrix/kernel_interface.glsl.h"

#include "shaders/kernel_matrix/kernel_states.glsl.h"
};

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

}  // namespace

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
#if !defined(WEFT_REAL64)
        case 256:
            return launch_lanes<256>(l);
#endif
        default:
            return cudaErrorInvalidValue;
    }
}

}  // namespace weft::cuda
