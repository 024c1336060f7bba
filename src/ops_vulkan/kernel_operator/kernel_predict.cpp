// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/kernel_solve.hpp>: predictions.
#include <weft/ops/kernel_solve.hpp>

#include "ops/kernel_solve/operator_predict.hpp"
#include "ops_vulkan/kernel_operator/operator_host.hpp"

namespace weft {
namespace {

using kernels::HostSamples;

OpReport predict(Backend& backend, const KernelMatrixCircuit* circuit, const ConstHostArray& x_new,
                 const ConstHostArray& x, const ConstHostArray& alpha, const HostArray& out,
                 const KernelMatrixShape& shape, const BatchOptions& batch) {
    return kernels::predict(
        {.threads = backend.plan().copy_threads,
         .plan =
             [&](const HostSamples& all) {
                 return kernels::operator_plan_on(backend, all.facts, all.shape, all.options);
             },
         .apply =
             [&](const HostSamples& some, const ConstHostArray& v, const HostArray& to,
                 const KernelApplyHostOptions& options) {
                 const kernels::DeviceSamples samples = kernels::samples_on(backend, some);
                 return kernels::apply_rows(backend, samples, v, to, {0, some.shape.samples}, options);
             }},
        circuit, x_new, x, alpha, out, shape, batch);
}

}  // namespace

OpReport kernel_predict(Backend& backend, const KernelMatrixCircuit& circuit, const ConstHostArray& x_new,
                        const ConstHostArray& x, const ConstHostArray& alpha, const HostArray& out,
                        const KernelMatrixShape& shape, const BatchOptions& batch) {
    return predict(backend, &circuit, x_new, x, alpha, out, shape, batch);
}
OpReport kernel_predict(Backend& backend, const ConstHostArray& states_new, const ConstHostArray& states,
                        const ConstHostArray& alpha, const HostArray& out, const KernelMatrixShape& shape,
                        const BatchOptions& batch) {
    return predict(backend, nullptr, states_new, states, alpha, out, shape, batch);
}

}  // namespace weft
