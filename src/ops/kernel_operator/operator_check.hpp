// SPDX-License-Identifier: Apache-2.0
// Refuses kernel operators and products that cannot be made before anything touches a device. Pure. All
// errors are invalid_argument.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/error.hpp>
#include <weft/ops/encode_error.hpp>
#include <weft/ops/kernel_operator.hpp>

#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops/kernel_operator/operator_plan.hpp"

namespace weft::kernels {

/// A text of an error of kernel matrices as one of operators.
std::string operator_text(std::string text);

/// A text about an operator of x with y and a product with v, as one about predictions: what x and y are
/// there is x_new and x here, and v is alpha.
std::string prediction_text(std::string_view text);

/// Checks shape, circuit, options, types and lengths of features; or all but the features.
CircuitFacts check_operator(const KernelMatrixCircuit& circuit, const ArrayFacts& x,
                            const std::optional<ArrayFacts>& y, const KernelMatrixShape& shape,
                            const KernelOperatorOptions& options);
CircuitFacts check_operator(const KernelMatrixCircuit& circuit, const KernelMatrixShape& shape, bool with_y,
                            const KernelOperatorOptions& options);
/// Checks shape, options, types and lengths of states that are given.
CircuitFacts check_given_operator(const ArrayFacts& x, const std::optional<ArrayFacts>& y,
                                  const KernelMatrixShape& shape, const KernelOperatorOptions& options);
CircuitFacts check_given_operator(ElementType states, const KernelMatrixShape& shape, bool with_y,
                                  const KernelOperatorOptions& options);

/// Calls check(), which kernel matrices have too; texts of its errors get the name of the operator.
template <class Check>
auto as_operator(const Check& check) {
    try {
        return check();
    } catch (const Error& error) {
        throw Error(error.code(), operator_text(error.what()));
    }
}

/// Calls make(), which works on an operator of x_new with x; its errors are those of a prediction.
template <class Make>
auto as_prediction(const Make& make) {
    try {
        return make();
    } catch (const EncodeError& error) {
        throw EncodeError(prediction_text(error.what()), error.failures());
    } catch (const Error& error) {
        throw Error(error.code(), prediction_text(error.what()), error.native_code());
    }
}

/// Checks a number of columns of V.
void check_columns(std::uint64_t columns);
/// Checks a product; returns the columns of V.
std::uint32_t check_apply(const OperatorPlan& plan, const ArrayFacts& v, const ArrayFacts& out,
                          const KernelApplyOptions& options);
void check_rows(const OperatorPlan& plan, const std::vector<std::uint32_t>& rows, const ArrayFacts& out);
void check_diagonal(const OperatorPlan& plan, const ArrayFacts& out);
/// Checks an array of results in host memory: pointer, alignment, overlap with `in` if there is one.
void check_out_memory(const char* function, const ConstHostArray* in, const HostArray& out);

/// The report of a call, without times.
OpReport operator_report(const char* function, std::uint64_t items, std::uint64_t bytes_in,
                         const HostArray& out);

}  // namespace weft::kernels
