// SPDX-License-Identifier: Apache-2.0
// Passes and tables of transforms, for elements of WEFT_FIELD_WORDS words. NAME names the functions that
// launch them.
#include <algorithm>

#include "ops_cuda/field/field_element.cuh"
#include "ops_cuda/ntt/ntt_launch.hpp"
#include "shaders/ntt/ntt_arithmetic.h"
#include "shaders/ntt/ntt_index.h"
#include "shaders/ntt/ntt_parameters.h"

namespace weft::cuda {
namespace {

using namespace shared;

#if WEFT_FIELD_WORDS == 1
using Size = Words1;
#elif WEFT_FIELD_WORDS == 2
using Size = Words2;
#elif WEFT_FIELD_WORDS == 8
using Size = Words8;
#else
using Size = Words12;
#endif
using Element = Limbs<Size>;

struct NttField {
    Element p;
    uint n0;

    __device__ __forceinline__ Element sum(const Element& x, const Element& y) const {
#if WEFT_FIELD_WORDS == 1
        return lean_add(x, y, p);
#elif WEFT_FIELD_WORDS == 2
        return goldilocks_add(x, y);
#else
        return add_mod(x, y, p);
#endif
    }
    __device__ __forceinline__ Element difference(const Element& x, const Element& y) const {
#if WEFT_FIELD_WORDS == 1
        return lean_sub(x, y, p);
#elif WEFT_FIELD_WORDS == 2
        return goldilocks_sub(x, y);
#else
        return sub_mod(x, y, p);
#endif
    }
    __device__ __forceinline__ Element product(const Element& x, const Element& y) const {
#if WEFT_FIELD_WORDS == 1
        return lean_mul(x, y, p, n0);
#elif WEFT_FIELD_WORDS == 2
        return goldilocks_mul(x, y);
#else
        return montgomery_in_64(x, y, p, n0);
#endif
    }
};

NttField field_of(const FieldConstants& constants) {
    return {limbs_from<Element>(constants.p), constants.n0};
}

struct PassArguments {
    uint count, tile_bits;  // tiles, and their size
    NttParameters p;
    NttField field;
    const void* a;
    const void* tables;
    const void* scales;
    void* result;
};

// What the bodies of both kernels use.
struct PassInterface : PassArguments {
    static constexpr uint kRadixBits = kernels::ntt_radix_bits(WEFT_FIELD_WORDS, WEFT_FIELD_WORDS > 2);

    WEFT_GPU Element load_in(uint i) const { return load<Size>(a, i); }
    WEFT_GPU void store_out(uint i, const Element& z) const { store<Size>(result, i, z); }
    WEFT_GPU Element table_at(uint i) const { return load<Size>(tables, i); }
    WEFT_GPU Element scale_at(uint i) const { return load<Size>(scales, i); }
    WEFT_GPU Element zero_element() const { return cuda::zero_element<Size>(); }
    WEFT_GPU Element sum_of(const Element& x, const Element& y) const { return field.sum(x, y); }
    WEFT_GPU Element difference_of(const Element& x, const Element& y) const {
        return field.difference(x, y);
    }
    WEFT_GPU Element product_of(const Element& x, const Element& y) const { return field.product(x, y); }
};

// The largest tiles of plans: those of 256 threads, whose elements fit 48 KiB.
constexpr uint kLargestTile = WEFT_FIELD_WORDS == 12  ? 9u
                              : WEFT_FIELD_WORDS == 8 ? 10u
                              : WEFT_FIELD_WORDS == 2 ? 11u
                                                      : 12u;

// Tiles of any size, whose passes have any number of bits.
#define WEFT_NTT_COMPACT
struct CompactPass : PassInterface {
    static constexpr uint kMostTileBits = kLargestTile, kBlocks = 1;
#define kTileBits tile_bits
#define kPassBits p.pass_bits
#define kZeroBits p.zero_bits
#define kFlags p.flags
#include "shaders/ntt/ntt_pass.glsl.h"
#undef kTileBits
#undef kPassBits
#undef kZeroBits
#undef kFlags
};
#undef WEFT_NTT_COMPACT

template <class Pass>
__global__ void __launch_bounds__(1u << (kLargestTile - Pass::kRadixBits), Pass::kBlocks)
    ntt_pass(const __grid_constant__ PassArguments arguments) {
    Pass pass{{arguments}};
    pass.run();
}

template <class Pass>
int launch(const NttLaunch& l) {
    const auto tiles = static_cast<unsigned>(std::min<std::uint64_t>(l.tiles, 0x7fffffff));
    const PassArguments arguments{static_cast<uint>(l.tiles),
                                  l.pass->tile_bits,
                                  l.parameters,
                                  field_of(*l.field),
                                  l.in,
                                  l.tables,
                                  l.scales,
                                  l.out};
    ntt_pass<Pass><<<tiles, 1u << (l.pass->tile_bits - Pass::kRadixBits), 0, l.stream>>>(arguments);
    return cudaGetLastError();
}

#if WEFT_FIELD_WORDS <= 2
// A pass over the largest tiles in registers. `allowed`: the flags that it may have; those that it lacks cost
// nothing. Blocks that share a multiprocessor are limited from below, which limits registers: waiting for
// memory needs more warps than a schedule of all loads first leaves.
template <uint rows, uint allowed>
struct LargePass : PassInterface {
    static constexpr uint kTileBits = kLargestTile, kMostTileBits = kLargestTile, kPassBits = rows,
                          kBlocks = WEFT_FIELD_WORDS == 1 ? 4 : 3,
                          kFactorRows = rows + 2 <= kTileBits ? 1u << rows : 1u;
    const uint kZeroBits = (allowed & kNttInLimited) != 0u ? p.zero_bits : 0u;
    const uint kFlags = p.flags & allowed;
#include "shaders/ntt/ntt_pass.glsl.h"
};

// Those of most passes: no coset, and nothing that is missing.
constexpr uint kPlain = kNttLoadReversed | kNttStoreReversed | kNttLoadStaged | kNttStoreStaged |
                        kNttLoadColumns | kNttStoreColumns | kNttFactors | kNttFactorsHigh | kNttFactorsTop |
                        kNttRowFactors | kNttTilesReversed | kNttBatchLimited | kNttScaleOne;
constexpr uint kAny = ~0u;
constexpr uint kFewestRows = 5;
constexpr uint kMostRows = kernels::ntt_most_pass_bits(WEFT_FIELD_WORDS) < kLargestTile
                               ? kernels::ntt_most_pass_bits(WEFT_FIELD_WORDS)
                               : kLargestTile;

template <uint rows = kFewestRows>
int launch_large(const NttLaunch& l) {
    if constexpr (rows <= kMostRows) {
        if (l.parameters.pass_bits != rows) return launch_large<rows + 1>(l);
        const bool plain = (l.parameters.flags & ~kPlain) == 0u && l.parameters.zero_bits == 0u;
        if (plain) return launch<LargePass<rows, kPlain>>(l);
        // Longer ones are rare: the first or the last pass of a short transform on a coset.
        if constexpr (rows <= 9) return launch<LargePass<rows, kAny>>(l);
    }
    return launch<CompactPass>(l);
}
#endif

// Entry i of a table is scale * base^e; see NttTable. `base` and `scale` are no grid constants: nvcc 13 drops
// changes of copies of these.
__global__ void ntt_table(const __grid_constant__ NttField field, Element base, Element scale, uint count,
                          uint row_bits, uint split, void* out) {
    const uint stride = gridDim.x * blockDim.x;
    for (uint i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        uint exponent = row_bits == 0u ? i
                                       : reversed_bits((i >> split) & low_mask(row_bits), row_bits) *
                                             (((i >> (split + row_bits)) << split) | (i & low_mask(split)));
        Element power = base, z = scale;
#pragma unroll 1
        for (; exponent != 0u; exponent >>= 1) {
            if ((exponent & 1u) != 0u) z = field.product(z, power);
            power = field.product(power, power);
        }
        store<Size>(out, i, z);
    }
}

}  // namespace

int NAME(pass)(const NttLaunch& l) {
#if WEFT_FIELD_WORDS <= 2
    if (l.pass->tile_bits == kLargestTile) return launch_large(l);
#endif
    return launch<CompactPass>(l);
}

int NAME(table)(const NttTableLaunch& l) {
    const kernels::NttTable& table = *l.table;
    auto* const out = static_cast<std::byte*>(l.out) + std::size_t{table.first} * sizeof(Element);
    const unsigned blocks = std::min((table.count + 127u) / 128u, 1u << 16);
    ntt_table<<<blocks, 128, 0, l.stream>>>(field_of(*l.field), limbs_from<Element>(table.base),
                                            limbs_from<Element>(table.scale), table.count, table.row_bits,
                                            table.split, out);
    return cudaGetLastError();
}

}  // namespace weft::cuda
