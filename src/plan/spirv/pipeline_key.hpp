// SPDX-License-Identifier: Apache-2.0
// Identity of a pipeline. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <weft/program.hpp>

namespace weft::core {

/// 128-bit digest of SPIR-V words, entry point, specialization constants, workgroup size and subgroup
/// options. The layout is the same for every pipeline of a device.
using PipelineKey = std::array<std::uint64_t, 2>;
PipelineKey pipeline_key(std::span<const std::uint32_t> words, const ProgramOptions& options);

}  // namespace weft::core
