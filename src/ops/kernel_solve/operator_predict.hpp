// SPDX-License-Identifier: Apache-2.0
// Predictions K(x_new, x) alpha on any API, block by block of the new rows. Pure.
#pragma once

#include <cstdint>
#include <functional>

#include "ops/kernel_operator/operator_call.hpp"

namespace weft::kernels {

/// What predictions need of the place where they are made.
struct PredictPlace {
    std::uint32_t threads = 1;  ///< of the host
    /// The plan of an operator of all new rows with x; what does not fit is no error.
    std::function<OperatorPlan(const HostSamples& all)> plan;
    /// Makes an operator of some of the new rows with x, and multiplies it with alpha.
    std::function<OpReport(const HostSamples& some, const ConstHostArray& alpha, const HostArray& out,
                           const KernelApplyHostOptions& options)>
        apply;
};

/// kernel_predict. `circuit` is null if states are given.
OpReport predict(const PredictPlace& place, const KernelMatrixCircuit* circuit, const ConstHostArray& x_new,
                 const ConstHostArray& x, const ConstHostArray& alpha, const HostArray& out,
                 const KernelMatrixShape& shape, const BatchOptions& batch);

}  // namespace weft::kernels
