// SPDX-License-Identifier: Apache-2.0
// The part of a plan for kernel matrices that are made from states: passes, tiles, blocks. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/kernel_matrix/kernel_plan.hpp"

namespace weft::kernels {

/// Fills in KernelMatrixPlan::states, or the obstacle.
void plan_states(KernelMatrixPlan& plan, const KernelMatrixDevice& device, const CircuitFacts& circuit,
                 const KernelMatrixOptions& options);

/// Floating-point operations of all inner products.
double gram_flops(const KernelMatrixPlan& plan) noexcept;
/// Whether tiles are measured before the job: none was yet, and the job is long enough to pay for it.
bool tunes_first(const KernelMatrixPlan& plan, const GramDevice& device,
                 const KernelMatrixOptions& options) noexcept;

/// Passes over states of `qubits` with blocks of at most 2^most_window amplitudes.
std::vector<StatePass> state_passes(std::uint32_t qubits, std::uint32_t most_window);
/// Invocations of a workgroup of a pass.
std::uint32_t lanes_of(const StatePlan& states, const StatePass& pass) noexcept;
/// Bytes of row-major states that are on the device at a time.
std::uint64_t built_bytes(const KernelMatrixPlan& plan) noexcept;
/// Shared memory of kernel_states.comp.
std::uint64_t shared_bytes_of_states(std::uint32_t lanes, std::uint64_t real_bytes) noexcept;

/// Whether a K in host memory is one block.
bool one_block(const KernelMatrixPlan& plan) noexcept;
/// Bytes of a block of K on its way to host memory, with the one across the diagonal where there is any.
std::uint64_t block_bytes(const KernelMatrixPlan& plan) noexcept;

}  // namespace weft::kernels
