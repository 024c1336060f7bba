// SPDX-License-Identifier: Apache-2.0
// amplitude, for rows that several blocks share, and for longer rows in three steps. NAME names the function
// that launches them.
#include "ops_cuda/encode/encode_kernel.cuh"

namespace weft::cuda {
namespace {

constexpr unsigned kLongThreads = 1024, kScaleThreads = 256;

template <bool wide, unsigned held_pairs>
struct EncodeAmplitudeShared {
    ENCODE_MEMBERS(kSharedThreads);
    static constexpr uint kKept = kKeptPairs, kHeld = held_pairs, kSubgroup = 32;
    const Raw* values;
    const RawPair* value_pairs;
    uvec4* states;
    uvec2* status;
    volatile uint* tasks;
    WEFT_GPU uvec4 task_quad(uint at) const { return load_volatile(tasks + 4u * at); }
    WEFT_GPU void set_task_quad(uint at, uvec4 quad) const { store_volatile(tasks + 4u * at, quad); }
#include "shaders/encode/encode_interface.glsl.h"

#define WEFT_SHUFFLES
#include "shaders/encode/amplitude/encode_amplitude_shared.glsl.h"
#undef WEFT_SHUFFLES
};

struct EncodeNormBlock {
    static constexpr bool wide = false;  // writes no amplitude
    ENCODE_MEMBERS(kLongThreads);
    const Raw* values;
    uvec4* norms;
#include "shaders/encode/encode_interface.glsl.h"

#include "shaders/encode/amplitude/encode_norm_block.glsl.h"
};

struct EncodeNormRow {
    static constexpr bool wide = false;
    ENCODE_MEMBERS(kLongThreads);
    const uvec4* norms;
    uvec4* rows;
    uvec2* status;
#include "shaders/encode/encode_interface.glsl.h"

#include "shaders/encode/amplitude/encode_norm_row.glsl.h"
};

template <bool wide>
struct EncodeScale {
    ENCODE_MEMBERS(kScaleThreads);
    const Raw* values;
    const uvec4* norms;
    uvec4* states;
#include "shaders/encode/encode_interface.glsl.h"

#include "shaders/encode/amplitude/encode_scale.glsl.h"
};

template <bool wide, unsigned held_pairs, unsigned blocks>
int launch_shared_as(const EncodeLaunch& l) {
    using Kernel = EncodeAmplitudeShared<wide, held_pairs>;
    const int result =
        cudaFuncSetAttribute(encode_kernel<Kernel, kSharedThreads, blocks>,
                             cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
    if (result != cudaSuccess) return result;
    return launch_kernel<kSharedThreads, blocks>(make_kernel<Kernel>(l),
                                                 std::uint64_t{l.count} * l.shape.workgroups_per_row, l);
}

// As many workgroups a multiprocessor as leave each of them the registers that it needs.
template <bool wide>
int launch_shared(const EncodeLaunch& l) {
#if defined(WEFT_REAL64)
    constexpr unsigned kBlocks = 5;
#else
    constexpr unsigned kBlocks = 8;
#endif
    if (l.shape.held_pairs == kFewHeld) return launch_shared_as<wide, kFewHeld, kBlocks>(l);
    return launch_shared_as<wide, kMostHeld, 3>(l);
}

template <bool wide>
int launch_scale(const EncodeLaunch& l) {
    auto kernel = make_kernel<EncodeScale<wide>>(l);
    kernel.norms = l.rows;
    return launch_kernel<kScaleThreads>(kernel, workgroups_of(l.count, kScaleThreads), l);
}

int launch_norms(const EncodeLaunch& l) {
    if (l.step == EncodeStep::norm_block) {
        auto kernel = make_kernel<EncodeNormBlock>(l);
        kernel.norms = l.norms;
        return launch_kernel<kLongThreads>(kernel, l.count, l);
    }
    auto kernel = make_kernel<EncodeNormRow>(l);
    kernel.norms = l.norms;
    kernel.rows = l.rows;
    return launch_kernel<kLongThreads>(kernel, l.count, l);
}

}  // namespace

int NAME(amplitude_long)(const EncodeLaunch& l) {
    if (l.step == EncodeStep::norm_block || l.step == EncodeStep::norm_row) return launch_norms(l);
    return with_width(l, [&]<class Wide>(Wide) {
        return l.step == EncodeStep::scale ? launch_scale<Wide::value>(l) : launch_shared<Wide::value>(l);
    });
}

}  // namespace weft::cuda
