// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <optional>

#include <weft/cuda/kernel_matrix.hpp>
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

struct CudaStates::Impl {
    Impl(const weft::KernelMatrixCircuit& of, const std::vector<float>& features,
         const std::vector<std::complex<float>>& states, const std::vector<float>& v,
         const weft::KernelMatrixShape& rows)
        : circuit(of), shape(rows), in(v), out(v.size()), stored(rows.values()) {
        if (states.empty()) {
            x.emplace(features);
            k.emplace(nullptr, circuit, x->span(), shape);
        } else {
            given.emplace(states);
            k.emplace(nullptr, given->span(), shape);
        }
    }
    const weft::KernelMatrixCircuit& circuit;
    const weft::KernelMatrixShape shape;
    CudaArray<float> in, out, stored;
    std::optional<CudaArray<float>> x;
    std::optional<CudaArray<std::complex<float>>> given;
    std::optional<weft::cuda::KernelOperator> k;
};

CudaStates::CudaStates(const weft::KernelMatrixCircuit& circuit, const std::vector<float>& x,
                       const std::vector<std::complex<float>>& states, const std::vector<float>& v,
                       const weft::KernelMatrixShape& shape)
    : impl_(std::make_unique<Impl>(circuit, x, states, v, shape)) {}
CudaStates::~CudaStates() = default;

double CudaStates::error(std::uint32_t columns) const {
    return impl_->k->estimate(columns).error;
}
void CudaStates::store() const {
    if (impl_->given)
        weft::cuda::kernel_matrix(nullptr, impl_->given->span(), impl_->stored.span(), impl_->shape);
    else
        weft::cuda::kernel_matrix(nullptr, impl_->circuit, impl_->x->span(), impl_->stored.span(),
                                  impl_->shape);
    cuda_check(cudaStreamSynchronize(nullptr));
}
void CudaStates::apply() const {
    weft::cuda::kernel_apply(nullptr, *impl_->k, impl_->in.span(), impl_->out.span());
    cuda_check(cudaStreamSynchronize(nullptr));
}
std::vector<float> CudaStates::result() const {
    return impl_->out.download();
}

}  // namespace bench
