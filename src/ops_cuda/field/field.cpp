// SPDX-License-Identifier: Apache-2.0
#include <weft/cuda/field.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>

#include <weft/error.hpp>

#include "cuda/check.hpp"
#include "cuda/plan_device.hpp"
#include "cuda/scratch.hpp"
#include "ops/field/field_check.hpp"
#include "ops/field/field_plan.hpp"
#include "ops/field/field_scalar.hpp"
#include "ops_cuda/field/field_launch.hpp"
#include "ops_cuda/field/field_range.hpp"

namespace weft::cuda {
namespace {

using kernels::range_of;

void reduce(FieldLaunch launch, const FieldInfo& field, const FieldOptions& options, const char* function) {
    const weft::DeviceInfo device = plan_device();
    if (launch.elements == 0)
        return check(cudaMemsetAsync(launch.out, 0, field.element_bytes, launch.stream), function,
                     "cudaMemsetAsync");
    launch.workgroups = kernels::plan_field_shares(device, field, launch.op, launch.elements, options);
    if (launch.workgroups == 1)
        return check(static_cast<cudaError_t>(launch_field_reduction(launch)), function, "the launch");
    const Scratch totals(launch.stream, std::size_t{launch.workgroups} * field.element_bytes, function,
                         "totals");
    FieldLaunch sum = launch;
    launch.out = totals.data();
    check(static_cast<cudaError_t>(launch_field_reduction(launch)), function, "the launch");
    sum.op = FieldOp::sum;
    sum.a = totals.data();
    sum.elements = launch.workgroups;
    sum.workgroups = 1;
    check(static_cast<cudaError_t>(launch_field_reduction(sum)), function, "the launch");
}

}  // namespace

void field_apply(StreamHandle stream, Field field, FieldOp op, const ConstDeviceArray& a,
                 const ConstDeviceArray& b, const ConstHostArray& scalar, const DeviceArray& out,
                 const FieldOptions& options) {
    kernels::check_field_enums("field_apply", field, op, options.form, options.shader);
    const FieldInfo& info = field_info(field);
    const std::string function = kernels::field_function(op);
    kernels::check_field_ranges(info, op, range_of(a), range_of(b), range_of(out), scalar, options);
    kernels::refuse_field_shader(function, "FieldOptions", options.shader);
    const std::uintptr_t alignment = std::min<std::uint32_t>(info.element_bytes, 16);
    check_aligned(function, a.data, "a", alignment);
    check_aligned(function, b.data, "b", alignment);
    check_aligned(function, out.data, "out", alignment);
    FieldLaunch launch;
    if (op == FieldOp::axpy) launch.scalar = kernels::axpy_words(function, field, options.form, scalar);
    launch.elements = a.bytes() / info.element_bytes;
    const kernels::FieldPlan plan = kernels::plan_field(plan_device(), info, op, launch.elements, options);
    require_device(function.c_str());
    const kernels::FieldProducts products =
        kernels::plan_products(kernels::field_constants(field), op, options.form);
    launch.stream = stream;
    launch.op = op;
    launch.field = &kernels::field_constants(field);
    launch.factor = products.factor;
    launch.passes = products.passes;
    launch.a = a.data;
    launch.b = b.data;
    launch.out = out.data;
    launch.workgroup_size = plan.local_size;
    if (is_reduction(op)) return reduce(launch, info, options, function.c_str());
    if (launch.elements == 0) return;
    const std::uint64_t workgroups =
        (launch.elements + plan.elements_per_workgroup - 1) / plan.elements_per_workgroup;
    launch.workgroups = static_cast<std::uint32_t>(std::min<std::uint64_t>(workgroups, plan.max_workgroups));
    const int result = op == FieldOp::inverse ? launch_field_inverse(launch) : launch_field_elements(launch);
    check(static_cast<cudaError_t>(result), function.c_str(), "the launch");
}

}  // namespace weft::cuda
