// SPDX-License-Identifier: Apache-2.0
// `weft kernel --mpi`, and apply, solve, predict and eigen: one K over the ranks of mpirun.
#pragma once

#include "commands/kernel/kernel_call.hpp"
#include "commands/kernel/kernel_operator.hpp"

namespace weft::tool {

/// Errors: Failure on the rank where something is wrong, with an empty text on the others; Failure with
/// Exit::usage - this build has no MPI.
void run_over_ranks(const KernelArguments& arguments);

enum class OperatorCommand { apply, solve, predict, eigen };
void run_over_ranks(const OperatorArguments& arguments, OperatorCommand command);

}  // namespace weft::tool
