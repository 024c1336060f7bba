// SPDX-License-Identifier: Apache-2.0
// The shaders of transforms as programs, and the tables that they read.
#pragma once

#include <vector>

#include <weft/ops/ntt.hpp>
#include <weft/program.hpp>
#include <weft/stream.hpp>

#include "ops/ntt/ntt_plan.hpp"

namespace weft::kernels {

/// The pass for the device that `stream` records for. Nothing is cached here, because the pipeline cache
/// makes this a look-up.
Program ntt_program(const Stream& stream, Field field, const NttPlan& plan, const NttPass& pass);

/// Tables that the backend keeps. Errors: as core::kept_buffer.
BufferView<const std::uint32_t> ntt_table_words(const Stream& stream, Field field, const NttPlan& plan,
                                                const std::vector<NttTable>& tables);
/// The same of plan.quick.
BufferView<const std::uint32_t> ntt_quick_words(const Stream& stream, Field field, const NttPlan& plan);

}  // namespace weft::kernels
