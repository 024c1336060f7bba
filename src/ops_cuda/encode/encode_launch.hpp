// SPDX-License-Identifier: Apache-2.0
// What the encode kernels are launched with: one step of an encode, as
// src/ops_vulkan/encode/encode_steps.cpp records them.
#pragma once

#include <cstdint>

#include <weft/cuda/device.hpp>

#include "ops/encode/encode_schedule.hpp"

namespace weft::cuda {

/// Of amplitude_shared: threads of a workgroup, the pairs of values that each keeps, and how many of them lie
/// in registers: few, where shared memory has room for the others of many workgroups, or most.
inline constexpr std::uint32_t kSharedThreads = 128, kKeptPairs = 32, kFewHeld = 12, kMostHeld = 24;

using kernels::EncodeStep;

/// Buffers by their names in shaders/encode_*.comp; those that a step has no use for are null.
struct EncodeLaunch {
    StreamHandle stream = nullptr;
    const kernels::EncodePlan* plan = nullptr;
    EncodeStep step = EncodeStep::states;
    std::uint32_t count = 0;
    shared::EncodeParameters p{};
    const void* values = nullptr;
    shared::uvec4* states = nullptr;
    shared::uvec2* status = nullptr;
    shared::uvec4 *norms = nullptr, *rows = nullptr;  ///< records of blocks and of rows
    std::uint32_t* tasks = nullptr;                   ///< of amplitude_shared, zeros
};

/// Each returns what cudaLaunchKernel did.
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
/// A pass over `units` of 16 bytes: `bits` bits of the index from bit `low` on.
int launch_wht(StreamHandle stream, bool wide, void* states, std::uint64_t units, std::uint32_t low,
               std::uint32_t bits);

}  // namespace weft::cuda
