// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_operator/operator_ranks.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <weft/error.hpp>

#include "base/refusal.hpp"

namespace weft {
namespace {

void check_rank(const char* function, std::uint32_t rank, std::uint32_t size) {
    if (rank >= size)
        core::refuse(function, "no such rank (got " + std::to_string(rank) + " of " + std::to_string(size) +
                                   ", need a rank below the number of ranks)");
}

}  // namespace

KernelRankRows kernel_rank_rows(std::uint64_t rows, std::uint32_t rank, std::uint32_t size) {
    check_rank("kernel_rank_rows", rank, size);
    // Ranges of the numbers of samples begin at multiples of the alignment of devices.
    constexpr std::uint64_t kUnit = 64;
    const std::uint64_t units = (rows + kUnit - 1) / kUnit;
    const auto begin = [&](std::uint64_t of) {
        return std::min(rows, (units / size * of + std::min(of, units % size)) * kUnit);
    };
    return {begin(rank), begin(std::uint64_t{rank} + 1)};
}

namespace kernels {

void check_ranks(const char* function, const KernelRanks& ranks) {
    check_rank(function, ranks.rank, ranks.size);
    if (ranks.size > 1 && (!ranks.sum || !ranks.gather || !ranks.together))
        core::refuse(function, "KernelRanks: a function is missing (need sum, gather and together for " +
                                   std::to_string(ranks.size) + " ranks)");
}

void gather_rows(const KernelRanks& ranks, std::uint64_t samples, std::span<std::byte> all) {
    if (ranks.size == 1) return;
    std::vector<std::uint64_t> bytes(ranks.size);
    for (std::uint32_t rank = 0; rank < ranks.size; ++rank) {
        const KernelRankRows rows = kernel_rank_rows(samples, rank, ranks.size);
        bytes[rank] = (rows.last - rows.first) * (all.size() / samples);
    }
    ranks.gather(all, bytes);
}

}  // namespace kernels
}  // namespace weft
