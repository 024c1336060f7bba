// SPDX-License-Identifier: Apache-2.0
// The checkpoint of a solve over ranks: the first rank has the file, to which the others send their rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "ops/kernel_operator/operator_ranks.hpp"
#include "ops/kernel_solve/solve_checkpoint.hpp"

namespace weft::kernels {

class RankCheckpoint {
  public:
    using Open = std::function<std::unique_ptr<SolveCheckpoint>()>;

    /// Of a solve for [samples, columns], that is kept after each `every` iterations. `open` is called on the
    /// first rank alone. All ranks call this and save(). Errors: what `open` throws. `ranks` must outlive it.
    RankCheckpoint(const KernelRanks& ranks, std::uint64_t samples, std::uint64_t columns,
                   std::uint32_t every, const Open& open);

    /// What the file had, of vectors the own rows.
    const std::optional<SolveState>& found() const noexcept { return found_; }
    /// The file is of another number of ranks. Their sums, and so their preconditioner, have other last bits,
    /// for which the directions of the file are not conjugate.
    bool of_other_ranks() const noexcept { return of_other_ranks_; }
    /// Of the sums of the preconditioner: as many as where the solve began.
    std::uint32_t threads() const noexcept { return threads_; }
    bool due(std::uint32_t iterations) const noexcept {
        return iterations != saved_ && iterations % every_ == 0;
    }
    std::uint32_t saved() const noexcept { return saved_; }  ///< iterations of the file
    /// `state` has the own rows. Errors: io.
    void save(SolveState state);

  private:
    void share_found();

    const KernelRanks& ranks_;
    const std::uint64_t samples_, columns_;
    const KernelRankRows own_;
    const std::uint32_t every_;
    std::unique_ptr<SolveCheckpoint> file_;  // of the first rank
    std::optional<SolveState> found_;
    bool of_other_ranks_ = false;
    std::uint32_t threads_ = 0, saved_ = 0;
};

}  // namespace weft::kernels
