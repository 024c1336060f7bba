// SPDX-License-Identifier: Apache-2.0
// Rows of states on the device, wherever they come from: a circuit, the device's memory or the host's.
#pragma once

#include <memory>
#include <optional>

#include <weft/kernel_matrix.hpp>

#include "kernels/gram.hpp"
#include "kernels/kernel_angles.hpp"
#include "kernels/kernel_plan.hpp"
#include "kernels/kernel_steps.hpp"

namespace weft::kernels {

/// Row-major states of X and Y, asked for some rows at a time, at most StatePlan::chunk_rows.
class StateSource {
  public:
    virtual ~StateSource() = default;
    /// Rows [row, row + count), valid in the stream until the next call.
    virtual Words rows(Stream& stream, bool of_y, std::uint64_t row, std::uint64_t count) = 0;
};

/// States of a circuit, built from the half angles of all rows.
class CircuitStates : public StateSource {
  public:
    /// `planes`: of half angles, Y's behind X's.
    CircuitStates(Stream& stream, const KernelPlan& plan, const KernelCircuit& circuit, AnglePlanes planes);
    Words rows(Stream& stream, bool of_y, std::uint64_t row, std::uint64_t count) override;

  private:
    struct Layer {
        std::uint32_t gates;  ///< weights of its gates, or kKernelNoLayer
        bool generate;
    };
    void build_layer(Stream& stream, const Layer& layer, std::uint64_t column, std::uint64_t count,
                     const Words& from, const Words& to);

    const KernelPlan& plan_;
    AnglePlanes planes_;
    bool rz_;
    Buffer<std::uint32_t> weights_, states_;
    std::optional<Buffer<std::uint32_t>> other_;
};

/// States that lie in the device's memory.
class ResidentStates : public StateSource {
  public:
    ResidentStates(const KernelPlan& plan, const KernelStates& x, const KernelStates* y)
        : plan_(plan), x_(x), y_(y) {}
    Words rows(Stream& stream, bool of_y, std::uint64_t row, std::uint64_t count) override;

  private:
    const KernelPlan& plan_;
    const KernelStates& x_;
    const KernelStates* y_;
};

/// States in host memory.
class HostStates : public StateSource {
  public:
    HostStates(Stream& stream, const KernelPlan& plan, const KernelStateSource& x,
               const KernelStateSource* y);
    Words rows(Stream& stream, bool of_y, std::uint64_t row, std::uint64_t count) override;

  private:
    const KernelPlan& plan_;
    const KernelStateSource& x_;
    const KernelStateSource* y_;
    Buffer<std::uint32_t> states_;
};

}  // namespace weft::kernels
