// SPDX-License-Identifier: Apache-2.0
// What the kernels of transforms are launched with.
#pragma once

#include <cstdint>

#include <weft/cuda/device.hpp>

#include "ops/ntt/ntt_plan.hpp"

namespace weft::cuda {

struct NttLaunch {
    StreamHandle stream = nullptr;
    const shared::FieldConstants* field = nullptr;
    const kernels::NttPass* pass = nullptr;
    shared::NttParameters parameters{};  ///< those of the pass, with the batch of this launch
    std::uint64_t tiles = 0;
    const void* in = nullptr;
    const void* tables = nullptr;
    const void* scales = nullptr;
    void* out = nullptr;
};

struct NttTableLaunch {
    StreamHandle stream = nullptr;
    const shared::FieldConstants* field = nullptr;
    const kernels::NttTable* table = nullptr;
    void* out = nullptr;  ///< the first entry of all tables
};

/// By words of an element. Each returns the result of the launch.
int launch_ntt_pass_1(const NttLaunch& launch);
int launch_ntt_pass_2(const NttLaunch& launch);
int launch_ntt_pass_8(const NttLaunch& launch);
int launch_ntt_pass_12(const NttLaunch& launch);
int launch_ntt_table_1(const NttTableLaunch& launch);
int launch_ntt_table_2(const NttTableLaunch& launch);
int launch_ntt_table_8(const NttTableLaunch& launch);
int launch_ntt_table_12(const NttTableLaunch& launch);

}  // namespace weft::cuda
