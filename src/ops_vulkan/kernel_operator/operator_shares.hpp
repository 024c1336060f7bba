// SPDX-License-Identifier: Apache-2.0
// What products that several devices share have in common, whether shares are rows or pairs.
#pragma once

#include <cstdint>
#include <optional>

#include <weft/devices.hpp>

#include "ops_vulkan/kernel_operator/operator_host.hpp"
#include "vulkan/devices/shared_call.hpp"

namespace weft::kernels {

/// Items of a share that is worth its start: `usual`, or four chunks of values of the result if their size is
/// set.
std::uint64_t least_items(Devices& devices, const BatchOptions& batch, std::uint64_t usual,
                          std::uint64_t items, std::uint64_t values);
/// Without least_items and worker. `host` must outlive it.
core::SharedCall shared_call(const OperatorPlan& plan, std::uint64_t items, std::uint64_t pairs,
                             const KernelApplyHostOptions& host);
/// Without the method.
OpReport report_of(const OpReport& shared, std::uint64_t pairs, const ConstHostArray& v,
                   const HostArray& out);
/// Counts pairs that are done. It throws if the call was stopped.
PairsDone counted(OpReport& report, core::ShareWatch& watch);

/// kernel_apply by shares of pairs; nothing: the plan is another one, or values are not finite.
std::optional<OpReport> apply_pairs(Devices& devices, const KernelOperator& k, const ConstHostArray& v,
                                    const HostArray& out, const KernelApplyHostOptions& host);

}  // namespace weft::kernels
