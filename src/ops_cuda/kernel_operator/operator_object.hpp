// SPDX-License-Identifier: Apache-2.0
// What a kernel operator holds on each CUDA device: its plan and the numbers or states of its samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weft/cuda/kernel_operator.hpp>

#include "ops/kernel_operator/operator_call.hpp"
#include "ops/kernel_solve/solve_checkpoint.hpp"
#include "ops_cuda/kernel_operator/operator_memory.hpp"
#include "ops_cuda/kernel_operator/operator_states.hpp"

namespace weft::cuda {

struct DeviceSamples {
    kernels::OperatorPlan plan;
    int device = 0;
    DeviceMemory x{}, y{};
    std::shared_ptr<const DeviceStates> states{};  ///< of a plan with states, which has no x and y

    /// The numbers from a sample on, of those that are the rows of K or, with `transpose`, its columns.
    const std::byte* rows(bool transpose, std::uint64_t first) const;
    const std::byte* columns(bool transpose, std::uint64_t first) const { return rows(!transpose, first); }
};

class OperatorObject {
  public:
    using Samples = std::shared_ptr<const DeviceSamples>;
    /// Places of one device have the same samples. `largest`: value of K; 1 but for given states.
    OperatorObject(std::vector<Samples> places, kernels::StoreFacts facts, double largest = 1)
        : places_(std::move(places)), facts_(std::move(facts)), largest_(largest) {}

    const DeviceSamples& first() const { return *places_.front(); }
    /// Those of all places that it was made on, lost ones as well.
    std::vector<const kernels::OperatorPlan*> plans() const;
    double largest() const noexcept { return largest_; }
    /// As operator_facts() makes them.
    const kernels::StoreFacts& facts() const noexcept { return facts_; }
    /// What the current device holds. Errors: invalid_argument - nothing.
    const DeviceSamples& here(const char* function) const;

  private:
    std::vector<Samples> places_;
    kernels::StoreFacts facts_;
    double largest_;
};

/// A checksum of what the values of K depend on, from the memory of the current device.
std::string sum_of_samples(const DeviceSamples& samples);

/// The plan on the current device, of several if it is `shared`; what does not fit is no error. Errors:
/// no_device, driver.
kernels::OperatorPlan operator_plan_here(const char* function, const kernels::CircuitFacts& circuit,
                                         const KernelMatrixShape& shape, const KernelOperatorOptions& options,
                                         bool shared = false);

/// Puts the numbers or the states of the samples on `stream`; `circuit` is null if states are given, and `y`
/// may be null. Errors: out_of_memory - before anything is allocated if it does not fit; driver.
OperatorObject::Samples make_samples(StreamHandle stream, const kernels::OperatorPlan& plan,
                                     const KernelMatrixCircuit* circuit, const ConstDeviceArray& x,
                                     const ConstDeviceArray* y);
/// Plans on the current device and makes the samples, which are done when the function returns.
OperatorObject::Samples samples_here(const kernels::HostSamples& samples, bool shared = false);

}  // namespace weft::cuda
