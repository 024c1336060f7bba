// SPDX-License-Identifier: Apache-2.0
// Sums of kernel values times V for one map: WEFT_OF_QUBIT numbers of a qubit. LAUNCH is the function that
// launches them.
#include "ops/kernel_operator/operator_shapes.hpp"
#include "ops_cuda/kernel_operator/operator_common.cuh"

namespace weft::cuda {
namespace {

#if defined(WEFT_REAL64)
constexpr bool kReal64 = true;
#else
constexpr bool kReal64 = false;
#endif
constexpr std::uint64_t kSharedBytes = 48 << 10;  // as plan_device() says

template <unsigned qubits, unsigned width, bool symmetric, bool parts>
struct OperatorApply {
    static constexpr kernels::PassNeeds kNeeds{kernels::padded_numbers(qubits, WEFT_OF_QUBIT), width,
                                               symmetric, parts, kReal64};
    static constexpr kernels::PassShape kShape =
        kernels::that_fits(kernels::gpu_shape(kNeeds), kNeeds, kSharedBytes);
    OPERATOR_MEMBERS(OperatorApplyLaunch, OperatorApplyParameters, kShape.workgroup);
    static constexpr uint kQubits = qubits, kNumbers = WEFT_OF_QUBIT, kRows = kShape.rows, kWidth = width,
                          kTile = kShape.tile, kTogether = kShape.together, kTwiceTogether = 16 / width;
    static constexpr bool kParts = parts, kSymmetric = symmetric;
    const Real4* row_samples;
    const Real4* column_samples;
    const Real* v;
    Real* sums;
    Real* other;
    WEFT_GPU void take(const OperatorApplyLaunch& l) {
        row_samples = static_cast<const Real4*>(l.row_samples);
        column_samples = static_cast<const Real4*>(l.column_samples);
        v = static_cast<const Real*>(l.v);
        sums = static_cast<Real*>(l.sums);
        other = static_cast<Real*>(l.other);
    }
#include "shaders/kernel_operator/operator_interface.glsl.h"

#include "shaders/kernel_operator/operator_apply.glsl.h"
};

template <unsigned qubits, bool symmetric, bool parts>
int launch_width(const OperatorApplyLaunch& l) {
    switch (l.width) {
        case 1:
            return launch_operator<OperatorApply<qubits, 1, symmetric, parts>>(l.count, l);
        case 4:
            return launch_operator<OperatorApply<qubits, 4, symmetric, parts>>(l.count, l);
        case 16:
            if constexpr (!symmetric)
                return launch_operator<OperatorApply<qubits, 16, symmetric, parts>>(l.count, l);
        default:
            return cudaErrorInvalidValue;
    }
}
template <unsigned qubits>
int launch_qubits(const OperatorApplyLaunch& l) {
    return l.symmetric ? launch_width<qubits, true, false>(l) : launch_width<qubits, false, false>(l);
}

}  // namespace

int LAUNCH(const OperatorApplyLaunch& l) {
    if (l.p.parts > 1)
        return l.symmetric ? cudaErrorInvalidValue
                           : launch_width<kernels::compiled_part_qubits(kReal64), false, true>(l);
    switch (l.part_qubits) {
        case 4:
            return launch_qubits<4>(l);
        case 8:
            return launch_qubits<8>(l);
        case 12:
            return launch_qubits<12>(l);
#if !defined(WEFT_REAL64)
        case 16:
            return launch_qubits<16>(l);
#endif
        default:
            return cudaErrorInvalidValue;
    }
}

}  // namespace weft::cuda
