// SPDX-License-Identifier: Apache-2.0
// angle, phase and iqp-z. NAME names the function that launches them.
#include "ops_cuda/encode/encode_kernel.cuh"

namespace weft::cuda {
namespace {

constexpr unsigned kThreads = 256;

template <bool wide, uint method>
struct EncodeProduct {
    ENCODE_MEMBERS(kThreads);
    static constexpr uint kMethod = method;
    static constexpr bool kAlone = false;  // gains nothing here
    const Raw* values;
    uvec4* states;
    uvec2* status;
#include "shaders/encode/encode_interface.glsl.h"

#include "shaders/encode/circuit/encode_product.glsl.h"
};

template <bool wide, uint method>
int launch(const EncodeLaunch& l) {
    const auto kernel = make_kernel<EncodeProduct<wide, method>>(l);
    return launch_kernel<kThreads>(kernel, workgroups_of(l.count, l.shape.rows_per_workgroup), l);
}

}  // namespace

int NAME(product)(const EncodeLaunch& l) {
    return with_width(l, [&]<class Wide>(Wide) {
        switch (l.shape.method) {
            case kEncodeAngle:
                return launch<Wide::value, kEncodeAngle>(l);
            case kEncodePhase:
                return launch<Wide::value, kEncodePhase>(l);
            default:
                return launch<Wide::value, kEncodeIqpZ>(l);
        }
    });
}

}  // namespace weft::cuda
