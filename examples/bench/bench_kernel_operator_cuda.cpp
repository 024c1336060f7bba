// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <weft/cuda/kernel_operator.hpp>

#include "bench_kernel_operator.hpp"
#include "bench_race.hpp"

namespace bench {

struct CudaProduct::Impl {
    Impl(const weft::KernelMatrixCircuit& circuit, const std::vector<float>& features,
         const std::vector<float>& v, const weft::KernelMatrixShape& shape,
         const weft::KernelOperatorOptions& options)
        : in(v), out(v.size()), k(circuit, features, shape, options) {}
    CudaArray<float> in, out;
    weft::cuda::KernelOperator k;
};

CudaProduct::CudaProduct(const weft::KernelMatrixCircuit& circuit, const std::vector<float>& x,
                         const std::vector<float>& v, const weft::KernelMatrixShape& shape,
                         const weft::KernelOperatorOptions& options)
    : impl_(std::make_unique<Impl>(circuit, x, v, shape, options)) {}
CudaProduct::~CudaProduct() = default;

weft::KernelOperatorEstimate CudaProduct::estimate(std::uint32_t columns) const {
    return impl_->k.estimate(columns);
}
void CudaProduct::apply() const {
    weft::cuda::kernel_apply(nullptr, impl_->k, impl_->in.span(), impl_->out.span());
    cuda_check(cudaStreamSynchronize(nullptr));
}
std::vector<float> CudaProduct::result() const {
    return impl_->out.download();
}

}  // namespace bench
