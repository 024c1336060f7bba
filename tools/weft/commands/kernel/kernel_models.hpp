// SPDX-License-Identifier: Apache-2.0
// What weft kernel apply, solve, predict and eigen share with the same commands over ranks.
#pragma once

#include "commands/kernel/kernel_operator.hpp"

namespace weft::tool {

KernelSolveOptions solve_options(const OperatorArguments& arguments);
KernelEigenOptions eigen_options(const OperatorArguments& arguments);
/// Errors: Failure with Exit::usage - more eigenvalues than rows.
void require_values(const OperatorArguments& arguments, const OperatorCall& call);

/// Of a solve that has converged, and whose result has been written.
void remove_checkpoint(const OperatorArguments& arguments, const KernelSolveReport& report);

}  // namespace weft::tool
