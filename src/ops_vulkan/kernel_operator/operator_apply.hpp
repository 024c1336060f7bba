// SPDX-License-Identifier: Apache-2.0
// Records products with a kernel operator, rows of K and its diagonal.
#pragma once

#include <functional>

#include "ops_vulkan/kernel_operator/operator_object.hpp"
#include "ops_vulkan/kernel_operator/operator_states.hpp"

namespace weft::kernels {

/// Rows [first, last) of a product.
struct ApplyRows {
    std::uint64_t first = 0, last = 0;
};

/// out = a (K + lambda I) V + b out for some rows of K, with `columns` columns of V.
class ApplyCall {
  public:
    /// `symmetric`: passes may be, which needs all rows. `samples` and `options` must outlive it.
    ApplyCall(const DeviceSamples& samples, std::uint32_t columns, const KernelApplyOptions& options,
              bool symmetric);

    /// Called after a band is recorded, with its kernel values.
    using BandDone = std::function<void(std::uint64_t pairs)>;
    /// Records all bands. `v` has all rows of V, `out` the rows of the result from rows.first on.
    void record(Stream& stream, KernelMemory& memory, const ConstDeviceArray& v, const DeviceArray& out,
                const ApplyRows& rows, const BandDone& done) const;
    /// Kernel values of these rows, in all passes.
    std::uint64_t pairs(const ApplyRows& rows) const;
    const ApplySide& side() const noexcept { return side_; }
    KernelOperatorMethod method() const noexcept {
        if (plan_.states) return KernelOperatorMethod::states;
        return low_rank_ ? KernelOperatorMethod::low_rank : KernelOperatorMethod::product;
    }

  private:
    struct Arrays;
    struct BlockPlace;
    // In operator_states.cpp.
    void record_states(Stream& stream, KernelMemory& memory, const ConstDeviceArray& v,
                       const DeviceArray& out, const ApplyRows& rows, const BandDone& done) const;
    void add_block(Stream& stream, const BlockMaker& maker, const ConstDeviceArray& v, const DeviceArray& out,
                   std::uint64_t first_row, const BlockPlace& place) const;
    std::uint64_t pairs_of_states(const ApplyRows& rows) const;
    void record_low_rank(Stream& stream, KernelMemory& memory, const Arrays& arrays,
                         const BandDone& done) const;
    void gather(Stream& stream, const Arrays& arrays, std::uint32_t column, const Words& sums,
                const Words& weights) const;
    void scatter(Stream& stream, const Arrays& arrays, std::uint32_t column, const Words& weights,
                 const Words& sums) const;
    void record_pass(Stream& stream, KernelMemory& memory, const ApplyPass& pass, const Arrays& arrays,
                     const BandDone& done) const;
    void record_band(Stream& stream, const ApplyPass& pass, const OperatorBand& band, const Arrays& arrays,
                     const Words& row_sums, const Words& column_sums) const;

    const DeviceSamples& samples_;
    const OperatorPlan& plan_;
    const KernelApplyOptions& options_;
    const std::uint32_t columns_;
    const ApplySide side_;
    const bool halves_;  // passes may be symmetric
    const std::optional<LowRankPlan> low_rank_;
    const std::vector<ApplyPass> passes_;
};

/// Records rows of K; `list` is in the device's memory and has the numbers of rows.
void record_rows(Stream& stream, const DeviceSamples& samples, const Words& list, std::uint64_t rows,
                 const DeviceArray& out);
void record_diagonal(Stream& stream, const DeviceSamples& samples, const DeviceArray& out);

}  // namespace weft::kernels
