// SPDX-License-Identifier: Apache-2.0
// out[i] = 1 / a[i], or 0 for 0 mod p. `out` may be `a`. A thread inverts the product of up to kBatch
// elements as its power p - 2 and divides it into the inverse of each, which takes three products an element
// and a share of the power.
#define WEFT_FIELD_ROLLED  // several products in a row are more code than instruction caches hold
#include "ops_cuda/field/field_element.cuh"

namespace weft::cuda {
namespace {

template <class Size>
__device__ Limbs<Size> power_p_minus_2(const Arithmetic<Size>& field, const Limbs<Size>& x) {
    Limbs<Size> two = zero_element<Size>();
    two.limb[0] = 2;
    const Limbs<Size> exponent = field.sub(field.p, two);
    Limbs<Size> power = x;
    const int top = 32 * (Size::kWords - 1) + 31 - __clz(static_cast<int>(field.p.limb[Size::kWords - 1]));
    for (int bit = top - 1; bit >= 0; --bit) {
        const unsigned steps = 1 + (exponent.limb[bit / 32] >> (bit % 32) & 1);
        Limbs<Size> by = power;
        for (unsigned step = 0; step < steps; ++step, by = x) power = field.mul(power, by);
    }
    return power;
}

template <class Size>
__device__ __forceinline__ bool is_zero(const Limbs<Size>& x) {
    unsigned any = 0;
#pragma unroll
    for (int i = 0; i < Size::kWords; ++i) any |= x.limb[i];
    return any == 0;
}

// The product starts with the factor, which cancels out of each result. The power is multiplied by it once,
// as the form of the values requires.
template <class Size>
__global__ void __launch_bounds__(256) field_inverse(const __grid_constant__ Arithmetic<Size> field,
                                                     const void* a, void* out, std::uint64_t count) {
    const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
    for (std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; first < count;
         first += stride * Size::kBatch) {
        Limbs<Size> before[Size::kBatch], product = field.factor;
        unsigned taken = 0, zeros = 0;
        for (std::uint64_t i = first; taken < Size::kBatch && i < count; ++taken, i += stride) {
            before[taken] = product;
            const Limbs<Size> next = field.mul(product, load<Size>(a, i));
            if (is_zero<Size>(next))
                zeros |= 1u << taken;
            else
                product = next;
        }
        Limbs<Size> inverse = field.mul(power_p_minus_2(field, product), field.factor);
        for (unsigned k = taken; k-- > 0;) {
            const std::uint64_t i = first + k * stride;
            Limbs<Size> z = zero_element<Size>();
            if ((zeros >> k & 1) == 0) {
                z = field.mul(inverse, before[k]);
                inverse = field.mul(inverse, load<Size>(a, i));
            }
            store<Size>(out, i, z);
        }
    }
}

}  // namespace

int launch_field_inverse(const FieldLaunch& l) {
    return with_size(l, [&]<class Size>(Size) -> int {
        field_inverse<Size>
            <<<l.workgroups, l.workgroup_size, 0, l.stream>>>(arithmetic_of<Size>(l), l.a, l.out, l.elements);
        return cudaGetLastError();
    });
}

}  // namespace weft::cuda
