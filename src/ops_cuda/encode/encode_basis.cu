// SPDX-License-Identifier: Apache-2.0
// basis, of values of any type.
#include "ops_cuda/encode/encode_kernel.cuh"

namespace weft::cuda {
namespace {

constexpr unsigned kThreads = 256;

template <bool wide, uint input>
struct EncodeBasis {
    ENCODE_MEMBERS(kThreads);
    static constexpr uint kInput = input;
    const uint* values;
    uvec4* states;
    uvec2* status;
#include "shaders/encode/circuit/encode_basis.glsl.h"
};

template <bool wide, uint input>
int launch(const EncodeLaunch& l) {
    const auto kernel = make_kernel<EncodeBasis<wide, input>>(l);
    // Each thread makes 8 stores.
    const std::uint64_t stores = (std::uint64_t{l.count} << l.shape.element_bits) / (wide ? 1 : 2);
    return launch_kernel<kThreads>(kernel, workgroups_of(stores, 8 * kThreads), l);
}

template <bool wide>
int launch_input(const EncodeLaunch& l) {
    if (l.shape.input == 0) return launch<wide, 0>(l);
    return l.shape.input == 1 ? launch<wide, 1>(l) : launch<wide, 2>(l);
}

}  // namespace

int launch_basis(const EncodeLaunch& l) {
    return l.shape.wide_states ? launch_input<true>(l) : launch_input<false>(l);
}

}  // namespace weft::cuda
