// SPDX-License-Identifier: Apache-2.0
// What the ranks of a call mean for its vectors. Pure.
#pragma once

#include <cstdint>
#include <span>

#include <weft/ops/kernel_ranks.hpp>

namespace weft::kernels {

/// Errors: invalid_argument - a rank that the ranks do not have, a function that is missing.
void check_ranks(const char* function, const KernelRanks& ranks);

/// step() on all ranks; alone if there is one rank.
template <class Step>
void together(const KernelRanks& ranks, const Step& step) {
    if (ranks.size > 1)
        ranks.together(step);
    else
        step();
}
/// Adds up over the ranks.
inline void sum(const KernelRanks& ranks, std::span<double> numbers) {
    if (ranks.size > 1) ranks.sum(numbers);
}
/// Completes an array with `samples` rows, of which each rank has its own.
void gather_rows(const KernelRanks& ranks, std::uint64_t samples, std::span<std::byte> all);

}  // namespace weft::kernels
