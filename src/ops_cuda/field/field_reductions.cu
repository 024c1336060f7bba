// SPDX-License-Identifier: Apache-2.0
// Sums and inner products. Each block makes a total of its share, and the shares are interleaved so that all
// blocks read the arrays from front to back together. Results are exact in any order of additions.
#include "ops_cuda/field/field_element.cuh"

namespace weft::cuda {
namespace {

constexpr unsigned kMostThreads = 256;

// Columns of products and how many products they hold; see the headers of the sizes.
struct Columns1 {
    using Columns = shared::PairColumns1x32;
    static constexpr unsigned kProducts = shared::kProducts1x32, kTotal = shared::kProductsTotal1x32;
    __device__ static auto total(const Columns& sum, const shared::Limbs1x32& p, unsigned n0) {
        return shared::column_total_in_pairs(sum, p, n0);
    }
};
template <class Columns_, unsigned products, unsigned total_products>
struct WideColumns {
    using Columns = Columns_;
    static constexpr unsigned kProducts = products, kTotal = total_products;
    template <class Limbs_>
    __device__ static auto total(const Columns& sum, const Limbs_& p, unsigned n0) {
        return shared::column_total_in_64(sum, p, n0);
    }
};
using Columns2 = WideColumns<shared::Columns3x28, shared::kProducts2x32, shared::kProductsTotal2x32>;
using Columns8 = WideColumns<shared::Columns9x29, shared::kProducts8x32, shared::kProductsTotal8x32>;
using Columns12 = WideColumns<shared::Columns14x28, shared::kProducts12x32, shared::kProductsTotal12x32>;

// The sum of the totals of all threads, in the first thread.
template <class Size>
__device__ Limbs<Size> sum_of_block(const Arithmetic<Size>& field, const Limbs<Size>& total) {
    __shared__ Limbs<Size> partial[kMostThreads];
    partial[threadIdx.x] = total;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            partial[threadIdx.x] = field.add(partial[threadIdx.x], partial[threadIdx.x + half]);
    }
    return partial[threadIdx.x];
}

template <class Size>
__global__ void __launch_bounds__(kMostThreads)
    field_sum(const __grid_constant__ Arithmetic<Size> field, const void* a, void* out, std::uint64_t count) {
    const std::uint64_t row = std::uint64_t{blockDim.x} * Size::kShareEach;
    Limbs<Size> total = zero_element<Size>();
    for (std::uint64_t at = blockIdx.x * row + threadIdx.x; at < count; at += row * gridDim.x) {
        Limbs<Size> x[Size::kShareEach];
#pragma unroll
        for (int k = 0; k < Size::kShareEach; ++k) {
            const std::uint64_t i = at + k * blockDim.x;
            x[k] = zero_element<Size>();
            if (i < count) x[k] = load<Size>(a, i);
        }
#pragma unroll
        for (int k = 0; k < Size::kShareEach; ++k) total = field.add(total, x[k]);
    }
    const Limbs<Size> whole = sum_of_block(field, total);
    if (threadIdx.x == 0) store<Size>(out, blockIdx.x, whole);
}

template <class Size>
struct Pairs {
    Limbs<Size> x[Size::kShareEach], y[Size::kShareEach];
    __device__ __forceinline__ void read(const void* a, const void* b, std::uint64_t at,
                                         std::uint64_t count) {
#pragma unroll
        for (int k = 0; k < Size::kShareEach; ++k) {
            const std::uint64_t i = at + k * blockDim.x;
            x[k] = y[k] = zero_element<Size>();
            if (i < count) x[k] = load<Size>(a, i), y[k] = load<Size>(b, i);
        }
    }
};

// Products are summed without reduction for as long as their columns hold them, and the factor takes out what
// the reductions divide by. The next pairs are read while these are multiplied.
template <class Size, class Form>
__global__ void __launch_bounds__(kMostThreads)
    field_inner_product(const __grid_constant__ Arithmetic<Size> field, const void* a, const void* b,
                        void* out, std::uint64_t count) {
    const std::uint64_t row = std::uint64_t{blockDim.x} * Size::kShareEach, step = row * gridDim.x;
    Limbs<Size> total = zero_element<Size>();
    std::uint64_t at = blockIdx.x * row + threadIdx.x;
    Pairs<Size> next;
    next.read(a, b, at, count);
    while (at < count) {
        typename Form::Columns sum;
        clear_columns(sum);
        unsigned products = 0, unsettled = 0;
#pragma unroll 1
        for (; at < count && products < Form::kTotal; at += step) {
            const Pairs<Size> pairs = next;
            next.read(a, b, at + step, count);
#pragma unroll
            for (int k = 0; k < Size::kShareEach; ++k)
                add_product(sum, pairs.x[k], pairs.y[k], field.p, field.n0);
            products += Size::kShareEach;
            unsettled += Size::kShareEach;
            if (unsettled != Form::kProducts) continue;
            settle_columns(sum);
            unsettled = 0;
        }
        settle_columns(sum);
        total = field.add(total, Form::total(sum, field.p, field.n0));
    }
    const Limbs<Size> whole = sum_of_block(field, total);
    if (threadIdx.x == 0) store<Size>(out, blockIdx.x, field.mul(whole, field.factor));
}

template <class Size, class Form>
int launch(const FieldLaunch& l) {
    const Arithmetic<Size> field = arithmetic_of<Size>(l);
    if (l.op == FieldOp::sum)
        field_sum<Size><<<l.workgroups, l.workgroup_size, 0, l.stream>>>(field, l.a, l.out, l.elements);
    else
        field_inner_product<Size, Form>
            <<<l.workgroups, l.workgroup_size, 0, l.stream>>>(field, l.a, l.b, l.out, l.elements);
    return cudaGetLastError();
}

}  // namespace

int launch_field_reduction(const FieldLaunch& l) {
    switch (l.field->words) {
        case 1:
            return launch<Words1, Columns1>(l);
        case 2:
            return launch<Words2, Columns2>(l);
        case 8:
            return launch<Words8, Columns8>(l);
        default:
            return launch<Words12, Columns12>(l);
    }
}

}  // namespace weft::cuda
