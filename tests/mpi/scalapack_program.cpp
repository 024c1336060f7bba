// SPDX-License-Identifier: Apache-2.0
// Every rank makes its part of a K, and ScaLAPACK factors it where it lies: K + 0.1 = L L^T.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <weft/mpi/block_cyclic.hpp>
#include <weft/weft.hpp>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridexit(int context);
void pdpotrf_(const char* triangle, const int* order, double* a, const int* row, const int* column,
              const int* descriptor, int* info);
}

namespace {

constexpr int kRows = 300, kQubits = 3, kBlock = 64;

/// All of a matrix on the first rank; parts of other ranks are 0.
std::vector<double> gathered(const std::vector<double>& part, const weft::mpi::BlockCyclic& layout, int rank,
                             bool lower) {
    std::vector<double> own(kRows * kRows), all(kRows * kRows);
    std::size_t at = 0;
    for (int j = 0; j < kRows; ++j)
        for (int i = 0; i < kRows; ++i)
            if (i / kBlock % layout.grid_rows == rank / layout.grid_columns &&
                j / kBlock % layout.grid_columns == rank % layout.grid_columns) {
                const double value = part[at++];
                if (!lower || i >= j) own[static_cast<std::size_t>(i * kRows + j)] = value;
            }
    MPI_Reduce(own.data(), all.data(), kRows * kRows, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return all;
}

/// The largest difference of L L^T from K.
double worst(const std::vector<double>& l, const std::vector<double>& k) {
    double most = 0;
    for (std::size_t i = 0; i < kRows; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = 0;
            for (std::size_t n = 0; n <= j; ++n) sum += l[i * kRows + n] * l[j * kRows + n];
            most = std::max(most, std::abs(sum - k[i * kRows + j]));
        }
    return most;
}

int run() {
    weft::mpi::Ranks ranks;
    weft::Backend backend(ranks.config());
    const int size = ranks.size(), rank = ranks.rank();
    const int grid_rows = size % 2 == 0 ? 2 : 1;
    const weft::mpi::BlockCyclic layout{grid_rows, size / grid_rows, kBlock};
    std::vector<double> x(kRows * kQubits);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(0.7 * static_cast<double>(i));
    const std::vector<double> weights{0.3, 0.7, -0.1, -0.2, 0.4, 0.9};
    const weft::KernelMatrixShape shape{kRows, 0, kQubits};
    std::vector<double> k(weft::mpi::local_part(layout, rank, shape).values());
    weft::mpi::kernel_matrix(ranks, backend, {.weights = weights, .reupload = true}, x, layout, k, shape,
                             weft::mpi::Triangle::lower);
    std::size_t at = 0;
    for (int j = 0; j < kRows; ++j)
        for (int i = 0; i < kRows; ++i)
            if (i / kBlock % layout.grid_rows == rank / layout.grid_columns &&
                j / kBlock % layout.grid_columns == rank % layout.grid_columns)
                k[at++] += i == j ? 0.1 : 0;
    const std::vector<double> before = gathered(k, layout, rank, true);
    int context = 0, info = -1;
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", layout.grid_rows, layout.grid_columns);
    const std::array<int, 9> descriptor = weft::mpi::scalapack_descriptor(layout, rank, shape, context);
    const int order = kRows, first = 1;
    pdpotrf_("L", &order, k.data(), &first, &first, descriptor.data(), &info);
    Cblacs_gridexit(context);
    const std::vector<double> factor = gathered(k, layout, rank, true);
    const double error = rank == 0 ? worst(factor, before) : 0;
    if (info != 0 || !(error < 1e-12)) {
        std::fprintf(stderr, "WRONG: info %d, error %g\n", info, error);
        return 1;
    }
    if (rank == 0) std::printf("DONE %d\n", size);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = 1;
    try {
        status = run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "WRONG: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return status;
}
