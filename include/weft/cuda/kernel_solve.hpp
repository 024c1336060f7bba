// SPDX-License-Identifier: Apache-2.0
// Models over quantum kernels that are never stored, by CUDA: <weft/ops/kernel_solve.hpp> without a Backend.
// Target weft::cuda.
//
// Example:
//     const std::vector<float> x(5000 * 8, 0.5f), y(5000, 1.0f);
//     std::vector<float> alpha(5000);
//     const weft::cuda::KernelOperator k({}, x, {.samples = 5000, .qubits = 8});
//     const weft::KernelSolveReport report = weft::cuda::kernel_solve(k, y, alpha, {.lambda = 1e-3});
//     std::printf("residual %.1e after %u iterations\n", report.residual(), report.iterations);
#pragma once

#include <cstdint>
#include <vector>

#include <weft/cuda/kernel_operator.hpp>
#include <weft/ops/kernel_solve.hpp>

namespace weft::cuda {

/// As the functions of the same names in weft: on the thread's current device, or shared by several. Vectors
/// and scalars are the host's, so that results differ from those of Vulkan only as the products do. A
/// checkpoint of one is refused by the other. Further errors: as cuda::KernelOperator.
KernelSolveReport kernel_solve(const KernelOperator& k, const ConstHostArray& y, const HostArray& alpha,
                               const KernelSolveOptions& options = {});
KernelSolveReport kernel_solve(Devices& devices, const KernelOperator& k, const ConstHostArray& y,
                               const HostArray& alpha, const KernelSolveOptions& options = {});

KernelEigenReport kernel_eigen(const KernelOperator& k, const HostArray& values, const HostArray& vectors,
                               const KernelEigenOptions& options = {});
KernelEigenReport kernel_eigen(Devices& devices, const KernelOperator& k, const HostArray& values,
                               const HostArray& vectors, const KernelEigenOptions& options = {});

OpReport kernel_predict(const KernelMatrixCircuit& circuit, const ConstHostArray& x_new,
                        const ConstHostArray& x, const ConstHostArray& alpha, const HostArray& out,
                        const KernelMatrixShape& shape, const BatchOptions& batch = {});
OpReport kernel_predict(const ConstHostArray& states_new, const ConstHostArray& states,
                        const ConstHostArray& alpha, const HostArray& out, const KernelMatrixShape& shape,
                        const BatchOptions& batch = {});

std::vector<std::uint32_t> kernel_landmarks(const KernelOperator& k, std::uint32_t count,
                                            const KernelLandmarkOptions& options = {});
void kernel_inverse_root(const KernelOperator& k, const HostArray& out);
OpReport kernel_features(const KernelOperator& k, const ConstHostArray& root, const HostArray& out,
                         const BatchOptions& batch = {});

}  // namespace weft::cuda
