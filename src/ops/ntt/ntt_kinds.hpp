// SPDX-License-Identifier: Apache-2.0
// Passes of most transforms of large batches, for which a back end has code that asks for no flags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "shaders/ntt/ntt_parameters.h"

namespace weft::kernels {

struct NttKind {
    std::uint32_t rows = 0, flags = 0, zeros = 0;  ///< pass_bits, flags and zero_bits of its parameters
};

namespace ntt_flags {
using namespace shared;
constexpr std::uint32_t columns = kNttLoadColumns | kNttStoreColumns, direct = columns | kNttFactors,
                        upper = direct | kNttFactorsHigh | kNttRowFactors, top = upper | kNttFactorsTop,
                        coset = top | kNttScaleFirst, extension = coset | kNttInLimited,
                        last = kNttStoreStaged, only = last | kNttBatchLimited,
                        reorders = kNttTilesReversed | kNttStoreReversed | kNttStoreColumns,
                        reversed = kNttTilesReversed | kNttStoreReversed | kNttLoadReversed,
                        from_rows = reversed | kNttLoadStaged | (top & ~columns),
                        batch = columns | kNttBatchLimited, batch_direct = batch | kNttFactors,
                        batch_top = batch | (top & ~direct);
}  // namespace ntt_flags

constexpr NttKind kNttKinds[] = {
    {8, ntt_flags::top},
    {8, ntt_flags::upper},
    {8, ntt_flags::direct},
    {7, ntt_flags::top},
    {7, ntt_flags::upper},
    {7, ntt_flags::direct},
    {8, ntt_flags::coset},
    {8, ntt_flags::extension, 1},
    {8, ntt_flags::extension, 2},
    {8, ntt_flags::extension, 3},
    {6, ntt_flags::last},
    {7, ntt_flags::last},
    {8, ntt_flags::last},
    {9, ntt_flags::last},
    {10, ntt_flags::last},
    {11, ntt_flags::last},
    {12, ntt_flags::last},
    {11, ntt_flags::only},
    {12, ntt_flags::only},
    {7, ntt_flags::reorders},
    {8, ntt_flags::reorders},
    {8, ntt_flags::from_rows},
    {8, ntt_flags::reversed | ntt_flags::direct},
    {8, ntt_flags::reversed | ntt_flags::columns},
    {7, ntt_flags::reversed | ntt_flags::direct},
    {7, ntt_flags::reversed | ntt_flags::columns},
    {8, ntt_flags::batch_top},
    {8, ntt_flags::batch_direct},
    {8, ntt_flags::batch},
    {7, ntt_flags::batch_top},
    {7, ntt_flags::batch_direct},
    {7, ntt_flags::batch},
};

/// The number of the kind of a pass; as many as there are: none of them.
constexpr std::size_t ntt_kind(const shared::NttParameters& p) {
    std::size_t i = 0;
    while (i < std::size(kNttKinds) && (p.pass_bits != kNttKinds[i].rows || p.flags != kNttKinds[i].flags ||
                                        p.zero_bits != kNttKinds[i].zeros))
        ++i;
    return i;
}

}  // namespace weft::kernels
