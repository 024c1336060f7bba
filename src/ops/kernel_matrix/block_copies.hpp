// SPDX-License-Identifier: Apache-2.0
// Copies blocks of K from page-locked memory into the caller's, on several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <weft/array.hpp>

#include "host/thread_team.hpp"
#include "ops/kernel_matrix/kernel_plan.hpp"

namespace weft::kernels {

class BlockCopies {
  public:
    /// At most `threads`, which stay on `cpus`. The plan must outlive it.
    BlockCopies(const KernelMatrixPlan& plan, const HostArray& k, std::uint32_t threads,
                core::CpuSet cpus = {})
        : plan_(plan),
          target_(static_cast<std::byte*>(k.data)),
          team_(
              static_cast<std::uint32_t>(std::min<std::uint64_t>(
                  threads, 1 + plan.states.block * plan.states.block * plan.value_bytes() / kBytesPerThread)),
              std::move(cpus)) {}

    /// Rows of `from` are plan.states.block values apart.
    void copy(const KernelBlock& block, const std::byte* from) {
        const std::uint64_t unit = plan_.value_bytes(), leading = plan_.states.block;
        constexpr std::uint64_t kPartBytes = std::uint64_t{256} << 10;
        team_.run(
            block.rows, kPartBytes / (block.columns * unit), [&](std::uint64_t first, std::uint64_t last) {
                for (std::uint64_t i = first; i < last; ++i)
                    std::memcpy(target_ + ((block.row + i) * plan_.shape.columns() + block.column) * unit,
                                from + i * leading * unit, block.columns * unit);
            });
    }

  private:
    /// Copying less takes no longer than starting a thread.
    static constexpr std::uint64_t kBytesPerThread = std::uint64_t{512} << 10;

    const KernelMatrixPlan& plan_;
    std::byte* const target_;
    ThreadTeam team_;
};

}  // namespace weft::kernels
