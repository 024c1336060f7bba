// SPDX-License-Identifier: Apache-2.0
// What a kernel operator holds on each device: its plan and the numbers of its samples.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weft/ops/kernel_operator.hpp>

#include "ops/kernel_operator/operator_plan.hpp"
#include "ops/kernel_solve/solve_checkpoint.hpp"
#include "ops_vulkan/gram/gram_device.hpp"
#include "ops_vulkan/kernel_matrix/kernel_memory.hpp"
#include "ops_vulkan/kernel_operator/operator_states.hpp"

namespace weft::kernels {

struct DeviceSamples {
    OperatorPlan plan;
    std::weak_ptr<const void> backend;  ///< that the memory belongs to
    std::optional<Buffer<std::uint32_t>> x, y;
    std::shared_ptr<const DeviceStates> states{};  ///< of a plan with states, which has no x and y

    /// The samples that are the rows of K or, with `transpose`, its columns.
    Words rows(bool transpose) const { return transpose && y ? y->view() : x->view(); }
    Words columns(bool transpose) const { return transpose || !y ? x->view() : y->view(); }
};

/// Words of the numbers of some samples.
inline Words samples_at(const OperatorPlan& plan, const Words& samples, std::uint64_t first,
                        std::uint64_t count) {
    const std::uint64_t words = plan.sample_bytes() / 4;
    return part_of(samples, first * words, count * words);
}

class OperatorObject {
  public:
    /// `largest`: value of K; 1 but for given states.
    OperatorObject(std::vector<DeviceSamples> devices, StoreFacts facts, double largest = 1)
        : devices_(std::move(devices)), facts_(std::move(facts)), largest_(largest) {}
    const DeviceSamples& first() const { return devices_.front(); }
    /// Those of all devices that it was made on, lost ones as well.
    std::vector<const OperatorPlan*> plans() const;
    double largest() const noexcept { return largest_; }
    /// As operator_facts() makes them.
    const StoreFacts& facts() const noexcept { return facts_; }
    /// What the device behind `state` holds. Errors: invalid_argument - nothing.
    const DeviceSamples& on(const char* function, const std::shared_ptr<core::BackendState>& state) const;

  private:
    std::vector<DeviceSamples> devices_;
    StoreFacts facts_;
    double largest_;
};

/// A checksum of what the values of K depend on, from the device's memory.
std::string sum_of_samples(Backend& backend, const DeviceSamples& samples);

/// The plan on a device, of several if it is `shared`; what does not fit is no error. Errors: as
/// plan_operator.
OperatorPlan operator_plan_on(const Owner& owner, const CircuitFacts& circuit, const KernelMatrixShape& shape,
                              const KernelOperatorOptions& options, bool shared = false);

/// Records the numbers or the states of the samples; `circuit` is null if states are given, and `y` may be
/// null. Host memory has been read when the function returns. Errors: out_of_memory.
DeviceSamples make_samples(Stream& stream, const OperatorPlan& plan, const KernelMatrixCircuit* circuit,
                           const ConstDeviceArray& x, const ConstDeviceArray* y);
DeviceSamples make_samples(Stream& stream, const OperatorPlan& plan, const KernelMatrixCircuit* circuit,
                           const ConstHostArray& x, const ConstHostArray* y);

}  // namespace weft::kernels
