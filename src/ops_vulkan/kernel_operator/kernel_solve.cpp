// SPDX-License-Identifier: Apache-2.0
#include <weft/ops/kernel_ranks.hpp>
#include <weft/ops/kernel_solve.hpp>

#include <cstdint>
#include <vector>

#include "ops/kernel_solve/operator_models.hpp"
#include "ops_vulkan/kernel_matrix/kernel_shares.hpp"
#include "ops_vulkan/kernel_operator/operator_host.hpp"
#include "ops_vulkan/kernel_operator/operator_object.hpp"
#include "vulkan/devices/shared_call.hpp"

namespace weft {
namespace {

/// An operator on a Backend or a Devices.
template <class Where>
class OperatorOn final : public kernels::ModelOperator {
  public:
    /// Both must outlive it.
    OperatorOn(Where& where, const KernelOperator& k) : where_(where), k_(k) {}

    const KernelMatrixShape& shape() const override { return k_.shape(); }
    ElementType type() const override { return k_.type(); }
    const kernels::OperatorPlan& plan() const override { return kernels::samples_on(first(), k_).plan; }
    kernels::ModelFacts facts() const override {
        const kernels::OperatorObject& object = *detail::Access::object(k_);
        const kernels::DeviceSamples& samples =
            object.on("kernel_solve", detail::Access::backend_state(first()));
        return {object.facts(), kernels::device_facts(first().device()),
                kernels::sum_of_samples(first(), samples)};
    }
    OpReport apply(const ConstHostArray& v, const HostArray& out, const kernels::ApplyRows& rows,
                   const KernelApplyHostOptions& options) const override {
        return kernels::apply_rows(where_, k_, v, out, rows, options);
    }
    void rows(const std::vector<std::uint32_t>& list, const HostArray& out) const override {
        kernel_rows(first(), k_, list, out);
    }
    void diagonal(const HostArray& out) const override { kernel_diagonal(first(), k_, out); }

  private:
    Backend& first() const { return core::first_backend(where_); }
    Where& where_;
    const KernelOperator& k_;
};

}  // namespace

KernelSolveReport kernel_solve(Backend& backend, const KernelOperator& k, const ConstHostArray& y,
                               const HostArray& alpha, const KernelSolveOptions& options) {
    return kernels::solve(OperatorOn(backend, k), {}, y, alpha, options);
}
KernelSolveReport kernel_solve(Devices& devices, const KernelOperator& k, const ConstHostArray& y,
                               const HostArray& alpha, const KernelSolveOptions& options) {
    return kernels::solve(OperatorOn(devices, k), {}, y, alpha, options);
}

KernelEigenReport kernel_eigen(Backend& backend, const KernelOperator& k, const HostArray& values,
                               const HostArray& vectors, const KernelEigenOptions& options) {
    return kernels::eigen(OperatorOn(backend, k), {}, values, vectors, options);
}
KernelEigenReport kernel_eigen(Devices& devices, const KernelOperator& k, const HostArray& values,
                               const HostArray& vectors, const KernelEigenOptions& options) {
    return kernels::eigen(OperatorOn(devices, k), {}, values, vectors, options);
}

OpReport kernel_apply(Backend& backend, const KernelOperator& k, const KernelRanks& ranks,
                      const ConstHostArray& v, const HostArray& out, const KernelApplyHostOptions& options) {
    return kernels::apply_over_ranks(OperatorOn(backend, k), ranks, v, out, options);
}
OpReport kernel_apply(Devices& devices, const KernelOperator& k, const KernelRanks& ranks,
                      const ConstHostArray& v, const HostArray& out, const KernelApplyHostOptions& options) {
    return kernels::apply_over_ranks(OperatorOn(devices, k), ranks, v, out, options);
}
KernelSolveReport kernel_solve(Backend& backend, const KernelOperator& k, const KernelRanks& ranks,
                               const ConstHostArray& y, const HostArray& alpha,
                               const KernelSolveOptions& options) {
    return kernels::solve(OperatorOn(backend, k), ranks, y, alpha, options);
}
KernelSolveReport kernel_solve(Devices& devices, const KernelOperator& k, const KernelRanks& ranks,
                               const ConstHostArray& y, const HostArray& alpha,
                               const KernelSolveOptions& options) {
    return kernels::solve(OperatorOn(devices, k), ranks, y, alpha, options);
}
KernelEigenReport kernel_eigen(Backend& backend, const KernelOperator& k, const KernelRanks& ranks,
                               const HostArray& values, const HostArray& vectors,
                               const KernelEigenOptions& options) {
    return kernels::eigen(OperatorOn(backend, k), ranks, values, vectors, options);
}
KernelEigenReport kernel_eigen(Devices& devices, const KernelOperator& k, const KernelRanks& ranks,
                               const HostArray& values, const HostArray& vectors,
                               const KernelEigenOptions& options) {
    return kernels::eigen(OperatorOn(devices, k), ranks, values, vectors, options);
}

std::vector<std::uint32_t> kernel_landmarks(Backend& backend, const KernelOperator& k, std::uint32_t count,
                                            const KernelLandmarkOptions& options) {
    return kernels::landmarks(OperatorOn(backend, k), count, options);
}
void kernel_inverse_root(Backend& backend, const KernelOperator& k, const HostArray& out) {
    kernels::inverse_root_of(OperatorOn(backend, k), out);
}
OpReport kernel_features(Backend& backend, const KernelOperator& k, const ConstHostArray& root,
                         const HostArray& out, const BatchOptions& batch) {
    return kernels::features(OperatorOn(backend, k), root, out, batch);
}

}  // namespace weft
