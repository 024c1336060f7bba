// SPDX-License-Identifier: Apache-2.0
// Records products with a kernel operator.
#pragma once

#include <functional>

#include "ops/kernel_operator/operator_parameters.hpp"
#include "ops/kernel_operator/operator_product.hpp"
#include "ops_vulkan/kernel_operator/operator_object.hpp"
#include "ops_vulkan/kernel_operator/operator_states.hpp"

namespace weft::kernels {

/// Totals of all rows of a square K in fixed point, as operator_total.comp has them, and the exponents of
/// their units.
struct ApplyTotals {
    Words words;
    Words units;
};

/// out = a (K + lambda I) V + b out for some rows of K, with `columns` columns of V.
class ApplyCall : public OperatorProduct {
  public:
    /// `symmetric`: as in OperatorProduct. `samples` and `options` must outlive it.
    ApplyCall(const DeviceSamples& samples, std::uint32_t columns, const KernelApplyOptions& options,
              Choice symmetric);

    /// Called after a band is recorded, with its kernel values.
    using BandDone = std::function<void(std::uint64_t pairs)>;
    /// Records all bands. `v` has all rows of V, `out` the rows of the result from rows.first on.
    void record(Stream& stream, KernelMemory& memory, const ConstDeviceArray& v, const DeviceArray& out,
                const ApplyRows& rows, const BandDone& done) const;
    /// Records what adds a share of K V to the totals. `v` has all rows of V.
    void record(Stream& stream, KernelMemory& memory, const ConstDeviceArray& v, const ApplyTotals& totals,
                const PairShare& share, const BandDone& done) const;

  private:
    struct Arrays;
    // In operator_states.cpp.
    void record_states(Stream& stream, KernelMemory& memory, const ConstDeviceArray& v,
                       const DeviceArray& out, const ApplyRows& rows, const BandDone& done) const;
    void record_states(Stream& stream, KernelMemory& memory, const ConstDeviceArray& v,
                       const ApplyTotals& totals, const PairShare& share, const BandDone& done) const;
    void add_block(Stream& stream, const BlockMaker& maker, const ConstDeviceArray& v, const DeviceArray& out,
                   std::uint64_t first_row, const BlockPlace& place, const SumFactors& factors) const;
    void record_low_rank(Stream& stream, KernelMemory& memory, const Arrays& arrays,
                         const BandDone& done) const;
    void gather(Stream& stream, const Arrays& arrays, std::uint32_t column, const Words& sums,
                const Words& weights) const;
    void scatter(Stream& stream, const Arrays& arrays, std::uint32_t column, const Words& weights,
                 const Words& sums) const;
    void add_to_totals(Stream& stream, const ApplyTotals& totals, std::uint32_t column, std::uint32_t some,
                       std::uint64_t row, std::uint64_t rows, const Words& sums, const SumTerms& terms) const;
    void record_pass(Stream& stream, KernelMemory& memory, const ApplyPass& pass,
                     const std::vector<OperatorBand>& bands, const Arrays& arrays,
                     const BandDone& done) const;
    void record_band(Stream& stream, const ApplyPass& pass, const OperatorBand& band, const Arrays& arrays,
                     const Words& row_sums, const Words& column_sums) const;

    const DeviceSamples& samples_;
    const KernelApplyOptions& options_;
};

}  // namespace weft::kernels
