// SPDX-License-Identifier: Apache-2.0
// The lattice kernels of one lattice (WEFT_LATTICE) and kind of rows (WEFT_ROWS or not), each compiled once,
// without fused multiply-adds because codes are exact. LAUNCH_LATTICE is the function that launches them.
#include <cuda_runtime.h>

#include <algorithm>

#include "ops_cuda/lattice/lattice_launch.hpp"
#include "shaders/lattice/lattice_types.h"

namespace weft::cuda {
namespace {

using namespace shared;

// The constants of a kernel, of any code or of usual codes, which the compiler folds.
struct AnyCode {
    float kQ, kInverseQ;
    uint kLevels, kBits, kPerThread;
    bool kDither, kRetries;
};
template <unsigned bits>
struct Base4Code {
    static constexpr float kQ = 4, kInverseQ = 0.25f;
    static constexpr uint kLevels = 2, kBits = bits;
    static constexpr uint kPerThread = 1;
    bool kDither, kRetries;
};

#define LATTICE_MEMBERS                                                                                 \
    using Code_::kQ, Code_::kInverseQ, Code_::kLevels, Code_::kBits, Code_::kPerThread, Code_::kDither; \
    using Code_::kRetries;                                                                              \
    uint count, first;                                                                                  \
    LatticeSettings settings;                                                                           \
    LatticeLayout shape;                                                                                \
    const float* scales

template <class Code_>
struct LatticeEncode : Code_ {
    LATTICE_MEMBERS;
    const LATTICE_VALUES* values;
    uint* codes;
    uint* status;
#include "shaders/lattice/lattice_interface.glsl.h"

#include "shaders/lattice/lattice_encode.glsl.h"
};

template <class Code_>
struct LatticeDecode : Code_ {
    LATTICE_MEMBERS;
    static constexpr bool kStaged = false;  // staging makes the code of nvcc slower
    const uint* codes;
    const uint* status;
    LATTICE_VALUES* y;
#include "shaders/lattice/lattice_interface.glsl.h"

#include "shaders/lattice/lattice_decode.glsl.h"
};

template <class Code_>
struct LatticeQuantize : Code_ {
    LATTICE_MEMBERS;
    const LATTICE_VALUES* values;
    LATTICE_VALUES* y;
    uint* status;
#include "shaders/lattice/lattice_interface.glsl.h"

#include "shaders/lattice/lattice_quantize.glsl.h"
};

// The table of kernels::lattice_scales, at most 101 pairs. As an argument of the launch it needs no memory
// that would have to outlive it.
struct LatticeScales {
    float v[202];
};

template <class Kernel>
__global__ void __launch_bounds__(64) lattice_kernel(const __grid_constant__ Kernel constants) {
    Kernel kernel = constants;
    kernel.run();
}
// `kernel` is changed, so it is no grid constant: nvcc 13 drops changes of copies of these.
template <class Kernel>
__global__ void __launch_bounds__(64)
    lattice_kernel_with_scales(Kernel kernel, const __grid_constant__ LatticeScales scales) {
    kernel.scales = scales.v;
    kernel.run();
}

template <class Kernel>
int launch(const Kernel& kernel, const LatticeLaunch& l) {
    if (l.scales.empty()) {
        lattice_kernel<<<l.workgroups, l.workgroup_size, 0, l.stream>>>(kernel);
        return cudaGetLastError();
    }
    LatticeScales scales{};
    std::copy(l.scales.begin(), l.scales.end(), scales.v);
    lattice_kernel_with_scales<<<l.workgroups, l.workgroup_size, 0, l.stream>>>(kernel, scales);
    return cudaGetLastError();
}

template <class Kernel>
void set_code(Kernel& kernel, const LatticeLaunch& l) {
    kernel.kDither = l.dither;
    kernel.kRetries = l.retries;
    kernel.count = l.count;
    kernel.first = 0;
    kernel.settings = l.settings;
    kernel.shape = l.shape;
    if constexpr (requires { kernel.kQ = l.q; }) {
        kernel.kQ = l.q;
        kernel.kInverseQ = l.inverse_q;
        kernel.kLevels = l.levels;
        kernel.kBits = l.bits;
        kernel.kPerThread = l.per_thread;
    }
}

template <class Code_>
int launch_op(kernels::LatticeOp op, const LatticeLaunch& l) {
    const auto* values = static_cast<const LATTICE_VALUES*>(l.in);
    if (op == kernels::LatticeOp::encode) {
        LatticeEncode<Code_> kernel{};
        set_code(kernel, l);
        kernel.values = values;
        kernel.codes = static_cast<uint*>(l.out);
        kernel.status = l.status;
        return launch(kernel, l);
    }
    if (op == kernels::LatticeOp::decode) {
        LatticeDecode<Code_> kernel{};
        set_code(kernel, l);
        kernel.codes = static_cast<const uint*>(l.in);
        kernel.status = l.status_in;
        kernel.y = static_cast<LATTICE_VALUES*>(l.out);
        return launch(kernel, l);
    }
    LatticeQuantize<Code_> kernel{};
    set_code(kernel, l);
    kernel.values = values;
    kernel.y = static_cast<LATTICE_VALUES*>(l.out);
    kernel.status = l.status;
    return launch(kernel, l);
}

}  // namespace

int LAUNCH_LATTICE(kernels::LatticeOp op, const LatticeLaunch& l) {
#if !defined(WEFT_ROWS)
    if (l.q == 4 && l.levels == 2 && l.per_thread == 1) {
        if (l.bits == 8 || op == kernels::LatticeOp::quantize) return launch_op<Base4Code<8>>(op, l);
        if (l.bits == 2) return launch_op<Base4Code<2>>(op, l);
    }
#endif
    return launch_op<AnyCode>(op, l);
}

}  // namespace weft::cuda
