// SPDX-License-Identifier: Apache-2.0
// How kernels load, store and combine elements of the four sizes.
#pragma once

#include <cuda_runtime.h>

#include "ops_cuda/field/field_launch.hpp"
#include "shaders/field/field_table.h"

namespace weft::cuda {

// As in shaders/field/field_interface.h: elements of a thread in element-wise kernels (kEach), elements that
// a thread takes at a time in reductions (kShareEach), and elements that are inverted together (kBatch).
struct Words1 {
    using Limbs = shared::Limbs1x32;
    using Part = unsigned;
    static constexpr int kWords = 1, kEach = 4, kShareEach = 8, kBatch = 8;
};
struct Words2 {
    using Limbs = shared::Limbs2x32;
    using Part = uint2;
    static constexpr int kWords = 2, kEach = 2, kShareEach = 4, kBatch = 32;
};
struct Words8 {
    using Limbs = shared::Limbs8x32;
    using Part = uint4;
    static constexpr int kWords = 8, kEach = 1, kShareEach = 2, kBatch = 32;
};
struct Words12 {
    using Limbs = shared::Limbs12x32;
    using Part = uint4;
    static constexpr int kWords = 12, kEach = 1, kShareEach = 2, kBatch = 32;
};

template <class Size>
using Limbs = typename Size::Limbs;

// Loads and stores with accesses as wide as an element allows.
template <class Size>
__device__ __forceinline__ Limbs<Size> load(const void* array, std::uint64_t i) {
    using Part = typename Size::Part;
    constexpr int kParts = sizeof(Limbs<Size>) / sizeof(Part);
    union {
        Part part[kParts];
        Limbs<Size> limbs;
    } element;
    const Part* from = static_cast<const Part*>(array) + i * kParts;
#pragma unroll
    for (int k = 0; k < kParts; ++k) element.part[k] = from[k];
    return element.limbs;
}

template <class Size>
__device__ __forceinline__ void store(void* array, std::uint64_t i, const Limbs<Size>& limbs) {
    using Part = typename Size::Part;
    constexpr int kParts = sizeof(Limbs<Size>) / sizeof(Part);
    union {
        Part part[kParts];
        Limbs<Size> limbs;
    } element{};
    element.limbs = limbs;
    Part* to = static_cast<Part*>(array) + i * kParts;
#pragma unroll
    for (int k = 0; k < kParts; ++k) to[k] = element.part[k];
}

// A field that kernels take by value.
template <class Size>
struct Arithmetic {
    Limbs<Size> p, factor;
    unsigned n0, passes;

    __device__ __forceinline__ Limbs<Size> add(const Limbs<Size>& x, const Limbs<Size>& y) const {
        return add_mod(x, y, p);
    }
    __device__ __forceinline__ Limbs<Size> sub(const Limbs<Size>& x, const Limbs<Size>& y) const {
        return sub_mod(x, y, p);
    }
    __device__ __forceinline__ Limbs<Size> mul(const Limbs<Size>& x, const Limbs<Size>& y) const {
        if constexpr (Size::kWords == 1)
            return montgomery_in_pairs(x, y, p, n0);
        else
            return montgomery_in_64(x, y, p, n0);
    }
};

template <class Size>
Arithmetic<Size> arithmetic_of(const FieldLaunch& launch) {
    Arithmetic<Size> field{};
    field.p = shared::limbs_from<Limbs<Size>>(launch.field->p);
    if (launch.factor != nullptr) field.factor = shared::limbs_from<Limbs<Size>>(*launch.factor);
    field.n0 = launch.field->n0;
    field.passes = launch.passes;
    return field;
}

template <class Size>
__device__ __forceinline__ Limbs<Size> zero_element() {
    Limbs<Size> z;
#pragma unroll
    for (int i = 0; i < Size::kWords; ++i) z.limb[i] = 0;
    return z;
}

// Calls body with the size of the elements of the field.
template <class Body>
int with_size(const FieldLaunch& launch, const Body& body) {
    switch (launch.field->words) {
        case 1:
            return body(Words1{});
        case 2:
            return body(Words2{});
        case 8:
            return body(Words8{});
        default:
            return body(Words12{});
    }
}

}  // namespace weft::cuda
