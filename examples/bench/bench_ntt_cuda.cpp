// SPDX-License-Identifier: Apache-2.0
#include "bench_ntt_cuda.hpp"

#include <cuda_runtime_api.h>

#include <weft/cuda/ntt.hpp>

#include "bench_race.hpp"

namespace bench {

template <class Limb>
struct NttTwin<Limb>::Impl {
    explicit Impl(const std::vector<Limb>& values) : in(values), out(values.size()) {}
    CudaArray<Limb> in, out;
};

template <class Limb>
NttTwin<Limb>::NttTwin(weft::Field field, const std::vector<Limb>& values)
    : field_(field), impl_(std::make_unique<Impl>(values)) {}
template <class Limb>
NttTwin<Limb>::~NttTwin() = default;

template <class Limb>
void NttTwin<Limb>::run(const weft::NttShape& shape, const weft::NttOptions& options, int times) const {
    for (int i = 0; i < times; ++i)
        weft::cuda::ntt(nullptr, field_, weft::NttDirection::forward, impl_->in.span(), impl_->out.span(),
                        shape, options);
    cuda_check(cudaStreamSynchronize(nullptr));
}
template <class Limb>
std::vector<Limb> NttTwin<Limb>::made() const {
    return impl_->out.download();
}

template class NttTwin<std::uint32_t>;
template class NttTwin<std::uint64_t>;

}  // namespace bench
