// SPDX-License-Identifier: Apache-2.0
// What the encode kernels are launched with: one step of an encode.
#pragma once

#include <cstdint>

#include "cuda/stream_handle.hpp"
#include "ops/encode/encode_step.hpp"
#include "shaders/encode/encode_parameters.h"

namespace weft::cuda {

/// Of amplitude_shared: threads of a workgroup, pairs of values that a thread keeps, and how many of these
/// lie in registers. They are few if shared memory has room for the other pairs of many workgroups, otherwise
/// most.
inline constexpr std::uint32_t kSharedThreads = 128, kKeptPairs = 32, kFewHeld = 12, kMostHeld = 24;

using kernels::EncodeStep;

/// Of kernels::EncodePlan, whose members have the same names.
struct EncodeShape {
    bool wide_states = false;  ///< complex128
    std::uint32_t input = 0;   ///< of basis, types of values: 0 float32, 1 float64, 2 int64
    std::uint32_t method = 0;  ///< of product: shared::kEncodeAngle and the like
    bool direct = false;       ///< of iqp: the kernel is iqp_direct
    std::uint32_t local_size = 256, team_size = 1, kept_pairs = 8, held_pairs = 8;
    std::uint32_t workgroups_per_row = 1, rows_per_workgroup = 1;
    std::uint32_t slab_bits = 0, element_bits = 0;
};

/// Buffers by their names in shaders/encode. Those that a step does not use are null.
struct EncodeLaunch {
    StreamHandle stream = nullptr;
    EncodeShape shape{};
    EncodeStep step = EncodeStep::states;
    std::uint32_t count = 0;
    shared::EncodeParameters p{};
    const void* values = nullptr;
    shared::uvec4* states = nullptr;
    shared::uvec2* status = nullptr;
    shared::uvec4 *norms = nullptr, *rows = nullptr;  ///< records of blocks and of rows
    std::uint32_t* tasks = nullptr;                   ///< of amplitude_shared; zeros at the start
};

/// Each returns the result of the launch.
using LaunchEncode = int (*)(const EncodeLaunch& launch);
int launch_amplitude_in32_real32(const EncodeLaunch& launch);
int launch_amplitude_in32_real64(const EncodeLaunch& launch);
int launch_amplitude_in64_real64(const EncodeLaunch& launch);
int launch_amplitude_long_in32_real32(const EncodeLaunch& launch);
int launch_amplitude_long_in32_real64(const EncodeLaunch& launch);
int launch_amplitude_long_in64_real64(const EncodeLaunch& launch);
int launch_product_in32_real32(const EncodeLaunch& launch);
int launch_product_in32_real64(const EncodeLaunch& launch);
int launch_product_in64_real64(const EncodeLaunch& launch);
int launch_iqp_in32_real32(const EncodeLaunch& launch);
int launch_iqp_in32_real64(const EncodeLaunch& launch);
int launch_iqp_in64_real64(const EncodeLaunch& launch);
int launch_iqp_in64_real32(const EncodeLaunch& launch);
int launch_basis(const EncodeLaunch& launch);
/// Transforms `bits` bits of the index from bit `low` on, in a pass over `units` of 16 bytes.
int launch_wht(StreamHandle stream, bool wide, void* states, std::uint64_t units, std::uint32_t low,
               std::uint32_t bits);

}  // namespace weft::cuda
