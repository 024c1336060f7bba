// SPDX-License-Identifier: Apache-2.0
// Packed states, wherever they come from: a circuit, the device's memory or the host's.
#pragma once

#include <memory>
#include <optional>

#include <weft/ops/kernel_matrix.hpp>

#include "ops_vulkan/gram/gram.hpp"
#include "ops_vulkan/kernel_matrix/kernel_angles.hpp"
#include "ops_vulkan/kernel_matrix/kernel_normalize.hpp"
#include "ops/kernel_matrix/kernel_state_plan.hpp"

namespace weft::kernels {

/// Where packed states go: to row `first` of `planes` and those behind.
struct PackTarget {
    GramProduct& product;
    GramRange planes;
    std::uint64_t first = 0;
};

/// States of X and Y, asked for some rows at a time, at most StatePlan::chunk_rows.
class StateSource {
  public:
    virtual ~StateSource() = default;
    /// Packs these rows; `normalizer`, if there is one, takes their norms.
    virtual void pack(Stream& stream, const StateRows& rows, const PackTarget& target,
                      Normalizer* normalizer) = 0;
};

/// States that lie row by row in the device's memory before a pass packs them.
class RowMajorStates : public StateSource {
  public:
    void pack(Stream& stream, const StateRows& rows, const PackTarget& target,
              Normalizer* normalizer) override;

  private:
    /// Valid in the stream until the next call.
    virtual Words states(Stream& stream, const StateRows& rows) = 0;
};

/// States of a circuit, built from the half angles of all rows. With StatePlan::fused the last pass packs.
class CircuitStates : public RowMajorStates {
  public:
    /// `planes`: of half angles, Y's behind X's.
    CircuitStates(Stream& stream, const KernelMatrixPlan& plan, const KernelMatrixCircuit& circuit, AnglePlanes planes);
    void pack(Stream& stream, const StateRows& rows, const PackTarget& target,
              Normalizer* normalizer) override;

  private:
    struct Step {
        const StatePass& pass;
        std::uint32_t gates;  ///< weights of the layer's gates, or kKernelNoLayer
        bool generate;        ///< from the product state in front of the first layer
    };
    Words states(Stream& stream, const StateRows& rows) override { return build(stream, rows, nullptr); }
    /// All layers, the last pass of the last one into `packed` where that is given. Where states lie else.
    Words build(Stream& stream, const StateRows& rows, const Words* packed);
    void run(Stream& stream, const StateRows& rows, const Step& step, const Words& from, const Words& to,
             bool packs);
    /// What is bound for these rows. Where states are packed immediately and none are kept: words that no shader
    /// reads.
    Words held(const std::optional<Buffer<std::uint32_t>>& states, std::uint64_t rows) const;

    const KernelMatrixPlan& plan_;
    AnglePlanes planes_;
    bool rz_;
    Buffer<std::uint32_t> weights_;
    std::optional<Buffer<std::uint32_t>> states_, other_, squares_;
};

/// States that lie in the device's memory.
class ResidentStates : public RowMajorStates {
  public:
    ResidentStates(const KernelMatrixPlan& plan, const ConstDeviceArray& x, const ConstDeviceArray* y)
        : plan_(plan), x_(x), y_(y) {}

  private:
    Words states(Stream& stream, const StateRows& rows) override;
    const KernelMatrixPlan& plan_;
    const ConstDeviceArray& x_;
    const ConstDeviceArray* y_;
};

/// States in host memory.
class HostStates : public RowMajorStates {
  public:
    HostStates(Stream& stream, const KernelMatrixPlan& plan, const ConstHostArray& x,
               const ConstHostArray* y);

  private:
    Words states(Stream& stream, const StateRows& rows) override;
    const KernelMatrixPlan& plan_;
    const ConstHostArray& x_;
    const ConstHostArray* y_;
    Buffer<std::uint32_t> states_;
};

}  // namespace weft::kernels
