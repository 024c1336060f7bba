// SPDX-License-Identifier: Apache-2.0
// Rows of states in CUDA device memory, given or built from a circuit, and what K takes of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/cuda/kernel_matrix.hpp>

#include "ops_cuda/kernel_matrix/gram.hpp"
#include "cuda/scratch.hpp"
#include "ops/kernel_matrix/kernel_plan.hpp"

namespace weft::cuda {

/// Cosines and sines of scale times feature, or of half of it: planes, Y's columns behind X's.
Scratch make_planes(StreamHandle stream, const kernels::KernelMatrixPlan& plan);
void launch_angles(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const ConstDeviceArray& x,
                   std::uint64_t rows, double scale, bool halved, void* planes, std::uint64_t base);

/// Row-major states of X and Y, asked for some rows at a time.
class StateSource {
  public:
    virtual ~StateSource() = default;
    /// Rows [row, row + count), valid in the stream until the next call.
    virtual const std::byte* rows(bool of_y, std::uint64_t row, std::uint64_t count) = 0;
};

class GivenStates : public StateSource {
  public:
    GivenStates(const kernels::KernelMatrixPlan& plan, const ConstDeviceArray& x, const ConstDeviceArray* y)
        : plan_(plan), x_(x), y_(y) {}
    const std::byte* rows(bool of_y, std::uint64_t row, std::uint64_t count) override;

  private:
    const kernels::KernelMatrixPlan& plan_;
    const ConstDeviceArray& x_;
    const ConstDeviceArray* y_;
};

class CircuitStates : public StateSource {
  public:
    /// `planes`: of half angles.
    CircuitStates(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const KernelMatrixCircuit& circuit,
                  const void* planes);
    const std::byte* rows(bool of_y, std::uint64_t row, std::uint64_t count) override;

  private:
    void build_layer(std::uint32_t gates, bool generate, std::uint64_t column, std::uint64_t count,
                     const std::byte* from, std::byte* to) const;

    StreamHandle stream_;
    const kernels::KernelMatrixPlan& plan_;
    const void* planes_;
    bool rz_;
    Scratch weights_, states_, other_;
};

/// All of K from packed tiles of states.
void launch_blocks(StreamHandle stream, const kernels::KernelMatrixPlan& plan, StateSource& source,
                   const DeviceArray& k, const KernelMatrixOptions& options);

}  // namespace weft::cuda
