// SPDX-License-Identifier: Apache-2.0
// Completes <weft/cuda/host.hpp>: kernel_matrix.
#include <weft/cuda/host.hpp>

#include "base/batch_call.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops/kernel_matrix/matrix_items.hpp"
#include "ops_cuda/kernel_matrix/kernel_shares.hpp"

namespace weft::cuda {
namespace {

OpReport run(const kernels::HostMatrixCall& call) {
    core::ProgressMeter("kernel_matrix", call.batch, call.shape.pairs()).check();
    const kernels::KernelMatrixPlan plan = plan_on_current(call, call.options);
    const kernels::MatrixItems items = kernels::all_items(plan);
    const OpReport made =
        MatrixShares(plan, call, items).make({0, items.count()}, call.batch, call.shape.pairs());
    OpReport report = kernels::report_of(call, plan);
    report.chunks = made.chunks;
    return report;
}

}  // namespace

OpReport kernel_matrix(const KernelMatrixCircuit& circuit, const ConstHostArray& x, const HostArray& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options) {
    return run(kernels::checked_features(circuit, x, nullptr, k, kernels::facts_of(k), shape, options,
                                         host_threads()));
}
OpReport kernel_matrix(const KernelMatrixCircuit& circuit, const ConstHostArray& x, const ConstHostArray& y,
                       const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return run(
        kernels::checked_features(circuit, x, &y, k, kernels::facts_of(k), shape, options, host_threads()));
}
OpReport kernel_matrix(const ConstHostArray& states, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return run(
        kernels::checked_states(states, nullptr, k, kernels::facts_of(k), shape, options, host_threads()));
}
OpReport kernel_matrix(const weft::detail::GivenStates<ConstHostArray>& states, const ConstHostArray& others,
                       const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return run(
        kernels::checked_states(states, &others, k, kernels::facts_of(k), shape, options, host_threads()));
}

}  // namespace weft::cuda
