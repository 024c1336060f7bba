// SPDX-License-Identifier: Apache-2.0
// Solves, eigenvalues, landmarks and features over an operator of any API, with checks, checkpoints and
// reports. Pure: what multiplies with K is a ModelOperator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/ops/kernel_ranks.hpp>
#include <weft/ops/kernel_solve.hpp>

#include "ops/kernel_operator/operator_product.hpp"
#include "ops/kernel_solve/solve_checkpoint.hpp"

namespace weft::kernels {

/// What a checkpoint depends on besides the options and y.
struct ModelFacts {
    StoreFacts of_operator, of_device;
    std::string samples;  ///< a checksum of what values of K depend on
};

/// An operator in the place where it is used.
class ModelOperator {
  public:
    virtual ~ModelOperator() = default;
    virtual const KernelMatrixShape& shape() const = 0;
    virtual ElementType type() const = 0;
    /// On the first device. Errors: invalid_argument - the operator is in another place.
    virtual const OperatorPlan& plan() const = 0;
    virtual ModelFacts facts() const = 0;
    /// kernel_apply without its checks, for some rows of K: `out` has these rows.
    virtual OpReport apply(const ConstHostArray& v, const HostArray& out, const ApplyRows& rows,
                           const KernelApplyHostOptions& options) const = 0;
    virtual void rows(const std::vector<std::uint32_t>& list, const HostArray& out) const = 0;
    virtual void diagonal(const HostArray& out) const = 0;
};

/// The functions of <weft/ops/kernel_solve.hpp> and <weft/ops/kernel_ranks.hpp>.
OpReport apply_over_ranks(const ModelOperator& k, const KernelRanks& ranks, const ConstHostArray& v,
                          const HostArray& out, const KernelApplyHostOptions& options);
KernelSolveReport solve(const ModelOperator& k, const KernelRanks& ranks, const ConstHostArray& y,
                        const HostArray& alpha, const KernelSolveOptions& options);
KernelEigenReport eigen(const ModelOperator& k, const KernelRanks& ranks, const HostArray& values,
                        const HostArray& vectors, const KernelEigenOptions& options);
std::vector<std::uint32_t> landmarks(const ModelOperator& k, std::uint32_t count,
                                     const KernelLandmarkOptions& options);
void inverse_root_of(const ModelOperator& k, const HostArray& out);
OpReport features(const ModelOperator& k, const ConstHostArray& root, const HostArray& out,
                  const BatchOptions& batch);

}  // namespace weft::kernels
