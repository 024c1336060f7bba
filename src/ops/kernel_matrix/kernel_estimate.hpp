// SPDX-License-Identifier: Apache-2.0
// What memory a plan takes, and how it is explained to users. Pure functions.
#pragma once

#include <cstdint>

#include "ops/kernel_matrix/kernel_plan.hpp"

namespace weft::kernels {

/// Memory, work and reasons of a plan.
KernelMatrixEstimate estimate_kernel(const KernelMatrixPlan& plan, const KernelMatrixDevice& device,
                                     const CircuitFacts& circuit, const KernelMatrixOptions& options);

/// Whether a plan can be carried out: resident, or `streamed` from and to host memory.
bool fits(const KernelMatrixPlan& plan, const KernelMatrixDevice& device, bool streamed,
          const KernelMatrixOptions& options) noexcept;
/// vram_fraction of the budget.
std::uint64_t available_bytes(const KernelMatrixDevice& device, const KernelMatrixOptions& options) noexcept;
/// Whether a call takes so little memory that its plan is the same on every device that can run it.
bool few_rows(const KernelMatrixShape& shape, const CircuitFacts& circuit) noexcept;
/// Bounds of the memory that a plan takes in addition to what the caller holds: device memory, and
/// page-locked memory if it counts. `streamed` includes features and blocks of K.
std::uint64_t product_memory(const KernelMatrixPlan& plan, const KernelMatrixDevice& device,
                             bool streamed) noexcept;
std::uint64_t states_memory(const KernelMatrixPlan& plan, const KernelMatrixDevice& device,
                            bool streamed) noexcept;

}  // namespace weft::kernels
