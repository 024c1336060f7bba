// SPDX-License-Identifier: Apache-2.0
// Rows of K on their way to host memory, part by part, so that neither the device nor a copy has to hold all
// of them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/kernel_operator/operator_plan.hpp"

namespace weft::kernels {

class RowParts {
  public:
    /// `rows` must outlive it.
    RowParts(const OperatorPlan& plan, const std::vector<std::uint32_t>& rows);
    std::size_t count() const noexcept { return (rows_.size() + together_ - 1) / together_; }
    /// The rows of a part. Those of states are in ascending order, because neighbours are made together.
    std::vector<std::uint32_t> rows(std::size_t part) const;
    /// Where these go: in `out`, which has all rows, or in `kept`, from where put() moves them to their
    /// places.
    HostArray target(std::size_t part, const HostArray& out, std::vector<std::byte>& kept) const;
    void put(std::size_t part, const HostArray& out, const std::vector<std::byte>& kept) const;
    std::size_t kept_bytes() const noexcept { return places_.empty() ? 0 : together_ * row_bytes_; }

  private:
    std::size_t rows_of(std::size_t part) const noexcept;
    const std::vector<std::uint32_t>& rows_;
    std::uint64_t columns_;
    std::size_t row_bytes_, together_;
    std::vector<std::size_t> places_;  // in `rows`, by the rows; none: as they are
};

}  // namespace weft::kernels
