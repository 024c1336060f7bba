// SPDX-License-Identifier: Apache-2.0
// Puts products with a kernel operator on CUDA streams.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "cuda/scratch.hpp"
#include "ops/kernel_operator/operator_parameters.hpp"
#include "ops_cuda/kernel_operator/operator_object.hpp"

namespace weft::cuda {

/// out = a (K + lambda I) V + b out with `columns` columns of V.
class OperatorApplyCall {
  public:
    /// The first and the last must outlive it.
    OperatorApplyCall(const OperatorObject& object, std::uint32_t columns, const KernelApplyOptions& options);

    /// Called after the kernels of a band are on the stream, with its kernel values. May throw.
    using BandDone = std::function<void(std::uint64_t pairs)>;
    /// Errors: out_of_memory, driver, and what `done` throws.
    void launch(StreamHandle stream, const ConstDeviceArray& v, const DeviceArray& out,
                const BandDone& done) const;
    /// Kernel values of the product, in all passes.
    std::uint64_t pairs() const;
    KernelOperatorMethod method() const noexcept {
        return low_rank_ ? KernelOperatorMethod::low_rank : KernelOperatorMethod::product;
    }

  private:
    /// V as the kernels of a pass read it.
    struct PassValues {
        const std::byte* data = nullptr;
        std::uint32_t width = 1;  ///< values between rows
    };
    struct Arrays;
    void launch_pass(const Arrays& arrays, const kernels::ApplyPass& pass, const BandDone& done) const;
    void launch_band(const Arrays& arrays, const kernels::ApplyPass& pass, const kernels::OperatorBand& band,
                     const PassValues& values, const Scratch& row_sums, const Scratch& column_sums) const;
    void launch_low_rank(const Arrays& arrays, const BandDone& done) const;
    void gather(const Arrays& arrays, std::uint32_t column, const Scratch& sums,
                const Scratch& weights) const;
    void scatter(const Arrays& arrays, std::uint32_t column, const Scratch& weights,
                 const Scratch& sums) const;

    const OperatorObject& object_;
    const kernels::OperatorPlan& plan_;
    const KernelApplyOptions& options_;
    const std::uint32_t columns_;
    const kernels::ApplySide side_;
    const std::optional<kernels::LowRankPlan> low_rank_;
    const std::vector<kernels::ApplyPass> passes_;
};

/// Rows of K, or its diagonal. Errors: out_of_memory, driver.
void launch_rows(StreamHandle stream, const OperatorObject& object, const std::vector<std::uint32_t>& rows,
                 const DeviceArray& out);
void launch_diagonal(StreamHandle stream, const OperatorObject& object, const DeviceArray& out);

}  // namespace weft::cuda
