// SPDX-License-Identifier: Apache-2.0
// What weft kernel apply, solve, predict and eigen share with the same commands over ranks.
#pragma once

#include <vector>

#include "commands/kernel/kernel_operator.hpp"

namespace weft::tool {

KernelSolveOptions solve_options(const OperatorArguments& arguments);
KernelEigenOptions eigen_options(const OperatorArguments& arguments);
/// Errors: Failure with Exit::usage - more eigenvalues than rows.
void require_values(const OperatorArguments& arguments, const OperatorCall& call);

void print_report(const OperatorArguments& arguments, const char* name, const DeviceInfo& device,
                  const OperatorCall& call, const OpReport& report);
/// Also warns of a solve or of eigenvalues that did not converge.
void print_solve(const OperatorArguments& arguments, const DeviceInfo& device, const OperatorCall& call,
                 const KernelSolveReport& report);
/// Of a solve that has converged, and whose result has been written.
void remove_checkpoint(const OperatorArguments& arguments, const KernelSolveReport& report);
void print_eigen(const OperatorArguments& arguments, const DeviceInfo& device, const OperatorCall& call,
                 const KernelEigenReport& report, const std::vector<double>& values);

}  // namespace weft::tool
