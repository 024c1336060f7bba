// SPDX-License-Identifier: Apache-2.0
// What a kernel operator holds on each device: its plan and the numbers of its samples.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <weft/ops/kernel_operator.hpp>

#include "ops/kernel_operator/operator_plan.hpp"
#include "ops_vulkan/gram/gram_device.hpp"
#include "ops_vulkan/kernel_matrix/kernel_memory.hpp"

namespace weft::kernels {

struct DeviceSamples {
    OperatorPlan plan;
    std::weak_ptr<const void> backend;  ///< that the memory belongs to
    std::optional<Buffer<std::uint32_t>> x, y;

    /// The samples that are the rows of K or, with `transpose`, its columns.
    Words rows(bool transpose) const { return transpose && y ? y->view() : x->view(); }
    Words columns(bool transpose) const { return transpose || !y ? x->view() : y->view(); }
};

class OperatorObject {
  public:
    explicit OperatorObject(std::vector<DeviceSamples> devices) : devices_(std::move(devices)) {}
    const DeviceSamples& first() const { return devices_.front(); }
    /// What the device behind `state` holds. Errors: invalid_argument - nothing.
    const DeviceSamples& on(const char* function, const std::shared_ptr<core::BackendState>& state) const;

  private:
    std::vector<DeviceSamples> devices_;
};

/// The plan on a device; what does not fit is no error. Errors: as plan_operator.
OperatorPlan operator_plan_on(const Owner& owner, const KernelMatrixCircuit& circuit,
                              const KernelMatrixShape& shape, const KernelOperatorOptions& options);

/// Records the numbers of the samples; `y` may be null. Host memory has been read when the function returns.
/// Errors: out_of_memory.
DeviceSamples make_samples(Stream& stream, const OperatorPlan& plan, double scale, const ConstDeviceArray& x,
                           const ConstDeviceArray* y);
DeviceSamples make_samples(Stream& stream, const OperatorPlan& plan, double scale, const ConstHostArray& x,
                           const ConstHostArray* y);

}  // namespace weft::kernels
