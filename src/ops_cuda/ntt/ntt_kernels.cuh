// SPDX-License-Identifier: Apache-2.0
// Passes and tables of transforms, for elements of WEFT_FIELD_WORDS words. NAME names the functions that
// launch them.
#include <algorithm>

#include "ops/ntt/ntt_kinds.hpp"
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
    const void* quick;
    void* result;
    kernels::NttTurns turns;
};

// Of memory that the kernel does not change, so that loads need not wait for stores.
WEFT_GPU uvec4 quad_of(const void* array, uint i) {
    const uint4 v = __ldg(static_cast<const uint4*>(array) + i);
    return uvec4(v.x, v.y, v.z, v.w);
}
WEFT_GPU uvec2 pair_of(const void* array, uint i) {
    const uint2 v = __ldg(static_cast<const uint2*>(array) + i);
    return uvec2(v.x, v.y);
}
WEFT_GPU Element entry_of(const void* array, uint i) {
#if WEFT_FIELD_WORDS == 1
    return limbs1x32(__ldg(static_cast<const uint*>(array) + i));
#elif WEFT_FIELD_WORDS == 2
    return limbs2x32(pair_of(array, i));
#else
    return load<Size>(array, i);
#endif
}

// What the bodies of both kernels use.
struct PassInterface : PassArguments {
    static constexpr uint kRadixBits = kernels::ntt_radix_bits(WEFT_FIELD_WORDS, WEFT_FIELD_WORDS > 2);

    WEFT_GPU Element load_in(uint i) const { return load<Size>(a, i); }
    WEFT_GPU void store_out(uint i, const Element& z) const { store<Size>(result, i, z); }
    WEFT_GPU Element table_at(uint i) const { return entry_of(tables, i); }
    WEFT_GPU Element scale_at(uint i) const { return entry_of(scales, i); }
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
#if WEFT_FIELD_WORDS == 2
    // Passes in registers leave values of p or more.
    WEFT_GPU Element load_in(uint i) const {
        return goldilocks_canonical(PassInterface::load_in(i));
    }
#endif
#define kTileBits tile_bits
#define kPassBits p.pass_bits
#define kZeroBits p.zero_bits
#define kFlags p.flags
#include "shaders/ntt/ntt_pass.glsl.h"
#undef kTileBits
#undef kPassBits
#undef kZeroBits
#undef kFlags
#undef Kept
#undef kept_of
#undef kept_sum
#undef kept_difference
#undef kept_product
#undef kept_settled
#undef kept_turn
#undef kept_quick
#undef canonical_of
#undef pass_product
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
                                  l.quick,
                                  l.out,
                                  *l.turns};
    ntt_pass<Pass><<<tiles, 1u << (l.pass->tile_bits - Pass::kRadixBits), 0, l.stream>>>(arguments);
    return cudaGetLastError();
}

#if WEFT_FIELD_WORDS <= 2
#if WEFT_FIELD_WORDS == 1
#define Kept Element
#define kept_of(x) (x)
#define kept_sum sum_of
#define kept_difference difference_of
#define kept_product product_of
#define kept_settled(x) (x)
#define kept_turn(x, level, power)                            \
    lean_scale(x, turns.turn[((power) << (3 - (level))) - 1], \
               turns.quotient[((power) << (3 - (level))) - 1], field.p)
#define kept_quick(a, q) lean_scale(a, (q).x, (q).y, field.p)
#define canonical_of(x) (x)
#define pass_product product_of
#define quick_at(table, i, n) pair_of(quick, (table) + (i))
#define modulus() field.p
#define kN0 field.n0
#else
#define Kept SpreadGoldilocks
#define kept_of spread_of
#define kept_sum spread_add
#define kept_difference spread_sub
#define kept_product(x, y) goldilocks_lazy_mul(settled(wide_of(x)), y)
#define kept_settled(x) settled(wide_of(x))
#define kept_turn(x, level, power) spread_turn(x, (uint((power) << (3 - (level))) * kRoot16) & 15u)
#define kept_quick quick_mul
#define canonical_of goldilocks_canonical
#define pass_product goldilocks_lazy_mul
#define quick_at(table, i, n) \
    quick_of(quad_of(quick, 2u * (table) + (i)), quad_of(quick, 2u * (table) + (n) + (i)))
#endif

// A pass over the largest tiles in registers. Its flags are constants, because code that asks for them takes
// several times as long. Blocks that share a multiprocessor are limited from below, which limits registers:
// waiting for memory needs more warps than a schedule of all loads first leaves.
template <kernels::NttKind kind, uint root16>
struct LargePass : PassInterface {
    static constexpr uint kTileBits = kLargestTile, kMostTileBits = kLargestTile, kPassBits = kind.rows,
                          kFlags = kind.flags, kZeroBits = kind.zeros, kRoot16 = root16,
                          kBlocks = WEFT_FIELD_WORDS == 1 ? 5 : 6,
                          kFactorRows = (kFlags & kNttRowFactors) != 0u ? 1u << kPassBits : 1u;
#include "shaders/ntt/ntt_pass.glsl.h"
};

// `root16`: turns.power of the default roots or of their inverses, where it is part of the code.
template <uint root16, std::size_t i = 0>
int launch_large(const NttLaunch& l, std::size_t kind) {
    if constexpr (i < std::size(kernels::kNttKinds)) {
        if constexpr (kernels::kNttKinds[i].rows <= kLargestTile)
            if (kind == i) return launch<LargePass<kernels::kNttKinds[i], root16>>(l);
        return launch_large<root16, i + 1>(l, kind);
    }
    return launch<CompactPass>(l);
}
#endif

#if WEFT_FIELD_WORDS == 1
__device__ void store_quick(const NttField& field, uint, uint i, const Element& z, void* out) {
    static_cast<uvec2*>(out)[i] = quick_of_montgomery(z, field.p, field.n0);
}
#elif WEFT_FIELD_WORDS == 2
__device__ void store_quick(const NttField&, uint count, uint i, const Element& z, void* out) {
    const QuickGoldilocks q = quick_of_montgomery(z);
    static_cast<uvec4*>(out)[i] = uvec4(uint(q.low[0]), uint(q.low[1]), uint(q.low[2]), uint(q.low[3]));
    static_cast<uvec4*>(out)[count + i] =
        uvec4(uint(q.high[0]), uint(q.high[1]), uint(q.high[2]), uint(q.high[3]));
}
#else
__device__ void store_quick(const NttField&, uint, uint, const Element&, void*) {}  // plans have none
#endif

// Entry i of a table is scale * base^e; see NttTable. `base` and `scale` are no grid constants: nvcc 13 drops
// changes of copies of these.
__global__ void ntt_table(const __grid_constant__ NttField field, Element base, Element scale, uint count,
                          uint row_bits, uint split, bool quick, void* out) {
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
        if (quick)
            store_quick(field, count, i, z, out);
        else
            store<Size>(out, i, z);
    }
}

}  // namespace

int NAME(pass)(const NttLaunch& l) {
#if WEFT_FIELD_WORDS <= 2
    if (l.quick != nullptr && l.pass->tile_bits == kLargestTile) {
        const std::size_t kind = kernels::ntt_kind(l.parameters);
#if WEFT_FIELD_WORDS == 1
        return launch_large<0>(l, kind);
#else
        if (l.turns->power == 13) return launch_large<13>(l, kind);
        if (l.turns->power == 3) return launch_large<3>(l, kind);
#endif
    }
#endif
    return launch<CompactPass>(l);
}

int NAME(table)(const NttTableLaunch& l) {
    const kernels::NttTable& table = *l.table;
    auto* const out = static_cast<std::byte*>(l.out) +
                      std::size_t{table.first} *
                          (l.quick ? 4 * kernels::ntt_quick_words(WEFT_FIELD_WORDS) : sizeof(Element));
    const unsigned blocks = std::min((table.count + 127u) / 128u, 1u << 16);
    ntt_table<<<blocks, 128, 0, l.stream>>>(field_of(*l.field), limbs_from<Element>(table.base),
                                            limbs_from<Element>(table.scale), table.count, table.row_bits,
                                            table.split, l.quick, out);
    return cudaGetLastError();
}

}  // namespace weft::cuda
