// SPDX-License-Identifier: Apache-2.0
// Element-wise operations of fields. `out` may be `a` or `b`, because an element is loaded whole before it is
// stored and no pointer is declared restrict.
#include "ops_cuda/field/field_element.cuh"

namespace weft::cuda {
namespace {

template <class Size, FieldOp op>
__device__ __forceinline__ Limbs<Size> result_of(const Arithmetic<Size>& field, const Limbs<Size>& x,
                                                 const Limbs<Size>& y, const Limbs<Size>& scalar) {
    if constexpr (op == FieldOp::add) {
        return field.add(x, y);
    } else if constexpr (op == FieldOp::sub) {
        return field.sub(x, y);
    } else if constexpr (op == FieldOp::neg) {
        return neg_mod(x, field.p);
    } else if constexpr (op == FieldOp::axpy) {
        return field.add(field.mul(scalar, x), y);
    } else if constexpr (op == FieldOp::to_montgomery) {
        return field.mul(x, field.factor);
    } else {
        static_assert(op == FieldOp::mul || op == FieldOp::square);
        // Plain values take a second pass, times R^2 / R.
        Limbs<Size> z = x, by = op == FieldOp::square ? x : y;
        for (unsigned pass = 0; pass < field.passes; ++pass, by = field.factor) z = field.mul(z, by);
        return z;
    }
}

// The kEach elements of a thread lie blockDim apart. All of them are loaded before the first is stored.
template <class Size, FieldOp op>
__global__ void __launch_bounds__(256)
    field_elements(const __grid_constant__ Arithmetic<Size> field, const __grid_constant__ Limbs<Size> scalar,
                   const void* a, const void* b, void* out, std::uint64_t count) {
    constexpr bool kTwo =
        op == FieldOp::add || op == FieldOp::sub || op == FieldOp::mul || op == FieldOp::axpy;
    const std::uint64_t workgroup = std::uint64_t{blockDim.x} * Size::kEach, stride = workgroup * gridDim.x;
    for (std::uint64_t first = blockIdx.x * workgroup + threadIdx.x; first < count; first += stride) {
        Limbs<Size> x[Size::kEach], y[Size::kEach];
#pragma unroll
        for (int k = 0; k < Size::kEach; ++k) {
            const std::uint64_t i = first + k * blockDim.x;
            if (i >= count) break;
            x[k] = load<Size>(a, i);
            if constexpr (kTwo) y[k] = load<Size>(b, i);
        }
#pragma unroll
        for (int k = 0; k < Size::kEach; ++k) {
            const std::uint64_t i = first + k * blockDim.x;
            if (i < count) store<Size>(out, i, result_of<Size, op>(field, x[k], y[k], scalar));
        }
    }
}

template <class Size, FieldOp op>
int launch(const FieldLaunch& l) {
    field_elements<Size, op><<<l.workgroups, l.workgroup_size, 0, l.stream>>>(
        arithmetic_of<Size>(l), shared::limbs_from<Limbs<Size>>(l.scalar), l.a, l.b, l.out, l.elements);
    return cudaGetLastError();
}

}  // namespace

int launch_field_elements(const FieldLaunch& l) {
    return with_size(l, [&]<class Size>(Size) {
        switch (l.op) {
            case FieldOp::add:
                return launch<Size, FieldOp::add>(l);
            case FieldOp::sub:
                return launch<Size, FieldOp::sub>(l);
            case FieldOp::neg:
                return launch<Size, FieldOp::neg>(l);
            case FieldOp::mul:
                return launch<Size, FieldOp::mul>(l);
            case FieldOp::square:
                return launch<Size, FieldOp::square>(l);
            case FieldOp::axpy:
                return launch<Size, FieldOp::axpy>(l);
            case FieldOp::to_montgomery:
            case FieldOp::from_montgomery:  // the factor decides
                return launch<Size, FieldOp::to_montgomery>(l);
            case FieldOp::inverse:
            case FieldOp::sum:
            case FieldOp::inner_product:
                break;  // launched elsewhere
        }
        return static_cast<int>(cudaErrorInvalidValue);
    });
}

}  // namespace weft::cuda
