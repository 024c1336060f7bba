// SPDX-License-Identifier: Apache-2.0
#include "ops_cuda/kernel_matrix/kernel_device.hpp"

#include <cuda_runtime_api.h>

#include "cuda/check.hpp"
#include "cuda/plan_device.hpp"
#include "cuda/scratch.hpp"

namespace weft::cuda {

// Tensor cores keep sums as exact as the Vulkan shader of this product requires, which the conformance suite
// measures.
kernels::KernelMatrixDevice kernel_device(const char* function) {
    require_device(function);
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), function, "cudaMemGetInfo");
    kernels::KernelMatrixDevice facts;
    facts.gram.limits = plan_device().limits;
    facts.gram.float64 = facts.gram.matrix_khr = facts.gram.matrix_exact = true;
    facts.budget_bytes = free + kept_scratch_bytes(function);
    facts.packs_apart = true;
    return facts;
}

}  // namespace weft::cuda
