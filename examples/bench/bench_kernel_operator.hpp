// SPDX-License-Identifier: Apache-2.0
// The CUDA side of bench_kernel_operator, in builds that have weft::cuda.
#pragma once

#include <memory>
#include <vector>

#include <weft/ops/kernel_operator.hpp>

namespace bench {

/// A resident operator of CUDA with a V and an output of its own.
class CudaProduct {
  public:
    CudaProduct(const weft::KernelMatrixCircuit& circuit, const std::vector<float>& x,
                const std::vector<float>& v, const weft::KernelMatrixShape& shape,
                const weft::KernelOperatorOptions& options);
    ~CudaProduct();
    weft::KernelOperatorEstimate estimate(std::uint32_t columns) const;
    /// Makes the product and waits for it.
    void apply() const;
    std::vector<float> result() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bench
