// SPDX-License-Identifier: Apache-2.0
// A kernel operator in host memory: features or states that were checked, and what its calls have in common
// on any API. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ops/kernel_operator/operator_plan.hpp"

namespace weft::kernels {

KernelApplyOptions apply_options(const KernelApplyHostOptions& options) noexcept;

/// Called with the kernel values of each band that the device has finished; may throw.
using PairsDone = std::function<void(std::uint64_t pairs)>;

/// Features of a circuit, or states that are given, in host memory; checked.
struct HostSamples {
    const KernelMatrixCircuit* circuit;  ///< null: states are given
    const ConstHostArray& x;
    const ConstHostArray* y;  ///< may be null
    const KernelMatrixShape& shape;
    const KernelOperatorOptions& options;
    CircuitFacts facts;

    /// Values of K have no bound that is known without them: states of any norm.
    bool any_norm() const noexcept {
        return circuit == nullptr && shape.square() && !options.normalize && options.symmetric != Choice::off;
    }
};
/// Checks types, sizes, options and values. Errors: invalid_argument; EncodeError - values that are not
/// finite. Texts about them begin with `function`.
HostSamples checked_samples(const char* function, const KernelMatrixCircuit* circuit, const ConstHostArray& x,
                            const ConstHostArray* y, const KernelMatrixShape& shape,
                            const KernelOperatorOptions& options, std::uint32_t threads);

std::vector<double> weights_of(const KernelMatrixCircuit& circuit);

/// The largest value of a square K with this diagonal, by the inequality of Cauchy and Schwarz. NaN: there is
/// none.
double largest_value(const ConstHostArray& diagonal);

}  // namespace weft::kernels
