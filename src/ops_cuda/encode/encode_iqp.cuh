// SPDX-License-Identifier: Apache-2.0
// iqp: direct sums of up to 6 qubits, otherwise phases and the transform of a slab. NAME names the function
// that launches them. encode_wht.cu transforms the bits above a slab.
#include "ops_cuda/encode/encode_kernel.cuh"

namespace weft::cuda {
namespace {

template <bool wide>
struct EncodeIqpDirect {
    ENCODE_MEMBERS(256);
    static constexpr uint kQubits = 0;
    const Raw* values;
    uvec4* states;
    uvec2* status;
#include "shaders/encode/encode_interface.glsl.h"

#include "shaders/encode/circuit/encode_iqp_direct.glsl.h"
};

template <bool wide, uint slab_bits>
struct EncodeIqp {
    ENCODE_MEMBERS(1u << (slab_bits - 4));
    static constexpr uint kQubits = 0, kSlabBits = slab_bits, kMostAngles = 465, kMostRows = 8;
    const Raw* values;
    uvec4* states;
    uvec2* status;
#include "shaders/encode/encode_interface.glsl.h"

#include "shaders/encode/circuit/encode_iqp.glsl.h"
#include "shaders/encode/circuit/encode_iqp_slab.glsl.h"

#include "shaders/encode/circuit/encode_iqp_plain.glsl.h"
};

template <class Kernel>
int launch(const EncodeLaunch& l) {
    const Kernel kernel = make_kernel<Kernel>(l);
    return launch_kernel<Kernel::kWorkgroupSize>(kernel, workgroups_of(l.count, l.shape.rows_per_workgroup),
                                                 l);
}

}  // namespace

int NAME(iqp)(const EncodeLaunch& l) {
    return with_width(l, [&]<class Wide>(Wide) -> int {
        constexpr bool wide = Wide::value;
        if (l.shape.direct) return launch<EncodeIqpDirect<wide>>(l);
        switch (l.shape.slab_bits) {
            case 10:
                return launch<EncodeIqp<wide, 10>>(l);
            case 11:
                return launch<EncodeIqp<wide, 11>>(l);
            case 12:
                return launch<EncodeIqp<wide, 12>>(l);
#if !defined(WEFT_REAL64)
            case 13:
                return launch<EncodeIqp<wide, 13>>(l);
#endif
            default:
                return cudaErrorInvalidValue;
        }
    });
}

}  // namespace weft::cuda
