// SPDX-License-Identifier: Apache-2.0
// States in CUDA device memory: given there or in host memory, or built from a circuit.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/cuda/kernel_matrix.hpp>

#include "cuda/scratch.hpp"
#include "ops/kernel_matrix/kernel_plan.hpp"

namespace weft::cuda {

/// Planes of cosines and sines: the angles of X, and of Y from plan.others_at on. `y` may be null.
Scratch angle_planes(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const ConstDeviceArray& x,
                     const ConstDeviceArray* y, double scale);
/// The same into memory of plan.planes_values().
void fill_angle_planes(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const ConstDeviceArray& x,
                       const ConstDeviceArray* y, double scale, void* planes);
/// The same of features in host memory.
Scratch angle_planes(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const ConstHostArray& x,
                     const ConstHostArray* y, double scale);

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

/// States in host memory, uploaded as they are asked for.
class HostStates : public StateSource {
  public:
    HostStates(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const ConstHostArray& x,
               const ConstHostArray* y);
    const std::byte* rows(const kernels::StateRows& rows) override;

  private:
    StreamHandle stream_;
    const kernels::KernelMatrixPlan& plan_;
    const ConstHostArray& x_;
    const ConstHostArray* y_;
    Scratch memory_;
};

class CircuitStates : public StateSource {
  public:
    /// `planes`: as angle_planes makes them.
    CircuitStates(StreamHandle stream, const kernels::KernelMatrixPlan& plan,
                  const KernelMatrixCircuit& circuit, Scratch planes);
    /// The planes must outlive it.
    CircuitStates(StreamHandle stream, const kernels::KernelMatrixPlan& plan,
                  const KernelMatrixCircuit& circuit, const void* planes);
    const std::byte* rows(const kernels::StateRows& rows) override;

  private:
    StreamHandle stream_;
    const kernels::KernelMatrixPlan& plan_;
    bool rz_;
    Scratch own_planes_;
    const void* planes_;
    Scratch weights_, states_, other_;
};

}  // namespace weft::cuda
