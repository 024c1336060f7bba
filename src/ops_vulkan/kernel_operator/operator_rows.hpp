// SPDX-License-Identifier: Apache-2.0
// Rows of K and its diagonal.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/kernel_operator/operator_call.hpp"
#include "ops_vulkan/kernel_operator/operator_object.hpp"

namespace weft::kernels {

/// Records rows of K, band by band; `done` is called after each one.
void record_rows(Stream& stream, const DeviceSamples& samples, const std::vector<std::uint32_t>& rows,
                 const DeviceArray& out, const PairsDone& done);
void record_diagonal(Stream& stream, const DeviceSamples& samples, const DeviceArray& out,
                     const PairsDone& done);

/// The same in host memory, without checks of `rows` and of the size of `out`.
OpReport rows_in_host_memory(Backend& backend, const DeviceSamples& samples,
                             const std::vector<std::uint32_t>& rows, const HostArray& out,
                             const BatchOptions& batch);
OpReport diagonal_in_host_memory(Backend& backend, const DeviceSamples& samples, const HostArray& out,
                                 const BatchOptions& batch);

}  // namespace weft::kernels
