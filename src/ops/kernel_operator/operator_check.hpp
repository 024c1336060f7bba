// SPDX-License-Identifier: Apache-2.0
// Refuses kernel operators and products that cannot be made before anything touches a device. Pure. All
// errors are invalid_argument.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <weft/ops/kernel_operator.hpp>

#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops/kernel_operator/operator_plan.hpp"

namespace weft::kernels {

/// Checks shape, circuit, options, types and lengths of features.
void check_operator(const KernelMatrixCircuit& circuit, const ArrayFacts& x,
                    const std::optional<ArrayFacts>& y, const KernelMatrixShape& shape,
                    const KernelOperatorOptions& options);
/// The same without the features.
void check_operator(const KernelMatrixCircuit& circuit, const KernelMatrixShape& shape, bool with_y,
                    const KernelOperatorOptions& options);

/// Checks a number of columns of V.
void check_columns(std::uint64_t columns);
/// Checks a product; returns the columns of V.
std::uint32_t check_apply(const OperatorPlan& plan, const ArrayFacts& v, const ArrayFacts& out,
                          const KernelApplyOptions& options);
void check_rows(const OperatorPlan& plan, const std::vector<std::uint32_t>& rows, const ArrayFacts& out);
void check_diagonal(const OperatorPlan& plan, const ArrayFacts& out);
/// Checks an array of results in host memory: pointer, alignment, overlap with `in` if there is one.
void check_out_memory(const char* function, const ConstHostArray* in, const HostArray& out);

}  // namespace weft::kernels
