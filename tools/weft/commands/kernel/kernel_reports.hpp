// SPDX-License-Identifier: Apache-2.0
// What weft kernel apply, solve, predict and eigen print, as text or as JSON.
#pragma once

#include <cstdint>
#include <vector>

#include "commands/kernel/kernel_operator.hpp"

namespace weft::tool {

/// For --explain: the plan of a product with `vectors` columns.
void print_plan(const OperatorArguments& arguments, OperatorCall& call, std::uint32_t vectors,
                Target& target);
void print_report(const OperatorArguments& arguments, const char* name, const DeviceInfo& device,
                  const OperatorCall& call, const OpReport& report);
/// Also warns of a solve or of eigenvalues that did not converge.
void print_solve(const OperatorArguments& arguments, const DeviceInfo& device, const OperatorCall& call,
                 const KernelSolveReport& report);
void print_eigen(const OperatorArguments& arguments, const DeviceInfo& device, const OperatorCall& call,
                 const KernelEigenReport& report, const std::vector<double>& values);

}  // namespace weft::tool
