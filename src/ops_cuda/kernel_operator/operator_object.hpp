// SPDX-License-Identifier: Apache-2.0
// What a kernel operator holds on a CUDA device: its plan and the numbers of its samples.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/cuda/kernel_operator.hpp>

#include "ops/kernel_operator/operator_plan.hpp"

namespace weft::cuda {

/// Memory that lives as long as an operator, which may outlive the stream that filled it.
class DeviceMemory {
  public:
    DeviceMemory() = default;
    /// Errors: out_of_memory, driver.
    explicit DeviceMemory(std::uint64_t bytes);
    DeviceMemory(DeviceMemory&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
    DeviceMemory& operator=(DeviceMemory&& other) noexcept;
    ~DeviceMemory();

    std::byte* data() const noexcept { return data_; }

  private:
    std::byte* data_ = nullptr;
};

class OperatorObject {
  public:
    /// Puts the numbers of the samples on `stream`; `y` may be null. Errors: out_of_memory, driver.
    OperatorObject(StreamHandle stream, const kernels::OperatorPlan& plan, double scale,
                   const ConstDeviceArray& x, const ConstDeviceArray* y);

    /// Errors: invalid_argument - another device than the operator's is the current one.
    void require_here(const char* function) const;
    const kernels::OperatorPlan& plan() const noexcept { return plan_; }
    /// The numbers from a sample on, of those that are the rows of K or, with `transpose`, its columns.
    const std::byte* rows(bool transpose, std::uint64_t first) const;
    const std::byte* columns(bool transpose, std::uint64_t first) const;

  private:
    kernels::OperatorPlan plan_;
    int device_ = 0;
    DeviceMemory x_, y_;
};

/// The plan on the current device; what does not fit is no error. Errors: no_device, driver.
kernels::OperatorPlan operator_plan_here(const char* function, const KernelMatrixCircuit& circuit,
                                         const KernelMatrixShape& shape,
                                         const KernelOperatorOptions& options);

}  // namespace weft::cuda
