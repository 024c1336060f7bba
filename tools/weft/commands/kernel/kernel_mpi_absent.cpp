// SPDX-License-Identifier: Apache-2.0
// Completes commands/kernel/kernel_mpi.hpp in a build without MPI.
#include "commands/kernel/kernel_mpi.hpp"

namespace weft::tool {

namespace {

[[noreturn]] void refuse() {
    throw Failure(Exit::usage, "--mpi: not available in this build (build weft with WEFT_MPI=ON)");
}

}  // namespace

void run_over_ranks(const KernelArguments&) {
    refuse();
}
void run_over_ranks(const OperatorArguments&, OperatorCommand) {
    refuse();
}

}  // namespace weft::tool
