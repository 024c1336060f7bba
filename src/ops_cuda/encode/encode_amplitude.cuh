// SPDX-License-Identifier: Apache-2.0
// amplitude, for rows that a block or a part of a block holds. NAME names the function that launches it.
#include "ops_cuda/encode/encode_kernel.cuh"

namespace weft::cuda {
namespace {

template <bool wide, unsigned threads, unsigned kept_pairs>
struct EncodeAmplitude {
    ENCODE_MEMBERS(threads);
    static constexpr uint kKept = kept_pairs;
    uint kTeamSize;
    const Raw* values;
    const RawPair* value_pairs;
    uvec4* states;
    uvec2* status;
#define kTeam kTeamSize
#include "shaders/encode/encode_interface.glsl.h"

#include "shaders/encode/amplitude/encode_amplitude.glsl.h"
};

template <bool wide, unsigned threads, unsigned kept_pairs>
int launch(const EncodeLaunch& l) {
    using Kernel = EncodeAmplitude<wide, threads, kept_pairs>;
    Kernel kernel = make_kernel<Kernel>(l);
    kernel.kTeamSize = l.shape.team_size;
    return launch_kernel<threads>(kernel, workgroups_of(l.count, threads / l.shape.team_size), l);
}

}  // namespace

int NAME(amplitude)(const EncodeLaunch& l) {
    return with_width(l, [&]<class Wide>(Wide) {
        constexpr bool wide = Wide::value;
        if (l.shape.local_size == 1024) return launch<wide, 1024, 8>(l);
        if (l.shape.local_size == 512) return launch<wide, 512, 8>(l);
        switch (l.shape.kept_pairs) {
            case 1:
                return launch<wide, 256, 1>(l);
            case 2:
                return launch<wide, 256, 2>(l);
            case 4:
                return launch<wide, 256, 4>(l);
            default:
                return launch<wide, 256, 8>(l);
        }
    });
}

}  // namespace weft::cuda
