// SPDX-License-Identifier: Apache-2.0
// `weft kernel --mpi`: one K over the ranks of mpirun.
#pragma once

#include "commands/kernel/kernel_call.hpp"

namespace weft::tool {

/// Errors: Failure on the rank where something is wrong, with an empty text on the others; Failure with
/// Exit::usage - this build has no MPI.
void run_over_ranks(const KernelArguments& arguments);

}  // namespace weft::tool
