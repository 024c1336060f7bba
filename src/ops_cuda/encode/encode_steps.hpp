// SPDX-License-Identifier: Apache-2.0
// The launches of an encode.
#pragma once

#include <cstdint>

#include <weft/cuda/encode.hpp>

#include "ops/encode/encode_plan.hpp"

namespace weft::cuda {

/// EncodePlan::held_pairs. They are few if shared memory has room for the other pairs of more workgroups than
/// registers have room for most pairs of.
std::uint32_t held_pairs(const kernels::EncodePlan& plan, std::uint64_t multiprocessor_bytes);

/// `status` holds two words a sample. With `check_only` nothing else is written.
void encode_resident(StreamHandle stream, const kernels::EncodePlan& plan, const ConstDeviceArray& values,
                     const DeviceArray& states, std::uint32_t* status, bool check_only);

/// encode() of arguments that have been checked, for callers that have memory for `status`.
void encode_checked(StreamHandle stream, EncodeMethod method, const ConstDeviceArray& values,
                    const DeviceArray& states, const StateShape& shape, std::uint64_t features,
                    std::uint32_t* status, bool check_only);

}  // namespace weft::cuda
