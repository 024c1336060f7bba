// SPDX-License-Identifier: Apache-2.0
// The CUDA side of bench_kernel_operator, in builds that have weft::cuda.
#pragma once

#include <complex>
#include <cstdint>
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

/// The same of states, and the stored K that it is compared with.
class CudaStates {
  public:
    /// `states` are empty where a circuit makes them from `x`.
    CudaStates(const weft::KernelMatrixCircuit& circuit, const std::vector<float>& x,
               const std::vector<std::complex<float>>& states, const std::vector<float>& v,
               const weft::KernelMatrixShape& shape);
    ~CudaStates();
    double error(std::uint32_t columns) const;  ///< bound of the product
    /// Each makes its result and waits for it.
    void store() const;
    void apply() const;
    std::vector<float> result() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bench
