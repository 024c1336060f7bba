// SPDX-License-Identifier: Apache-2.0
#include <weft/cuda/kernel_operator.hpp>

#include "cuda/check.hpp"
#include "ops/kernel_operator/operator_check.hpp"
#include "ops_cuda/kernel_operator/operator_apply.hpp"

namespace weft::cuda {
namespace {

using kernels::facts_of;

std::shared_ptr<const OperatorObject> resident(StreamHandle stream, const KernelMatrixCircuit& circuit,
                                               const ConstDeviceArray& x, const ConstDeviceArray* y,
                                               const KernelMatrixShape& shape,
                                               const KernelOperatorOptions& options) {
    constexpr const char* kFunction = "KernelOperator";
    kernels::check_operator(circuit, facts_of(x), facts_of(y), shape, options);
    check_aligned(kFunction, x.data, "x");
    if (y != nullptr) check_aligned(kFunction, y->data, "y");
    return std::make_shared<const OperatorObject>(
        stream, operator_plan_here(kFunction, circuit, shape, options), circuit.scale, x, y);
}

/// Arrays of device memory have the rules of host memory: a pointer, its type's alignment, no overlap.
void check_arrays(const char* function, const ConstDeviceArray* v, const DeviceArray& out) {
    const ConstHostArray in = v != nullptr ? ConstHostArray{v->data, v->size, v->type} : ConstHostArray{};
    kernels::check_out_memory(function, v != nullptr ? &in : nullptr, {out.data, out.size, out.type});
}

}  // namespace

KernelOperatorEstimate estimate_kernel_operator(const KernelMatrixCircuit& circuit,
                                                const KernelMatrixShape& shape, std::uint32_t columns,
                                                const KernelOperatorOptions& options) {
    kernels::check_operator(circuit, shape, shape.others != 0, options);
    kernels::check_columns(columns);
    return kernels::estimate_operator(operator_plan_here("estimate_kernel_operator", circuit, shape, options),
                                      columns);
}

KernelOperator::KernelOperator(StreamHandle stream, const KernelMatrixCircuit& circuit,
                               const ConstDeviceArray& x, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options)
    : object_(resident(stream, circuit, x, nullptr, shape, options)) {}
KernelOperator::KernelOperator(StreamHandle stream, const KernelMatrixCircuit& circuit,
                               const ConstDeviceArray& x, const ConstDeviceArray& y,
                               const KernelMatrixShape& shape, const KernelOperatorOptions& options)
    : object_(resident(stream, circuit, x, &y, shape, options)) {}

const KernelMatrixShape& KernelOperator::shape() const {
    return object_->plan().shape;
}
ElementType KernelOperator::type() const {
    return object_->plan().options.type;
}
KernelOperatorEstimate KernelOperator::estimate(std::uint32_t columns) const {
    kernels::check_columns(columns);
    return kernels::estimate_operator(object_->plan(), columns);
}

void kernel_apply(StreamHandle stream, const KernelOperator& k, const ConstDeviceArray& v,
                  const DeviceArray& out, const KernelApplyOptions& options) {
    const OperatorObject& object = *weft::detail::Access::object(k);
    const std::uint32_t columns = kernels::check_apply(object.plan(), facts_of(v), facts_of(out), options);
    check_arrays("kernel_apply", &v, out);
    object.require_here("kernel_apply");
    OperatorApplyCall(object, columns, options).launch(stream, v, out, [](std::uint64_t) {});
}

void kernel_rows(StreamHandle stream, const KernelOperator& k, const std::vector<std::uint32_t>& rows,
                 const DeviceArray& out) {
    const OperatorObject& object = *weft::detail::Access::object(k);
    kernels::check_rows(object.plan(), rows, facts_of(out));
    if (rows.empty()) return;
    check_arrays("kernel_rows", nullptr, out);
    object.require_here("kernel_rows");
    launch_rows(stream, object, rows, out);
}

void kernel_diagonal(StreamHandle stream, const KernelOperator& k, const DeviceArray& out) {
    const OperatorObject& object = *weft::detail::Access::object(k);
    kernels::check_diagonal(object.plan(), facts_of(out));
    check_arrays("kernel_diagonal", nullptr, out);
    object.require_here("kernel_diagonal");
    launch_diagonal(stream, object, out);
}

}  // namespace weft::cuda
