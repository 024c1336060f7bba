// SPDX-License-Identifier: Apache-2.0
// States in CUDA device memory, given or built from a circuit, and the kernel matrix of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/cuda/kernel_matrix.hpp>

#include "cuda/scratch.hpp"
#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops_cuda/kernel_matrix/gram.hpp"

namespace weft::cuda {

/// Planes of cosines and sines: the angles of X, and of Y from plan.others_at on. `y` may be null.
Scratch angle_planes(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const ConstDeviceArray& x,
                     const ConstDeviceArray* y, double scale);

/// Row-major states of X and Y. A caller asks for some rows at a time.
class StateSource {
  public:
    virtual ~StateSource() = default;
    /// These rows. They are valid in the stream until the next call.
    virtual const std::byte* rows(const kernels::StateRows& rows) = 0;
};

class GivenStates : public StateSource {
  public:
    GivenStates(const kernels::KernelMatrixPlan& plan, const ConstDeviceArray& x, const ConstDeviceArray* y)
        : plan_(plan), x_(x), y_(y) {}
    const std::byte* rows(const kernels::StateRows& rows) override;

  private:
    const kernels::KernelMatrixPlan& plan_;
    const ConstDeviceArray& x_;
    const ConstDeviceArray* y_;
};

class CircuitStates : public StateSource {
  public:
    /// `planes`: as angle_planes makes them.
    CircuitStates(StreamHandle stream, const kernels::KernelMatrixPlan& plan,
                  const KernelMatrixCircuit& circuit, Scratch planes);
    const std::byte* rows(const kernels::StateRows& rows) override;

  private:
    StreamHandle stream_;
    const kernels::KernelMatrixPlan& plan_;
    bool rz_;
    Scratch planes_, weights_, states_, other_;
};

/// Puts all of K on the stream.
void launch_blocks(StreamHandle stream, const kernels::KernelMatrixPlan& plan, StateSource& source,
                   const DeviceArray& k, const KernelMatrixOptions& options);

}  // namespace weft::cuda
