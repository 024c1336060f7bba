// SPDX-License-Identifier: Apache-2.0
// Puts products with a kernel operator, rows of K and its diagonal on CUDA streams. operator_states.cpp
// implements those of states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "cuda/scratch.hpp"
#include "ops/kernel_operator/operator_parameters.hpp"
#include "ops/kernel_operator/operator_product.hpp"
#include "ops_cuda/kernel_operator/operator_object.hpp"

namespace weft::cuda {

/// Totals of all rows of a square K in fixed point, as operator_total.comp has them, and the exponents of
/// their units.
struct ApplyTotals {
    void* words = nullptr;
    const void* units = nullptr;
};

/// out = a (K + lambda I) V + b out for some rows of K, with `columns` columns of V.
class OperatorApplyCall : public kernels::OperatorProduct {
  public:
    /// `symmetric`: as in OperatorProduct. `samples` and `options` must outlive it.
    OperatorApplyCall(const DeviceSamples& samples, std::uint32_t columns, const KernelApplyOptions& options,
                      Choice symmetric);

    /// Called after the kernels of a band are on the stream, with its kernel values. May throw.
    using BandDone = std::function<void(std::uint64_t pairs)>;
    /// `v` has all rows of V, `out` the rows of the result from rows.first on. Errors: out_of_memory, driver,
    /// and what `done` throws.
    void launch(StreamHandle stream, const void* v, void* out, const kernels::ApplyRows& rows,
                const BandDone& done) const;
    /// Adds a share of K V to the totals.
    void launch(StreamHandle stream, const void* v, const ApplyTotals& totals,
                const kernels::PairShare& share, const BandDone& done) const;

  private:
    /// V as the kernels of a pass read it.
    struct PassValues {
        const std::byte* data = nullptr;
        std::uint32_t width = 1;  ///< values between rows
    };
    struct Arrays;
    void launch_pass(const Arrays& arrays, const kernels::ApplyPass& pass,
                     const std::vector<kernels::OperatorBand>& bands, const BandDone& done) const;
    void launch_band(const Arrays& arrays, const kernels::ApplyPass& pass, const kernels::OperatorBand& band,
                     const PassValues& values, const Scratch& row_sums, const Scratch& column_sums) const;
    void add_up_band(const Arrays& arrays, const kernels::ApplyPass& pass, const kernels::OperatorBand& band,
                     const Scratch& row_sums, const Scratch& column_sums) const;
    void add_to_totals(StreamHandle stream, const ApplyTotals& totals, std::uint32_t column,
                       std::uint32_t some, std::uint64_t row, std::uint64_t rows, const void* sums,
                       const kernels::SumTerms& terms) const;
    void launch_low_rank(const Arrays& arrays, const BandDone& done) const;
    void gather(const Arrays& arrays, std::uint32_t column, const Scratch& sums,
                const Scratch& weights) const;
    void scatter(const Arrays& arrays, std::uint32_t column, const Scratch& weights,
                 const Scratch& sums) const;
    // In operator_states.cpp.
    void launch_states(StreamHandle stream, const std::byte* v, std::byte* out,
                       const kernels::ApplyRows& rows, const BandDone& done) const;
    void launch_states(StreamHandle stream, const std::byte* v, const ApplyTotals& totals,
                       const kernels::PairShare& share, const BandDone& done) const;
    void add_block(StreamHandle stream, const BlockMaker& maker, const std::byte* v, std::byte* out,
                   const kernels::BlockPlace& place, const kernels::SumFactors& factors) const;

    const DeviceSamples& samples_;
    const KernelApplyOptions& options_;
};

/// Rows of K, or its diagonal, band by band; `done` is called after each one. Errors: out_of_memory, driver.
void launch_rows(StreamHandle stream, const DeviceSamples& samples, const std::vector<std::uint32_t>& rows,
                 const DeviceArray& out, const kernels::PairsDone& done);
void launch_diagonal(StreamHandle stream, const DeviceSamples& samples, const DeviceArray& out,
                     const kernels::PairsDone& done);
/// Of states; `launch_rows` and `launch_diagonal` call these.
void launch_state_rows(StreamHandle stream, const DeviceSamples& samples,
                       const std::vector<std::uint32_t>& rows, const DeviceArray& out,
                       const kernels::PairsDone& done);
void launch_state_diagonal(StreamHandle stream, const DeviceSamples& samples, const DeviceArray& out,
                           const kernels::PairsDone& done);

}  // namespace weft::cuda
