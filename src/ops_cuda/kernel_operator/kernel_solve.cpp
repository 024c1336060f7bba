// SPDX-License-Identifier: Apache-2.0
#include <weft/cuda/kernel_solve.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

#include <weft/cuda/devices.hpp>
#include <weft/version.hpp>

#include "cuda/devices_state.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops/kernel_solve/operator_models.hpp"
#include "ops/kernel_solve/operator_predict.hpp"
#include "ops_cuda/kernel_operator/operator_host.hpp"

namespace weft::cuda {
namespace {

using kernels::HostSamples;

/// What rounds, as facts of a checkpoint.
kernels::StoreFacts current_device_facts() {
    int device = 0, driver = 0;
    cudaDeviceProp properties{};
    check(cudaGetDevice(&device), "kernel_solve", "cudaGetDevice");
    check(cudaGetDeviceProperties(&properties, device), "kernel_solve", "cudaGetDeviceProperties");
    check(cudaDriverGetVersion(&driver), "kernel_solve", "cudaDriverGetVersion");
    return {{"device", std::string(properties.name) + ", CUDA " + std::to_string(driver / 1000) + "." +
                           std::to_string(driver % 1000 / 10)},
            {"weft", WEFT_VERSION_STRING}};
}

/// An operator on the current device.
class OperatorHere : public kernels::ModelOperator {
  public:
    /// Must outlive it.
    explicit OperatorHere(const KernelOperator& k) : k_(k) {}

    const KernelMatrixShape& shape() const override { return k_.shape(); }
    ElementType type() const override { return k_.type(); }
    const kernels::OperatorPlan& plan() const override { return samples().plan; }
    kernels::ModelFacts facts() const override {
        return {weft::detail::Access::object(k_)->facts(), current_device_facts(), sum_of_samples(samples())};
    }
    OpReport apply(const ConstHostArray& v, const HostArray& out, const kernels::ApplyRows& rows,
                   const KernelApplyHostOptions& options) const override {
        return apply_rows(samples(), v, out, rows, options);
    }
    void rows(const std::vector<std::uint32_t>& list, const HostArray& out) const override {
        kernel_rows(k_, list, out);
    }
    void diagonal(const HostArray& out) const override { kernel_diagonal(k_, out); }

  private:
    const DeviceSamples& samples() const { return weft::detail::Access::object(k_)->here("kernel_apply"); }
    const KernelOperator& k_;
};

/// An operator on several devices; the first that is not lost makes what is not a product.
class OperatorOnDevices final : public OperatorHere {
  public:
    OperatorOnDevices(Devices& devices, const KernelOperator& k)
        : OperatorHere(k), devices_(devices), k_(k) {}

    const kernels::OperatorPlan& plan() const override {
        const CurrentDevice current("kernel_apply", first());
        return OperatorHere::plan();
    }
    kernels::ModelFacts facts() const override {
        const CurrentDevice current("kernel_solve", first());
        return OperatorHere::facts();
    }
    OpReport apply(const ConstHostArray& v, const HostArray& out, const kernels::ApplyRows& rows,
                   const KernelApplyHostOptions& options) const override {
        return apply_rows(devices_, k_, v, out, rows, options);
    }
    void rows(const std::vector<std::uint32_t>& list, const HostArray& out) const override {
        const CurrentDevice current("kernel_rows", first());
        OperatorHere::rows(list, out);
    }
    void diagonal(const HostArray& out) const override {
        const CurrentDevice current("kernel_diagonal", first());
        OperatorHere::diagonal(out);
    }

  private:
    const DeviceInfo& first() const {
        return devices_[weft::detail::Access::state(devices_).usable("kernel_apply").front()];
    }
    Devices& devices_;
    const KernelOperator& k_;
};

OpReport predict(const KernelMatrixCircuit* circuit, const ConstHostArray& x_new, const ConstHostArray& x,
                 const ConstHostArray& alpha, const HostArray& out, const KernelMatrixShape& shape,
                 const BatchOptions& batch) {
    return kernels::predict({.threads = host_threads(),
                             .plan =
                                 [](const HostSamples& all) {
                                     return operator_plan_here("kernel_predict", all.facts, all.shape,
                                                               all.options);
                                 },
                             .apply =
                                 [](const HostSamples& some, const ConstHostArray& v, const HostArray& to,
                                    const KernelApplyHostOptions& options) {
                                     const OperatorObject::Samples samples = samples_here(some);
                                     return apply_rows(*samples, v, to, {0, some.shape.samples}, options);
                                 }},
                            circuit, x_new, x, alpha, out, shape, batch);
}

}  // namespace

KernelSolveReport kernel_solve(const KernelOperator& k, const ConstHostArray& y, const HostArray& alpha,
                               const KernelSolveOptions& options) {
    return kernels::solve(OperatorHere(k), {}, y, alpha, options);
}
KernelSolveReport kernel_solve(Devices& devices, const KernelOperator& k, const ConstHostArray& y,
                               const HostArray& alpha, const KernelSolveOptions& options) {
    return kernels::solve(OperatorOnDevices(devices, k), {}, y, alpha, options);
}

KernelEigenReport kernel_eigen(const KernelOperator& k, const HostArray& values, const HostArray& vectors,
                               const KernelEigenOptions& options) {
    return kernels::eigen(OperatorHere(k), {}, values, vectors, options);
}
KernelEigenReport kernel_eigen(Devices& devices, const KernelOperator& k, const HostArray& values,
                               const HostArray& vectors, const KernelEigenOptions& options) {
    return kernels::eigen(OperatorOnDevices(devices, k), {}, values, vectors, options);
}

OpReport kernel_predict(const KernelMatrixCircuit& circuit, const ConstHostArray& x_new,
                        const ConstHostArray& x, const ConstHostArray& alpha, const HostArray& out,
                        const KernelMatrixShape& shape, const BatchOptions& batch) {
    return predict(&circuit, x_new, x, alpha, out, shape, batch);
}
OpReport kernel_predict(const ConstHostArray& states_new, const ConstHostArray& states,
                        const ConstHostArray& alpha, const HostArray& out, const KernelMatrixShape& shape,
                        const BatchOptions& batch) {
    return predict(nullptr, states_new, states, alpha, out, shape, batch);
}

std::vector<std::uint32_t> kernel_landmarks(const KernelOperator& k, std::uint32_t count,
                                            const KernelLandmarkOptions& options) {
    return kernels::landmarks(OperatorHere(k), count, options);
}
void kernel_inverse_root(const KernelOperator& k, const HostArray& out) {
    kernels::inverse_root_of(OperatorHere(k), out);
}
OpReport kernel_features(const KernelOperator& k, const ConstHostArray& root, const HostArray& out,
                         const BatchOptions& batch) {
    return kernels::features(OperatorHere(k), root, out, batch);
}

}  // namespace weft::cuda
