// SPDX-License-Identifier: Apache-2.0
// The smallest program that shows that weft::mpi brings MPI with it. It is built; mpi.ranks runs ranks.
#include <cstdio>

#include <weft/mpi/distributed.hpp>
#include <weft/weft.hpp>

int main(int argc, char** argv) try {
    MPI_Init(&argc, &argv);
    {
        const weft::mpi::Ranks ranks;
        std::printf("device of this rank: %s\n", ranks.config().device.c_str());
    }
    MPI_Finalize();
} catch (const weft::Error& e) {
    std::printf("%s\n", e.what());
    return 1;
}
